// HDF5 behind one process-wide lock (libhdf5 is not thread-safe). Files are written under a temporary name,
// flushed and renamed on Commit, so a kill at any moment leaves the old file or the new one.
//
//   h5::Writer out("s.h5", "scenario", /*version=*/1);
//   out.Text("provenance", text);                       // attribute of the root
//   out.Array<double>("jobs/arrival", arrival);         // groups are made as needed
//   out.Commit();
//   h5::Reader in("s.h5", "scenario", /*newest version known=*/1);
//   std::vector<double> arrival = in.Array<double>("jobs/arrival", /*expected length=*/n);
//
// Every file says its kind, format version, source commit and a content hash. All failures throw Error naming
// the file and the dataset or attribute, what was expected and what was found.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "env/base/whole_file.hpp"

namespace berth::h5 {

// What Writer records as the attribute source_commit; "unknown" until it is said. Any thread.
void SetSourceCommit(const std::string& commit);

class Writer {
 public:
  Writer(const std::string& path, const std::string& kind, int version);
  ~Writer();  // without Commit the temporary file is removed and `path` is untouched
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Arrays of 4 KiB and more that follow are stored compressed (shuffle, then deflate): for files that ship
  // or travel. Readers need nothing for it, and the content hash is that of the values.
  void Compress() { compress_ = true; }

  void Text(const std::string& name, const std::string& value);  // root attributes
  void Number(const std::string& name, double value);
  void Integer(const std::string& name, std::int64_t value);
  // T: float, double, int32_t, int64_t, uint8_t, uint64_t. `shape` empty = one dimension.
  template <class T>
  void Array(const std::string& dataset, std::span<const T> values, std::span<const std::int64_t> shape = {});
  template <class T>
  void Array(const std::string& dataset, const std::vector<T>& values, std::vector<std::int64_t> shape = {}) {
    Array<T>(dataset, std::span<const T>(values), std::span<const std::int64_t>(shape));
  }
  void Strings(const std::string& dataset, std::span<const std::string> values);
  void Commit();  // write, flush to the disk, rename

 private:
  std::string path_;
  WholeFile out_;
  std::int64_t file_ = -1;  // hid_t
  std::uint64_t hash_ = 0;
  bool compress_ = false;
};

class Reader {
 public:
  // Refuses files that are missing, not HDF5, truncated, of another kind, newer than `newest_version`, or
  // whose content hash differs, unless another program may have edited them.
  Reader(const std::string& path, const std::string& kind, int newest_version, bool edited = false);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  int version() const { return version_; }
  const std::string& path() const { return path_; }
  bool Has(const std::string& dataset) const;
  bool HasAttribute(const std::string& name) const;
  std::string Text(const std::string& name) const;
  double Number(const std::string& name) const;
  std::int64_t Integer(const std::string& name) const;
  // `expected_size` < 0 = any. The shape is given back where asked.
  template <class T>
  std::vector<T> Array(const std::string& dataset, std::int64_t expected_size = -1,
                       std::vector<std::int64_t>* shape = nullptr) const;
  std::vector<std::string> Strings(const std::string& dataset) const;
  const std::vector<std::string>& Datasets() const { return datasets_; }  // all paths, sorted
  std::vector<std::string> Attributes() const;                            // of the root

 private:
  std::string path_;
  std::int64_t file_ = -1;
  int version_ = 0;
  std::vector<std::string> datasets_;
};

// The kind attribute of any Berth file. Error where it is not one.
std::string KindOf(const std::string& path);
// The same, and nothing where it is not one or cannot be read.
std::optional<std::string> IfKindOf(const std::string& path);

}  // namespace berth::h5

namespace berth {

// Rows as columns: HDF5 holds a dataset for each member of a struct.
//
//   out.Array("cluster/count", ColumnOf(cluster.types, &GpuType::count));
// Of every row a data member, or what a function makes of the row.
template <class Row, class Member>
auto ColumnOf(const std::vector<Row>& rows, const Member& member) {
  std::vector<std::remove_cvref_t<std::invoke_result_t<const Member&, const Row&>>> column;
  column.reserve(rows.size());
  for (const Row& row : rows) column.push_back(std::invoke(member, row));
  return column;
}

}  // namespace berth

// What of an HDF5 file is read, once it is known that it is of a form that Berth's own files have: the file
// may be a stranger's, and libhdf5 writes as many values as a file says to where one was expected, opens
// other files that it names, and believes sizes. Every H5Aread, H5Dopen2 and walk over a file is here. For
// files that include <hdf5.h>; whoever calls holds the lock of libhdf5 (hdf5_file.cpp) or is alone with it.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace berth::h5 {

// Closes an HDF5 identifier with the function of its sort.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  hid_t get() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// "float64", "uint8", "int32, big-endian", "text", as NumPy says it.
std::string TypeName(hid_t type);

// The one number of an open attribute, as a type of memory of 64 bits: a whole number where that is one, any
// where that is a float. `where` begins the Error for arrays and other types: "s.h5: attribute 'seed'".
void ReadNumber(hid_t attribute, const std::string& where, hid_t memory, void* eight_bytes);
// The one text of an open attribute, of fixed or variable length, up to its first zero. Error as above.
std::string ReadText(hid_t attribute, const std::string& where);

// All datasets' paths, sorted. Error for links that are not hard, which name other places or files; for one
// object under two names, and groups in groups in groups beyond reason, which need not end.
std::vector<std::string> DatasetsOf(hid_t file, const std::string& path);

// Opens a dataset of numbers whose bytes lie in this file, all of them: stored compact, contiguous or in
// chunks, by no filter but shuffle and deflate. Error where it is another, or says that it has more than the
// file can hold.
Handle OpenDataset(hid_t file, const std::string& path, const std::string& name);
// Of one that OpenDataset gave: what its values take.
std::size_t BytesOf(hid_t dataset);

}  // namespace berth::h5

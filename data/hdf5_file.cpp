#include "data/hdf5_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <mutex>
#include <type_traits>

#include "data/hdf5_checked.hpp"
#include "env/base/check.hpp"
#include "env/base/readable.hpp"

namespace berth::h5 {

// libhdf5 is not thread-safe: every call into it holds this lock. Inline, so that it is one in a process,
// also where libraries that are opened at run time have this file in them (GCC: a unique symbol).
inline std::recursive_mutex process_lock;

namespace {

constexpr const char* kKind = "berth_kind";
constexpr const char* kVersion = "berth_version";
constexpr const char* kHash = "content_hash";
constexpr const char* kCommit = "source_commit";
constexpr const char* kRelease = "source_version";
// Of Compress(): arrays from here on, libhdf5's limit of a chunk, zlib's level.
constexpr std::size_t kCompressed = 4096, kLargestChunk = std::size_t{1} << 32;
constexpr unsigned kDeflate = 6;

std::string& Commit() {
  static std::string commit = "unknown";
  return commit;
}

// Its own error printing is off, and it loads no plug-ins, which a file could name.
std::recursive_mutex& Lock() {
  static const bool quiet = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0 && H5PLset_loading_state(0) >= 0;
  (void)quiet;
  return process_lock;
}
using Guard = std::lock_guard<std::recursive_mutex>;

template <class T>
hid_t TypeOf() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
}

// No shape: one dimension.
std::vector<hsize_t> Extent(std::span<const std::int64_t> shape, std::size_t size) {
  if (shape.empty()) return std::vector<hsize_t>(1, size);
  std::vector<hsize_t> extent(shape.size());
  std::copy(shape.begin(), shape.end(), extent.begin());
  return extent;
}

// FNV-1a, per item: name and bytes. Items are added up, so the order of writing does not matter.
std::uint64_t HashItem(const std::string& name, const void* data, std::size_t bytes) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  const auto add = [&](const unsigned char* p, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) h = (h ^ p[i]) * 0x100000001b3ULL;
  };
  add(reinterpret_cast<const unsigned char*>(name.data()), name.size() + 1);
  add(static_cast<const unsigned char*>(data), bytes);
  return h;
}

void WriteAttribute(hid_t file, const std::string& path, const std::string& name, hid_t type,
                    const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (!attribute.ok() || H5Awrite(attribute.get(), type, value) < 0) {
    throw Error(Join(path, ": cannot write attribute '", name, "' (no space?)"));
  }
}

void WriteText(hid_t file, const std::string& path, const std::string& name, const std::string& value) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), value.size() + 1);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  WriteAttribute(file, path, name, type.get(), value.c_str());
}

Handle OpenAttribute(hid_t file, const std::string& path, const std::string& name) {
  Handle attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute.ok()) throw Error(Join(path, ": expected attribute '", name, "', found none"));
  return attribute;
}

std::string Where(const std::string& path, const std::string& name) {
  return Join(path, ": attribute '", name, "'");
}

template <class T>
T NumberIn(hid_t file, const std::string& path, const std::string& name) {
  T value{};
  ReadNumber(OpenAttribute(file, path, name).get(), Where(path, name), TypeOf<T>(), &value);
  return value;
}

std::string TextIn(hid_t file, const std::string& path, const std::string& name) {
  return ReadText(OpenAttribute(file, path, name).get(), Where(path, name));
}

// Opens the folder's file for reading, or says why not.
hid_t Open(const std::string& path) {
  CheckReadable(path);
  if (H5Fis_hdf5(path.c_str()) <= 0)
    throw Error(Join(path, ": expected an HDF5 file of Berth, found something else"));
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) throw Error(Join(path, ": the HDF5 file is truncated or damaged"));
  return file;
}

std::string KindOfOpen(hid_t file, const std::string& path) {
  if (H5Aexists(file, kKind) <= 0)
    throw Error(Join(path, ": an HDF5 file, but not one of Berth's (no '", kKind, "')"));
  return TextIn(file, path, kKind);
}

}  // namespace

void SetSourceCommit(const std::string& commit) {
  const Guard guard(Lock());
  Commit() = commit;
}

// libhdf5 builds the file in memory and Commit writes it: libhdf5 1.10 crashes at exit when a write of its
// own fails.
Writer::Writer(const std::string& path, const std::string& kind, int version) : path_(path), out_(path) {
  const Guard guard(Lock());
  const Handle in_memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(in_memory.get(), std::size_t{1} << 20, /*backing_store=*/0);
  file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.get());
  BERTH_CHECK(file_ >= 0, "libhdf5 cannot make a file in memory");
  WriteText(file_, path_, kKind, kind);
  Integer(kVersion, version);
  Text(kCommit, berth::h5::Commit());
  Text(kRelease, BERTH_VERSION);
}

Writer::~Writer() {
  const Guard guard(Lock());
  if (file_ >= 0) H5Fclose(file_);
}

void Writer::Text(const std::string& name, const std::string& value) {
  const Guard guard(Lock());
  WriteText(file_, path_, name, value);
  hash_ += HashItem(name, value.data(), value.size());
}

void Writer::Number(const std::string& name, double value) {
  const Guard guard(Lock());
  WriteAttribute(file_, path_, name, H5T_NATIVE_DOUBLE, &value);
  hash_ += HashItem(name, &value, sizeof(value));
}

void Writer::Integer(const std::string& name, std::int64_t value) {
  const Guard guard(Lock());
  WriteAttribute(file_, path_, name, H5T_NATIVE_INT64, &value);
  hash_ += HashItem(name, &value, sizeof(value));
}

template <class T>
void Writer::Array(const std::string& dataset, std::span<const T> values,
                   std::span<const std::int64_t> shape) {
  const Guard guard(Lock());
  const std::vector<hsize_t> extent = Extent(shape, values.size());
  std::size_t size = 1;
  for (hsize_t n : extent) size *= static_cast<std::size_t>(n);
  BERTH_CHECK(size == values.size(), dataset, ": ", values.size(), " values, shape of ", size);
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
  const Handle link(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(link.get(), 1);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(layout.get(), false);  // the same content is the same bytes, whenever it is written
  if (compress_ && values.size_bytes() >= kCompressed && values.size_bytes() < kLargestChunk) {
    H5Pset_chunk(layout.get(), static_cast<int>(extent.size()), extent.data());
    H5Pset_shuffle(layout.get());
    H5Pset_deflate(layout.get(), kDeflate);
  }
  const Handle set(
      H5Dcreate2(file_, dataset.c_str(), TypeOf<T>(), space.get(), link.get(), layout.get(), H5P_DEFAULT),
      H5Dclose);
  if (!set.ok() || (!values.empty() &&
                    H5Dwrite(set.get(), TypeOf<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)) {
    throw Error(Join(path_, ": cannot write dataset '", dataset, "' (no space?)"));
  }
  hash_ += HashItem(dataset, values.data(), values.size_bytes());
}

// A list of texts is one dataset of bytes, each text ended by a zero.
void Writer::Strings(const std::string& dataset, std::span<const std::string> values) {
  std::vector<std::uint8_t> bytes;
  for (const std::string& value : values) {
    bytes.insert(bytes.end(), value.begin(), value.end());
    bytes.push_back(0);
  }
  Array<std::uint8_t>(dataset, bytes);
}

void Writer::Commit() {
  const Guard guard(Lock());
  WriteAttribute(file_, path_, kHash, H5T_NATIVE_UINT64, &hash_);
  BERTH_CHECK(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0, path_);
  const auto size = H5Fget_file_image(file_, nullptr, 0);
  BERTH_CHECK(size > 0, path_);
  std::vector<char> image(static_cast<std::size_t>(size));
  BERTH_CHECK(H5Fget_file_image(file_, image.data(), image.size()) == size, path_);
  H5Fclose(file_);
  file_ = -1;
  out_.Commit({image.data(), image.size()});
}

Reader::Reader(const std::string& path, const std::string& kind, int newest_version, bool edited)
    : path_(path) {
  const Guard guard(Lock());
  file_ = Open(path);
  const Handle file(file_, H5Fclose);  // closes when the checks below throw
  const std::string found = KindOfOpen(file_, path_);
  if (found != kind) throw Error(Join(path_, ": expected a file of kind '", kind, "', found '", found, "'"));
  version_ = static_cast<int>(Integer(kVersion));
  const auto versions = [&] {
    const std::string wrote =
        H5Aexists(file_, kCommit) > 0 ? TextIn(file_, path_, kCommit) : std::string("unknown");
    const std::string known = newest_version == std::numeric_limits<int>::max()
                                  ? "shows any version"
                                  : Join("reads versions 1 to ", newest_version);
    return Join("format version ", version_, " of '", kind, "', written by Berth ", wrote, "; this Berth, ",
                berth::h5::Commit(), ", ", known);
  };
  if (version_ < 1 || version_ > newest_version) {
    throw Error(Join(path_, ": expected a version that this Berth knows, found ", versions()));
  }
  std::uint64_t stored = 0, hash = 0;
  if (!edited || H5Aexists(file_, kHash) > 0)  // whoever wrote it anew may have left it out
    stored = NumberIn<std::uint64_t>(file_, path_, kHash);
  for (const std::string& name : Attributes()) {
    if (name == kKind || name == kHash) continue;
    const Handle attribute = OpenAttribute(file_, path_, name);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose);
    if (H5Tget_class(type.get()) == H5T_STRING) {
      const std::string value = ReadText(attribute.get(), Where(path_, name));
      hash += HashItem(name, value.data(), value.size());
    } else {
      std::uint64_t value = 0;  // eight bytes, whole number or not
      ReadNumber(attribute.get(), Where(path_, name), type.get(), &value);
      hash += HashItem(name, &value, sizeof(value));
    }
  }
  datasets_ = DatasetsOf(file_, path_);
  for (const std::string& name : datasets_) {
    const Handle set = OpenDataset(file_, path_, name);
    const Handle type(H5Dget_type(set.get()), H5Tclose);
    std::vector<char> raw(BytesOf(set.get()));
    if (!raw.empty() && H5Dread(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data()) < 0) {
      throw Error(Join(path_, ": dataset '", name, "' is truncated or damaged"));
    }
    hash += HashItem(name, raw.data(), raw.size());
  }
  if (hash != stored && !edited) {
    throw Error(
        Join(path_, ": the content does not match its hash: the file was changed or damaged (", versions(),
             ")", kind == "scenario" ? "; berth inspect --rehash accepts it once all of it is checked" : ""));
  }
  H5Iinc_ref(file_);  // the checks passed: keep it open
}

Reader::~Reader() {
  const Guard guard(Lock());
  H5Fclose(file_);
}

bool Reader::Has(const std::string& dataset) const {
  return std::binary_search(datasets_.begin(), datasets_.end(), dataset);
}

bool Reader::HasAttribute(const std::string& name) const {
  const Guard guard(Lock());
  return H5Aexists(file_, name.c_str()) > 0;
}

std::string Reader::Text(const std::string& name) const {
  const Guard guard(Lock());
  return TextIn(file_, path_, name);
}

double Reader::Number(const std::string& name) const {
  const Guard guard(Lock());
  return NumberIn<double>(file_, path_, name);
}

std::int64_t Reader::Integer(const std::string& name) const {
  const Guard guard(Lock());
  return NumberIn<std::int64_t>(file_, path_, name);
}

template <class T>
std::vector<T> Reader::Array(const std::string& dataset, std::int64_t expected_size,
                             std::vector<std::int64_t>* shape) const {
  const Guard guard(Lock());
  const Handle set = OpenDataset(file_, path_, dataset);
  const Handle type(H5Dget_type(set.get()), H5Tclose);
  if (H5Tequal(type.get(), TypeOf<T>()) <= 0)
    throw Error(Join(path_, ": dataset '", dataset, "': expected values of type ", TypeName(TypeOf<T>()),
                     ", found ", TypeName(type.get())));
  const Handle space(H5Dget_space(set.get()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> extent(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  const std::int64_t size = H5Sget_simple_extent_npoints(space.get());
  if (size < 0 || (expected_size >= 0 && size != expected_size)) {
    throw Error(Join(path_, ": dataset '", dataset, "': expected ", expected_size, " values, found ", size));
  }
  if (shape != nullptr) shape->assign(extent.begin(), extent.end());
  std::vector<T> values(static_cast<std::size_t>(size));
  if (size > 0 && H5Dread(set.get(), TypeOf<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    throw Error(Join(path_, ": dataset '", dataset, "' cannot be read"));
  }
  return values;
}

std::vector<std::string> Reader::Strings(const std::string& dataset) const {
  std::vector<std::string> values;
  std::string text;
  for (std::uint8_t byte : Array<std::uint8_t>(dataset)) {
    if (byte != 0) {
      text += static_cast<char>(byte);
    } else {
      values.push_back(text);
      text.clear();
    }
  }
  return values;
}

std::vector<std::string> Reader::Attributes() const {
  const Guard guard(Lock());
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  std::vector<std::string> names;
  hsize_t at = 0;
  H5Aiterate2(file_, H5_INDEX_NAME, H5_ITER_INC, &at, add, &names);
  return names;
}

std::string KindOf(const std::string& path) {
  const Guard guard(Lock());
  const Handle file(Open(path), H5Fclose);
  return KindOfOpen(file.get(), path);
}

std::optional<std::string> IfKindOf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;  // nobody waits for a pipe
  const Guard guard(Lock());
  const hid_t id = H5Fis_hdf5(path.c_str()) > 0 ? H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
  if (id < 0) return std::nullopt;
  const Handle file(id, H5Fclose);
  try {
    return KindOfOpen(file.get(), path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

#define BERTH_INSTANTIATE(T)                                                                             \
  template void Writer::Array<T>(const std::string&, std::span<const T>, std::span<const std::int64_t>); \
  template std::vector<T> Reader::Array<T>(const std::string&, std::int64_t, std::vector<std::int64_t>*) \
      const;
BERTH_INSTANTIATE(float)
BERTH_INSTANTIATE(double)
BERTH_INSTANTIATE(std::int32_t)
BERTH_INSTANTIATE(std::int64_t)
BERTH_INSTANTIATE(std::uint8_t)
BERTH_INSTANTIATE(std::uint64_t)
#undef BERTH_INSTANTIATE

}  // namespace berth::h5

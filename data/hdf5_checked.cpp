#include "data/hdf5_checked.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "env/base/check.hpp"

namespace berth::h5 {
namespace {

// What zlib gains at the very most.
constexpr hsize_t kMostDeflated = 1032;
// A chunk is in memory as a whole, however little of it is used; h5py's of datasets that may grow reach this.
constexpr hsize_t kLeastChunk = hsize_t{1} << 20;
// Berth's own files have groups in groups.
constexpr std::ptrdiff_t kMostLevels = 8;

void CheckOneValue(hid_t attribute, const std::string& where) {
  const Handle space(H5Aget_space(attribute), H5Sclose);
  const auto points = H5Sget_simple_extent_npoints(space.get());
  if (points != 1) throw Error(Join(where, ": expected one value, found ", std::max<hssize_t>(points, 0)));
}

[[noreturn]] void Damaged(const std::string& where) {
  throw Error(Join(where, " is truncated or damaged"));
}

// The product, or an Error.
hsize_t Times(hsize_t a, hsize_t b, const std::string& where) {
  hsize_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) Damaged(where);
  return product;
}

const char* SortOf(H5L_type_t link) {
  return link == H5L_TYPE_SOFT       ? "a soft link"
         : link == H5L_TYPE_EXTERNAL ? "a link to another file"
                                     : "a link";
}

[[noreturn]] void NoHardLink(const std::string& path, const std::string& name, H5L_type_t found) {
  throw Error(Join(path, ": '", name, "': expected what it names in this file, found ", SortOf(found)));
}

// Whether it is compressed.
bool CheckFilters(hid_t layout, const std::string& where) {
  std::set<H5Z_filter_t> found;
  const int count = H5Pget_nfilters(layout);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
    if ((filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE) || !found.insert(filter).second) {
      throw Error(Join(where,
                       ": expected filters shuffle and deflate (HDF5's 2 and 1), each once at most, found ",
                       filter, found.contains(filter) ? " twice" : ""));
    }
  }
  return found.contains(H5Z_FILTER_DEFLATE);
}

// Before any of its values is read, or memory is taken for them.
void CheckDataset(hid_t file, hid_t set, const std::string& where) {
  const Handle layout(H5Dget_create_plist(set), H5Pclose);
  const H5D_layout_t sort = H5Pget_layout(layout.get());
  if (H5Pget_external_count(layout.get()) != 0 ||
      (sort != H5D_COMPACT && sort != H5D_CONTIGUOUS && sort != H5D_CHUNKED)) {
    throw Error(Join(where, ": expected its values in this file, found that they are elsewhere"));
  }
  const bool compressed = CheckFilters(layout.get(), where);
  const Handle type(H5Dget_type(set), H5Tclose);
  const H5T_class_t what = H5Tget_class(type.get());
  if (what != H5T_INTEGER && what != H5T_FLOAT)
    throw Error(Join(where, ": expected numbers, found ", TypeName(type.get())));
  const Handle space(H5Dget_space(set), H5Sclose);
  const auto points = H5Sget_simple_extent_npoints(space.get());
  const hsize_t size = H5Tget_size(type.get()), stored = H5Dget_storage_size(set);
  if (points < 0) Damaged(where);
  const hsize_t bytes = Times(static_cast<hsize_t>(points), size, where);
  hsize_t whole = 0;
  if (H5Fget_filesize(file, &whole) < 0 || stored > whole ||
      bytes / (compressed ? kMostDeflated : 1) > stored)
    Damaged(where);
  if (sort == H5D_CHUNKED) {
    std::vector<hsize_t> sides(
        static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
    if (H5Pget_chunk(layout.get(), static_cast<int>(sides.size()), sides.data()) < 0) Damaged(where);
    hsize_t chunk = size;
    for (const hsize_t side : sides) chunk = Times(chunk, side, where);
    if (chunk > std::max(bytes, kLeastChunk))
      throw Error(Join(where, ": expected chunks no larger than it is, found ", chunk, " bytes in each"));
  }
}

using Link = std::pair<std::string, H5L_type_t>;

// No exception may cross the C library: one for want of memory ends the process, as it would anyway.
herr_t AddLink(hid_t, const char* name, const H5L_info_t* info, void* links) noexcept {
  static_cast<std::vector<Link>*>(links)->emplace_back(name, info->type);
  return 0;
}

}  // namespace

std::string TypeName(hid_t type) {
  const std::string bits =
      Join(8 * H5Tget_size(type), H5Tget_order(type) == H5T_ORDER_BE ? ", big-endian" : "");
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return Join("float", bits);
    case H5T_INTEGER:
      return Join(H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int", bits);
    case H5T_STRING:
      return "text";
    default:
      return "another kind";
  }
}

void ReadNumber(hid_t attribute, const std::string& where, hid_t memory, void* eight_bytes) {
  CheckOneValue(attribute, where);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  const H5T_class_t found = H5Tget_class(type.get()), wanted = H5Tget_class(memory);
  if (H5Tget_size(memory) != 8 || (found != H5T_INTEGER && (found != H5T_FLOAT || wanted != H5T_FLOAT))) {
    throw Error(Join(where, ": expected a ", wanted == H5T_FLOAT ? "" : "whole ", "number of 64 bits, found ",
                     TypeName(type.get())));
  }
  if (H5Aread(attribute, memory, eight_bytes) < 0) throw Error(Join(where, " cannot be read"));
}

std::string ReadText(hid_t attribute, const std::string& where) {
  CheckOneValue(attribute, where);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_STRING)
    throw Error(Join(where, ": expected a text, found ", TypeName(type.get())));
  if (H5Tis_variable_str(type.get()) > 0) {  // as h5py writes them
    char* text = nullptr;
    if (H5Aread(attribute, type.get(), &text) < 0 || text == nullptr)
      throw Error(Join(where, " cannot be read"));
    const std::string value(text);
    H5free_memory(text);
    return value;
  }
  std::string value(H5Tget_size(type.get()), '\0');
  if (H5Aread(attribute, type.get(), value.data()) < 0) throw Error(Join(where, " cannot be read"));
  value.resize(std::strlen(value.c_str()));
  return value;
}

std::vector<std::string> DatasetsOf(hid_t file, const std::string& path) {
  std::vector<std::string> datasets, groups = {""};
  std::set<haddr_t> seen;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string group = groups[i];  // "" or ending with '/'
    const Handle opened(H5Gopen2(file, Join("/", group).c_str(), H5P_DEFAULT), H5Gclose);
    std::vector<Link> links;
    H5O_info_t info{};
    if (!opened.ok() || H5Oget_info2(opened.get(), &info, H5O_INFO_BASIC) < 0 ||
        H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, AddLink, &links) < 0) {
      Damaged(Join(path, ": group '/", group, "'"));
    }
    if (i == 0) seen.insert(info.addr);
    for (const auto& [link, sort] : links) {
      const std::string name = group + link;
      if (sort != H5L_TYPE_HARD) NoHardLink(path, name, sort);
      if (H5Oget_info_by_name2(file, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        Damaged(Join(path, ": '", name, "'"));
      if (!seen.insert(info.addr).second)
        throw Error(
            Join(path, ": '", name, "': expected one name for each part, found another for the same"));
      if (info.type == H5O_TYPE_DATASET) datasets.push_back(name);
      if (info.type != H5O_TYPE_GROUP) continue;
      if (std::count(name.begin(), name.end(), '/') >= kMostLevels)
        throw Error(Join(path, ": expected at most ", kMostLevels, " groups within each other, found more"));
      groups.push_back(Join(name, "/"));
    }
  }
  std::sort(datasets.begin(), datasets.end());
  return datasets;
}

Handle OpenDataset(hid_t file, const std::string& path, const std::string& name) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = name.find('/', end + 1);
    const std::string part = name.substr(0, end);
    H5L_info_t info{};
    if (H5Lget_info(file, part.c_str(), &info, H5P_DEFAULT) < 0)
      throw Error(Join(path, ": expected dataset '", name, "', found none"));
    if (info.type != H5L_TYPE_HARD) NoHardLink(path, part, info.type);
  }
  Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.ok()) throw Error(Join(path, ": expected dataset '", name, "', found none"));
  CheckDataset(file, set.get(), Join(path, ": dataset '", name, "'"));
  return set;
}

std::size_t BytesOf(hid_t dataset) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  return static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())) * H5Tget_size(type.get());
}

}  // namespace berth::h5

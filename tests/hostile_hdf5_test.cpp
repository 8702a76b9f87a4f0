// HDF5 from strangers that libhdf5 itself takes as it is: attributes of many values where one is read, values that lie in other files,
// links that lead out of this one, and numbers that are no sizes. Each is refused in a line, before the hash of the content is looked at.
#include <hdf5.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/hdf5_checked.hpp"
#include "data/hdf5_file.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using h5::Handle;
using test::Berth;
using test::CheckOneLine;
using test::TemporaryFolder;

// KiB of address space: the program itself maps a third of it. Nothing here may wait: files may name pipes.
constexpr const char* kRoomAndTime = "ulimit -v 1048576 && timeout 60 ";

using Change = std::function<void(hid_t file)>;
struct ForeignPart {
  std::string what;
  Change change;
  std::string says;
};

Handle SpaceOf(const std::vector<hsize_t>& sides) {
  return Handle(sides.empty() ? H5Screate(H5S_NULL) : H5Screate_simple(static_cast<int>(sides.size()), sides.data(), nullptr), H5Sclose);
}

Handle TextType(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  REQUIRE(H5Tset_size(type.get(), size) >= 0);
  return type;
}

// In place of what there is.
void PutAttribute(hid_t file, const std::string& name, hid_t type, const Handle& space, const void* values) {
  if (H5Aexists(file, name.c_str()) > 0) REQUIRE(H5Adelete(file, name.c_str()) >= 0);
  const Handle attribute(H5Acreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  REQUIRE(attribute.ok());
  if (values != nullptr) REQUIRE(H5Awrite(attribute.get(), type, values) >= 0);
}

Change NumbersIn(const std::string& name, hid_t type, std::size_t count) {
  return [=](hid_t file) {
    const std::vector<std::uint64_t> values(count + 1, 0x4141414141414141);
    PutAttribute(file, name, type, SpaceOf(count == 0 ? std::vector<hsize_t>{} : std::vector<hsize_t>{count}), count == 0 ? nullptr : values.data());
  };
}

Change FixedTextsIn(const std::string& name, std::size_t count) {
  return [=](hid_t file) {
    const std::string values(8 * count, 'A');
    PutAttribute(file, name, TextType(8).get(), SpaceOf({count}), values.data());
  };
}

Change VariableTextsIn(const std::string& name, std::size_t count) {
  return [=](hid_t file) {
    const std::vector<const char*> values(count, "AAAAAAAA");
    PutAttribute(file, name, TextType(H5T_VARIABLE).get(), SpaceOf({count}), values.data());
  };
}

using Layout = std::function<void(hid_t properties)>;

void PutDataset(hid_t file, const std::string& name, hid_t type, const std::vector<hsize_t>& sides, const Layout& layout, bool write = true) {
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  layout(properties.get());
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0) REQUIRE(H5Ldelete(file, name.c_str(), H5P_DEFAULT) >= 0);
  const Handle space = SpaceOf(sides);
  const std::vector<hsize_t> most(sides.size(), H5S_UNLIMITED);  // or libhdf5 makes no chunk that is larger than the dataset
  if (H5Pget_layout(properties.get()) == H5D_CHUNKED)
    REQUIRE(H5Sset_extent_simple(space.get(), static_cast<int>(sides.size()), sides.data(), most.data()) >= 0);
  const Handle set(H5Dcreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Dclose);
  REQUIRE(set.ok());
  if (!write) return;
  hsize_t size = 1;
  for (const hsize_t side : sides) size *= side;
  const std::vector<double> values(size, 1.0);
  REQUIRE(H5Dwrite(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
}

// Twenty numbers, as the scenario has jobs, so that only the layout is wrong.
Change Arrivals(const Layout& layout) {
  return [=](hid_t file) { PutDataset(file, "jobs/arrival", H5T_NATIVE_DOUBLE, {20}, layout); };
}

Layout ValuesIn(const std::string& other, hsize_t bytes) {
  return [=](hid_t properties) { REQUIRE(H5Pset_external(properties, other.c_str(), 0, bytes) >= 0); };
}

class ForeignScenario {
 public:
  ForeignScenario() { REQUIRE(Berth(folder_, "generate --workload 'toy(jobs=20)' --cluster v100=2 --out s.h5").code == 0); }
  const TemporaryFolder& folder() const { return folder_; }

  void Make(const Change& change) const {
    fs::copy_file(folder_ / "s.h5", folder_ / "f.h5", fs::copy_options::overwrite_existing);
    const Handle file(H5Fopen((folder_ / "f.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    REQUIRE(file.ok());
    change(file.get());
  }

  // By both readers, of which the second trusts no hash.
  void CheckRefused(const std::vector<ForeignPart>& parts) const {
    for (const ForeignPart& part : parts) {
      CAPTURE(part.what);
      Make(part.change);
      CheckOneLine(Berth(folder_, "inspect f.h5", kRoomAndTime), part.says);
      CheckOneLine(Berth(folder_, "inspect f.h5 --rehash", kRoomAndTime), part.says);
    }
  }

 private:
  TemporaryFolder folder_;
};

constexpr const char* kInAddressSpace = "AddressSanitizer needs the address space that this test takes away";

}  // namespace

TEST_CASE("hostile files: an attribute of HDF5 with many values, none or another type is not read into the place of one") {
  if (test::kSanitized) return test::Skip(kInAddressSpace);
  const ForeignScenario scenario;
  std::vector<ForeignPart> parts;
  for (const std::string name : {"seed", "round_s", "name", "berth_version", "berth_kind", "content_hash", "one_more"}) {
    const std::string many = "f.h5: attribute '" + name + "': expected one value, found 2048";
    parts.push_back({name + ": whole numbers", NumbersIn(name, H5T_NATIVE_UINT64, 2048), many});
    parts.push_back({name + ": floats", NumbersIn(name, H5T_NATIVE_DOUBLE, 2048), many});
    parts.push_back({name + ": texts of one size", FixedTextsIn(name, 2048), many});
    parts.push_back({name + ": texts of any size", VariableTextsIn(name, 2048), many});
    parts.push_back({name + ": nothing", NumbersIn(name, H5T_NATIVE_UINT64, 0), "f.h5: attribute '" + name + "': expected one value, found 0"});
  }
  const auto text = [](const std::string& name) { return VariableTextsIn(name, 1); };
  parts.push_back({"a text for a number", text("berth_version"), "attribute 'berth_version': expected a whole number of 64 bits, found text"});
  parts.push_back({"a text for the hash", text("content_hash"), "attribute 'content_hash': expected a whole number of 64 bits, found text"});
  parts.push_back({"a float for a version", NumbersIn("berth_version", H5T_NATIVE_DOUBLE, 1), "expected a whole number of 64 bits, found float64"});
  parts.push_back({"a number for a text", NumbersIn("berth_kind", H5T_NATIVE_UINT64, 1), "attribute 'berth_kind': expected a text, found uint64"});
  parts.push_back({"a number of no size of ours", NumbersIn("one_more", H5T_NATIVE_INT16, 1), "'one_more': expected a whole number of 64 bits, found int16"});
  parts.push_back({"a reference", NumbersIn("one_more", H5T_STD_REF_OBJ, 1), "'one_more': expected a whole number of 64 bits, found another kind"});
  scenario.CheckRefused(parts);
}

TEST_CASE("hostile files: values of HDF5 that lie in other files are not looked for") {
  if (test::kSanitized) return test::Skip(kInAddressSpace);
  const ForeignScenario scenario;
  const TemporaryFolder& folder = scenario.folder();
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string elsewhere = "dataset 'jobs/arrival': expected its values in this file, found that they are elsewhere";
  const auto outside = [&](const std::string& other, hsize_t count) {
    return [=](hid_t file) { PutDataset(file, "jobs/arrival", H5T_NATIVE_DOUBLE, {count}, ValuesIn(other, 8 * count), false); };
  };
  const Layout joined = [&](hid_t properties) {
    const Handle space = SpaceOf({20});
    REQUIRE(H5Pset_virtual(properties, space.get(), (folder / "s.h5").c_str(), "jobs/arrival", space.get()) >= 0);
  };
  scenario.CheckRefused({
      {"a device without end", outside("/dev/zero", 50'000'000), elsewhere},
      {"a file of this machine", outside("/etc/passwd", 20), elsewhere},
      {"a pipe", outside(folder / "pipe", 20), elsewhere},
      {"parts of another file", [&](hid_t file) { PutDataset(file, "jobs/arrival", H5T_NATIVE_DOUBLE, {20}, joined, false); }, elsewhere},
  });
}

TEST_CASE("hostile files: links of HDF5 that are not hard, and names of one thing again, are not followed") {
  if (test::kSanitized) return test::Skip(kInAddressSpace);
  const ForeignScenario scenario;
  const TemporaryFolder& folder = scenario.folder();
  const auto removed = [](hid_t file, const char* name) { REQUIRE(H5Ldelete(file, name, H5P_DEFAULT) >= 0); };
  const auto nested = [](hid_t file) {
    std::vector<hid_t> groups = {file};
    for (int i = 0; i < 20'000; ++i) {
      groups.push_back(H5Gcreate2(groups.back(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      REQUIRE(groups.back() >= 0);
      if (i > 0) H5Gclose(groups[groups.size() - 2]);
    }
    H5Gclose(groups.back());
  };
  scenario.CheckRefused({
      {"a dataset of another file",
       [&](hid_t file) {
         removed(file, "jobs/arrival");
         REQUIRE(H5Lcreate_external((folder / "s.h5").c_str(), "/jobs/arrival", file, "jobs/arrival", H5P_DEFAULT, H5P_DEFAULT) >= 0);
       },
       "'jobs/arrival': expected what it names in this file, found a link to another file"},
      {"a group of another file",
       [&](hid_t file) {
         removed(file, "jobs");
         REQUIRE(H5Lcreate_external((folder / "s.h5").c_str(), "/jobs", file, "jobs", H5P_DEFAULT, H5P_DEFAULT) >= 0);
       },
       "'jobs': expected what it names in this file, found a link to another file"},
      {"a soft link",
       [&](hid_t file) {
         removed(file, "jobs/gang");
         REQUIRE(H5Lcreate_soft("/jobs/job_type", file, "jobs/gang", H5P_DEFAULT, H5P_DEFAULT) >= 0);
       },
       "'jobs/gang': expected what it names in this file, found a soft link"},
      {"a link to nothing", [&](hid_t file) { REQUIRE(H5Lcreate_soft("/no", file, "to", H5P_DEFAULT, H5P_DEFAULT) >= 0); }, "'to': expected what it names"},
      {"a group within itself", [&](hid_t file) { REQUIRE(H5Lcreate_hard(file, "jobs", file, "jobs/jobs", H5P_DEFAULT, H5P_DEFAULT) >= 0); },
       "'jobs/jobs': expected one name for each part, found another for the same"},
      {"the file within itself", [&](hid_t file) { REQUIRE(H5Lcreate_hard(file, "/", file, "jobs/all", H5P_DEFAULT, H5P_DEFAULT) >= 0); },
       "'jobs/all': expected one name for each part, found another for the same"},
      {"a dataset by two names", [&](hid_t file) { REQUIRE(H5Lcreate_hard(file, "jobs/id", file, "jobs/of", H5P_DEFAULT, H5P_DEFAULT) >= 0); },
       "'jobs/of': expected one name for each part, found another for the same"},
      {"groups without end", nested, "expected at most 8 groups within each other, found more"},
  });
  // Who asks for a dataset by its name follows none either.
  scenario.Make([&](hid_t file) {
    REQUIRE(H5Lcreate_soft("/jobs", file, "work", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    REQUIRE(H5Lcreate_soft("/jobs/id", file, "id", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  });
  const Handle file(H5Fopen((folder / "f.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  CHECK(h5::BytesOf(h5::OpenDataset(file.get(), "f.h5", "jobs/id").get()) == 160);
  for (const std::string name : {"id", "work/id"}) {
    CAPTURE(name);
    CHECK(test::Says(test::MessageOf([&] { h5::OpenDataset(file.get(), "f.h5", name); }), "expected what it names in this file, found a soft link"));
  }
  CHECK(test::MessageOf([&] { h5::OpenDataset(file.get(), "f.h5", "jobs/no"); }) == "f.h5: expected dataset 'jobs/no', found none");
  CHECK(test::MessageOf([&] { h5::OpenDataset(file.get(), "f.h5", "jobs"); }) == "f.h5: expected dataset 'jobs', found none");
}

TEST_CASE("hostile files: sizes of HDF5 that the file does not hold, filters and types that are not ours are refused") {
  if (test::kSanitized) return test::Skip(kInAddressSpace);
  const ForeignScenario scenario;
  const auto chunked = [](const std::vector<hsize_t>& sides, int deflated) {
    return [=](hid_t properties) {
      REQUIRE(H5Pset_chunk(properties, static_cast<int>(sides.size()), sides.data()) >= 0);
      for (int i = 0; i < deflated; ++i) REQUIRE(H5Pset_deflate(properties, 6) >= 0);
    };
  };
  const std::string damaged = "dataset 'jobs/arrival' is truncated or damaged", filters = "dataset 'jobs/arrival': expected filters shuffle and deflate";
  const auto claimed = [](hid_t type, const std::vector<hsize_t>& sides, const Layout& layout) {
    return [=](hid_t file) { PutDataset(file, "jobs/arrival", type, sides, layout, false); };
  };
  constexpr hsize_t many = hsize_t{1} << 31;
  scenario.CheckRefused({
      {"values that were never written", claimed(H5T_NATIVE_DOUBLE, {many}, chunked({1024}, 1)), damaged},
      {"a size beyond 64 bits", claimed(H5T_NATIVE_DOUBLE, {many, many}, chunked({64, 64}, 1)), damaged},
      {"a chunk of a gigabyte", claimed(H5T_NATIVE_DOUBLE, {20}, chunked({many / 16}, 1)),
       "dataset 'jobs/arrival': expected chunks no larger than it is, found 1073741824 bytes in each"},
      {"deflated twice", Arrivals(chunked({20}, 2)), filters + " (HDF5's 2 and 1), each once at most, found 1 twice"},
      {"a filter of another sort", Arrivals([&](hid_t p) { chunked({20}, 0)(p); REQUIRE(H5Pset_fletcher32(p) >= 0); }),
       filters + " (HDF5's 2 and 1), each once at most, found 3"},
      {"texts", claimed(TextType(H5T_VARIABLE).get(), {20}, [](hid_t) {}), "dataset 'jobs/arrival': expected numbers, found text"},
  });
}

TEST_CASE("hostile files: what h5py writes is accepted: texts of any length, and chunks with shuffle and deflate") {
  const ForeignScenario scenario;
  scenario.Make([](hid_t file) {
    const char* name = "toy";
    PutAttribute(file, "name", TextType(H5T_VARIABLE).get(), SpaceOf({1}), &name);
    std::vector<double> arrivals(20);
    {
      const Handle set(H5Dopen2(file, "jobs/arrival", H5P_DEFAULT), H5Dclose);
      REQUIRE(H5Dread(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, arrivals.data()) >= 0);
    }
    PutDataset(file, "jobs/arrival", H5T_NATIVE_DOUBLE, {20}, [](hid_t properties) {
      const hsize_t chunk = 8;
      REQUIRE(H5Pset_chunk(properties, 1, &chunk) >= 0);
      REQUIRE((H5Pset_shuffle(properties) >= 0 && H5Pset_deflate(properties, 4) >= 0));
    });
    const Handle set(H5Dopen2(file, "jobs/arrival", H5P_DEFAULT), H5Dclose);
    REQUIRE(H5Dwrite(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, arrivals.data()) >= 0);
  });
  const test::Outcome outcome = Berth(scenario.folder(), "inspect f.h5");  // the hash is that of the values
  CAPTURE(outcome.error);
  CHECK(outcome.code == 0);
}

}  // namespace berth

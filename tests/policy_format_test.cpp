// policies/FORMAT.md, the page for who reads a policy without this code, against files that are written.
#include <fstream>
#include <set>
#include <string>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/gym/encoder.hpp"
#include "policies/bundle.hpp"
#include "policies/onnx_writer.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

PolicyBundle PolicyOfPage() {
  return test::RandomBundle("pair_scorer(width=8)", ObservationV1::Layout(6, 3), 6 * 3 + 1, /*seed=*/1);
}

// What stands in backquotes in the first column of a section's table of policies/FORMAT.md.
std::set<std::string> NamesOnPage(const std::string& heading) {
  std::ifstream page(BERTH_SOURCE_DIR "/policies/FORMAT.md");
  std::set<std::string> names;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) here = line == Join("## ", heading);
    if (!here || !line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const std::size_t end = cell.find('`', at + 1);
      names.insert(cell.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return names;
}

// Keys of metadata_props, field 14 of a ModelProto, each field 1 of its entry.
std::set<std::string> MetadataOf(const std::string& onnx) {
  const auto number = [&](std::size_t& at) {  // of 7 bits a byte, low ones first
    std::size_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(onnx.at(at++));
      value |= static_cast<std::size_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  std::set<std::string> keys;
  for (std::size_t at = 0; at < onnx.size();) {
    const std::size_t tag = number(at), value = number(at);
    if ((tag & 7) == 0) continue;  // a number, not so many bytes
    REQUIRE((tag & 7) == 2);
    std::size_t entry = at;
    at += value;
    if (tag >> 3 != 14) continue;
    REQUIRE(number(entry) == (1 << 3 | 2));
    const std::size_t length = number(entry);
    keys.insert(onnx.substr(entry, length));
  }
  return keys;
}

}  // namespace

TEST_CASE("policies/FORMAT.md names what a policy's files hold, and nothing else") {
  PolicyBundle bundle = PolicyOfPage();
  bundle.mdp.actions = "start,wait";  // what is written only where it is not the default
  bundle.mdp.reread = true;
  bundle.mdp.columns = bundle.mdp.rows = 8;
  bundle.reserve = Reserve::kEasy;
  const test::TemporaryFolder folder;
  SaveBundle(bundle, folder / "p.h5");
  const h5::Reader in(folder / "p.h5", "policy", 1);
  std::set<std::string> written;
  for (const std::string& name : in.Attributes()) {
    if (!name.starts_with("berth_") && !name.starts_with("source_") && name != "content_hash") written.insert(name);
  }
  for (const std::string& name : in.Datasets()) {
    if (!name.starts_with("weights/")) written.insert(name);
  }
  std::set<std::string> on_page = NamesOnPage("Attributes and datasets");
  CHECK(on_page.erase("weights/<layer>/weight") + on_page.erase("weights/<layer>/bias") == 2);
  CHECK(written == on_page);
  CHECK(MetadataOf(SerializeOnnx(PolicyOfPage())) == NamesOnPage("Metadata of an ONNX file"));
}

}  // namespace berth

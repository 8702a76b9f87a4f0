// What tools/setup installs is pinned by its bytes, and the bill of materials says what it is.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Slurp;
using test::TemporaryFolder;

// What a script of tools/ ends with and says.
std::pair<int, std::string> Script(const TemporaryFolder& folder, const std::string& words) {
  const int code = std::system(Join("cd '", folder.path(), "' && PYTHONDONTWRITEBYTECODE=1 python3 '", BERTH_SOURCE_DIR, "/tools/", words, " >said 2>&1").c_str());
  return {code, Slurp(folder / "said")};
}

}  // namespace

TEST_CASE("supply chain: each version that is pinned has the hashes of its files, and setup asks for them") {
  const TemporaryFolder folder;
  const auto [code, said] = Script(folder, "lock' --check");
  CAPTURE(said);
  CHECK(code == 0);
  // Each entry of a .lock has a hash, and each line is one of three.
  int entries = 0, hashes = 0;
  for (const char* name : {"tools/requirements.lock", "tools/python/requirements.lock", "tools/requirements-cuda.lock"}) {
    std::istringstream lines(Slurp(Join(BERTH_SOURCE_DIR, "/", name)));
    bool open = false;
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(name, line);
      if (line.starts_with("#")) continue;
      const bool entry = std::regex_match(line, std::regex(R"([A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+ \\)"));
      const bool hash = std::regex_match(line, std::regex(R"(    --hash=sha256:[0-9a-f]{64}( \\)?)"));
      CHECK((open ? hash : entry));
      open = line.ends_with('\\');
      entries += entry, hashes += hash;
    }
    CHECK_FALSE(open);
  }
  CHECK(entries > 40);
  CHECK(hashes > entries);
  const std::string setup = Slurp(BERTH_SOURCE_DIR "/tools/setup");
  const std::regex install(R"(pip.*-r )");
  int installs = 0;
  std::istringstream lines(setup);
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, install)) continue;
    CAPTURE(line);
    ++installs;
    CHECK(line.find("--require-hashes") != std::string::npos);
  }
  CHECK(installs == 3);
}

TEST_CASE("supply chain: a pin that the lock has not is refused by its name") {
  const TemporaryFolder folder;
  std::ofstream(folder / "list.txt") << "numpy==1.0\n";
  std::ofstream(folder / "list.lock") << "numpy==2.0 \\\n    --hash=sha256:" << std::string(64, '0') << "\n";
  const auto [code, said] = Script(folder, "lock' --check list.txt");
  CHECK(code != 0);
  CHECK(said.find("found another numpy; tools/lock writes it anew") != std::string::npos);
  std::ofstream(folder / "list.txt") << "numpy>=1.0\n";
  CHECK(Script(folder, "lock' --check list.txt").second.find("list.txt:1: expected NAME==VERSION, found 'numpy>=1.0'") !=
        std::string::npos);
}

TEST_CASE("supply chain: the bill of materials has every field that CycloneDX asks for, and is the same twice") {
  const TemporaryFolder folder;
  const auto [code, said] = Script(folder, "sbom' --out one.json");
  CAPTURE(said);
  REQUIRE(code == 0);
  REQUIRE(Script(folder, "sbom' --out two.json").first == 0);
  CHECK(Slurp(folder / "one.json") == Slurp(folder / "two.json"));
  const Json bill = ReadJson(folder / "one.json");
  CHECK(bill["bomFormat"] == "CycloneDX");
  CHECK(bill["specVersion"] == "1.5");
  CHECK(bill["version"] == 1);
  CHECK(std::regex_match(bill["serialNumber"].get<std::string>(),
                         std::regex("urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")));
  CHECK(bill["metadata"]["component"]["name"] == "berth");
  std::set<std::string> refs, types = {"library", "application"}, names;
  int hashed = 0, licensed = 0;
  for (const Json& part : bill["components"]) {
    CAPTURE(part.dump());
    CHECK(types.count(part["type"]) == 1);
    CHECK(part["name"].get<std::string>() != "");
    CHECK(part["version"].get<std::string>() != "");
    CHECK(part["purl"].get<std::string>().starts_with("pkg:"));
    CHECK(refs.insert(part["bom-ref"].get<std::string>()).second);
    names.insert(part["name"].get<std::string>());
    for (const Json& licence : part.value("licenses", Json::array()))
      CHECK((licence.contains("expression") || licence["license"].contains("name") || licence["license"].contains("id")));
    licensed += part.contains("licenses");
    for (const Json& reference : part.value("externalReferences", Json::array())) {
      for (const Json& hash : reference["hashes"]) {
        CHECK(hash["alg"] == "SHA-256");
        CHECK(hash["content"].get<std::string>().size() == 64);
        ++hashed;
      }
    }
  }
  CHECK(hashed > 100);
  CHECK(licensed > 20);
  for (const char* name : {"torch", "highsbox", "numpy", "libhdf5-dev", "libcpp-httplib-dev", "libssl-dev"}) CHECK(names.count(name) == 1);
  for (const Json& ref : bill["dependencies"][0]["dependsOn"]) CHECK(refs.count(ref.get<std::string>()) == 1);
}

TEST_CASE("supply chain: a wheel with a library whose licence is not listed has no bill") {
  const TemporaryFolder folder;
  std::ofstream(folder / "make.py") << R"(
import zipfile
for name, extra in (("good.whl", []), ("bad.whl", ["berth.libs/libunknown.so"])):
    with zipfile.ZipFile(name, "w") as wheel:
        wheel.writestr("berth-0.2.0.dist-info/METADATA", "Name: berth\nVersion: 0.2.0\nRequires-Dist: numpy\n\n")
        wheel.writestr("berth-0.2.0.dist-info/licenses/THIRD_PARTY.tsv",
                       "what is inside\tversion\tlicences of its parts\nlibhdf5.so.103 (libhdf5-103-1)\t1.10.8\tBSD-3-clause\n")
        for library in ["berth.libs/libhdf5.so.103", *extra]:
            wheel.writestr(library, "code")
)";
  REQUIRE(std::system(Join("cd '", folder.path(), "' && python3 make.py").c_str()) == 0);
  const auto [good, said] = Script(folder, "sbom' --wheel good.whl --out good.json");
  CAPTURE(said);
  REQUIRE(good == 0);
  const Json bill = ReadJson(folder / "good.json");
  CHECK(bill["components"].size() == 2);  // what is inside, and what it asks for
  CHECK(bill["components"][0]["purl"] == "pkg:deb/debian/libhdf5-103-1@1.10.8");
  // echo -n code | sha256sum
  CHECK(bill["components"][0]["hashes"][0]["content"] == "5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b");
  const auto [bad, why] = Script(folder, "sbom' --wheel bad.whl --out bad.json");
  CHECK(bad != 0);
  CHECK(why.find("expected a licence for every library, found none for berth.libs/libunknown.so") != std::string::npos);
}

}  // namespace berth

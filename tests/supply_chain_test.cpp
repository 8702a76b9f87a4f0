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

TEST_CASE("supply chain: each version that is pinned has the hashes of its files") {
  const TemporaryFolder folder;
  const auto [code, said] = Script(folder, "lock' --check");
  CAPTURE(said);
  CHECK(code == 0);
  // Each entry of a .lock has a hash, and each line is one of three.
  int entries = 0, hashes = 0;
  for (const char* name : {"tools/requirements.lock", "tools/python/requirements.lock", "tools/requirements-cuda.lock", "tools/requirements-wheel.lock"}) {
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
}

// Every line of a script that installs by pip, but what it has just built.
TEST_CASE("supply chain: whatever installs packages asks for their hashes, and for no others") {
  struct Installer {
    const char* name;
    int installs;
  };
  for (const Installer& script : {Installer{"setup", 3}, {"wheel", 1}}) {
    const std::regex install(R"(pip.*(install|-r) )"), of_its_own(R"(install "\$1")");
    int installs = 0;
    std::istringstream lines(Slurp(Join(BERTH_SOURCE_DIR, "/tools/", script.name)));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(script.name, line);
      if (line.starts_with("#") || line.find("local pip=") != std::string::npos) continue;
      if (!std::regex_search(line, install) || std::regex_search(line, of_its_own)) continue;
      ++installs;
      CHECK(line.find("--no-deps --require-hashes -r ") != std::string::npos);
    }
    CHECK(installs == script.installs);
  }
}

TEST_CASE("supply chain: a package that several lists pin has one version") {
  std::map<std::string, std::string> versions;
  int again = 0;
  for (const char* name : {"tools/requirements.txt", "tools/python/requirements.txt", "tools/requirements-wheel.txt"}) {
    std::istringstream lines(Slurp(Join(BERTH_SOURCE_DIR, "/", name)));
    for (std::string line; std::getline(lines, line);) {
      std::smatch pin;
      if (!std::regex_match(line, pin, std::regex(R"(([A-Za-z0-9._-]+)==([^ ]+).*)"))) continue;
      CAPTURE(name, line);
      const auto [known, added] = versions.emplace(pin[1], pin[2]);
      again += !added;
      CHECK(known->second == pin[2]);
    }
  }
  CHECK(again >= 5);  // what builds the Python package builds its wheel
}

TEST_CASE("supply chain: a changed list is installed again, and that of CUDA where it was asked for") {
  const TemporaryFolder folder;
  std::ofstream(folder / "functions.sh") << "set -euo pipefail; top=$1 cuda=${2:-}\n";
  REQUIRE(std::system(Join("grep -E '^(lists|wanted_stamp)\\(\\)' '", BERTH_SOURCE_DIR, "/tools/setup' >>'", folder / "functions.sh", "'").c_str()) == 0);
  std::ofstream(folder / "functions.sh", std::ios::app) << "wanted_stamp\n";
  fs::create_directory(folder / "tools");
  const auto stamp = [&](const std::string& plain, const std::string& cuda, const std::string& asked) {
    std::ofstream(folder / "tools/requirements.lock") << plain;
    std::ofstream(folder / "tools/requirements-cuda.lock") << cuda;
    REQUIRE(std::system(Join("cd '", folder.path(), "' && bash functions.sh . ", asked, " >stamp").c_str()) == 0);
    const std::string said = Slurp(folder / "stamp");
    CHECK(said.size() == 65);
    return said;
  };
  CHECK(stamp("a", "b", "") == stamp("a", "b", ""));
  CHECK(stamp("a", "b", "") != stamp("c", "b", ""));
  CHECK(stamp("a", "b", "") == stamp("a", "c", ""));
  CHECK(stamp("a", "b", "cuda") != stamp("a", "b", ""));
  CHECK(stamp("a", "b", "cuda") != stamp("a", "c", "cuda"));
  CHECK(stamp("a", "b", "cuda") != stamp("c", "b", "cuda"));
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
licences = ", ".join(f"Licence-{n}" for n in range(40))  # more than 200 characters
for name, extra in (("good.whl", ["berth/bin/berth", "berth/bin/libberth_learn.so", "berth/_berth.cpython-311-x86_64-linux-gnu.so"]),
                    ("bad.whl", ["berth.libs/libunknown.so", "berth/bin/libother.so.1", "berth/share/tool", "berth/_other.so"])):
    with zipfile.ZipFile(name, "w") as wheel:
        wheel.writestr("berth-0.2.0.dist-info/METADATA", "Name: berth\nVersion: 0.2.0\nRequires-Dist: numpy\n\n")
        wheel.writestr("berth-0.2.0.dist-info/licenses/THIRD_PARTY.tsv",
                       f"what is inside\tversion\tlicences of its parts\nlibhdf5.so.103 (libhdf5-103-1)\t1.10.8\t{licences}\n")
        wheel.writestr("berth.libs/libhdf5.so.103", "code")
        wheel.writestr("berth/share/page.js", "code")
        for library in extra:
            wheel.writestr(library, b"\x7fELF")
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
  CHECK(bill["components"][0]["licenses"][0]["license"]["name"].get<std::string>().ends_with("Licence-38, Licence-39"));
  const auto [bad, why] = Script(folder, "sbom' --wheel bad.whl --out bad.json");
  CHECK(bad != 0);
  CHECK(why.find("expected a licence for every library, found none for berth.libs/libunknown.so, berth/bin/libother.so.1, berth/share/tool, "
                 "berth/_other.so") != std::string::npos);
}

}  // namespace berth

// Files written whole, in folders where others write too: a name that somebody took before is left as it is.
#include "env/base/whole_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Slurp;
using test::TemporaryFolder;

// The first name under which this process writes.
std::string FirstName(const TemporaryFolder& folder) {
  return Join(folder / "s.csv", ".tmp", getpid());
}

std::vector<std::string> NamesIn(const TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("whole file: a link that lies under the name to come is neither followed nor replaced") {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine") << "mine";
  fs::create_symlink(folder / "mine", FirstName(folder));
  fs::create_symlink(folder / "new", Join(FirstName(folder), "1"));  // and one to where nothing is
  WriteWhole(folder / "s.csv", "written");
  CHECK(Slurp(folder / "mine") == "mine");
  CHECK_FALSE(fs::exists(folder / "new"));
  CHECK(Slurp(folder / "s.csv") == "written");
  CHECK_FALSE(fs::is_symlink(folder / "s.csv"));
  CHECK(fs::is_symlink(FirstName(folder)));
  RemoveUnfinishedOf(folder / "s.csv");
  CHECK(Slurp(folder / "mine") == "mine");
}

TEST_CASE("whole file: what a process of the same number has left does not block, and is tidied up") {
  const TemporaryFolder folder;
  std::ofstream(FirstName(folder)) << "half";
  REQUIRE(mkfifo(Join(FirstName(folder), "1").c_str(), 0600) == 0);  // nobody waits for a pipe
  WriteWhole(folder / "s.csv", "written");
  CHECK(Slurp(folder / "s.csv") == "written");
  CHECK(Slurp(FirstName(folder)) == "half");
  RemoveUnfinishedOf(folder / "s.csv");
  CHECK_FALSE(fs::exists(FirstName(folder)));
  RemoveUnfinished(folder.path());
  CHECK(NamesIn(folder) == std::vector<std::string>{"s.csv"});
}

TEST_CASE("whole file: two writers of one file in one process do not write into each other") {
  const TemporaryFolder folder;
  WholeFile one(folder / "s.csv");
  auto two = std::make_unique<WholeFile>(folder / "s.csv");
  CHECK(NamesIn(folder).size() == 2);
  RemoveUnfinishedOf(folder / "s.csv");  // both are being written
  CHECK(NamesIn(folder).size() == 2);
  two->Commit("the second");
  two.reset();
  CHECK(Slurp(folder / "s.csv") == "the second");
  one.Commit("the first");
  CHECK(Slurp(folder / "s.csv") == "the first");
  CHECK(NamesIn(folder) == std::vector<std::string>{"s.csv"});
}

}  // namespace berth

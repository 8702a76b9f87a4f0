// The documentation is true: pages that are made from the code are current, every command names verbs and
// options that exist, links lead somewhere, and ```sh blocks run.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/golden.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/docs/pages.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Berth;
using test::Slurp;
using test::TemporaryFolder;

const fs::path kRoot = BERTH_SOURCE_DIR;

std::vector<std::string> Verbs() {
  std::vector<std::string> verbs;
#define BERTH_NAME(verb, function, summary) verbs.emplace_back(verb);
  BERTH_VERBS(BERTH_NAME)
#undef BERTH_NAME
  return verbs;
}

std::vector<fs::path> Pages() {
  std::vector<fs::path> pages;
  for (auto it = fs::recursive_directory_iterator(kRoot); it != fs::recursive_directory_iterator(); ++it) {
    const std::string name = it->path().filename();
    const bool theirs = name == "build" || name == "out" || name == "runs" || name[0] == '.';
    if (it->is_directory() && theirs) it.disable_recursion_pending();
    if (it->path().extension() == ".md") pages.push_back(it->path());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

struct Block {
  int line;              // of its fence, from 1
  std::string language;  // behind the fence
  std::string marker;    // "slow", "learn", "not run" or "" (of the comment above it)
  std::string text;
};

std::vector<Block> Blocks(const fs::path& page) {
  static const std::regex kMarker("^<!-- (slow|learn|not run): .+ -->$");
  std::vector<Block> blocks;
  std::ifstream in(page);
  std::string above;
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      std::smatch match;
      if (inside)
        blocks.push_back(
            {number, line.substr(3), std::regex_match(above, match, kMarker) ? match[1].str() : "", ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
    above = line;
  }
  return blocks;
}

void CheckCurrent(const fs::path& page, const std::string& expected) {
  if (test::UpdateGolden()) {
    fs::create_directories(page.parent_path());
    WriteTextFile(page.string(), expected);
  }
  INFO(page.string()
       << " is not what the code says; run: berth_tests --update-golden 'docs*', and read the diff");
  CHECK(Slurp(page.string()) == expected);
}

std::string Help(const TemporaryFolder& folder, const std::string& verb) {
  const test::Outcome outcome = Berth(folder, verb + " --help-all");
  REQUIRE(outcome.code == 0);
  return outcome.out;
}

// Runs the ```sh blocks of a page that `chosen` picks, one after the other in one folder of their own, with
// the binary in the place of tools/berth. Nothing else is on the path than what a reader has there.
void RunBlocks(const fs::path& page, const std::set<std::string>& chosen) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "tools");
  for (const auto& entry : fs::directory_iterator(kRoot / "tools")) {
    if (entry.path().filename() != "berth")
      fs::create_symlink(entry.path(), fs::path(folder / "tools") / entry.path().filename());
  }
  std::ofstream(folder / "tools/berth")
      << "#!/bin/sh\nBERTH_COMMAND=tools/berth exec '" BERTH_BINARY "' \"$@\"\n";
  fs::permissions(folder / "tools/berth", fs::perms::owner_all);
  fs::create_symlink(kRoot / "data", folder / "data");
  if (fs::exists(kRoot / ".venv")) fs::create_symlink(kRoot / ".venv", folder / ".venv");
  for (const Block& block : Blocks(page)) {
    if (block.language != "sh" || chosen.count(block.marker) == 0) continue;
    INFO(page.string() << ":" << block.line << "\n" << block.text);
    std::ofstream(folder / "block.sh") << "set -euo pipefail\n" << block.text;
    const int status = std::system(
        Join("cd '", folder.path(), "' && timeout 900 bash block.sh >log.txt 2>&1 </dev/null").c_str());
    const std::string log = Slurp(folder / "log.txt");
    CAPTURE(log);
    CHECK(status == 0);
  }
}

// A working paper of the maintainers', or an entry of their tracker: a reader has neither. The patterns do
// not match the lines that they stand in.
bool CitesWhatNobodyHas(const std::string& line) {
  static const std::regex kPaper(
      "(^|[^A-Za-z0-9_])(design|SPEC|habits|learners|PROTOCOL|PUBLISHED|FACTS)[.]md\\b");
  static const std::regex kEntry("\\b[Ii]ssue( [0-9]|'s\\b)");
  return (line.find(".md") != std::string::npos && std::regex_search(line, kPaper)) ||
         (line.find("ssue") != std::string::npos && std::regex_search(line, kEntry));
}

bool HasLearners() {
  return fs::exists(fs::path(BERTH_BINARY).parent_path() / "libberth_learn.so");
}

}  // namespace

TEST_CASE("docs: a page a verb is what its --help says") {
  const TemporaryFolder folder;
  for (const std::string& verb : Verbs())
    CheckCurrent(kRoot / "tools/verbs" / (verb + ".md"), VerbPage(verb, Help(folder, verb)));
  CheckCurrent(kRoot / "tools/verbs/README.md", VerbsPage());
  for (const std::string& verb : Verbs()) {
    INFO(verb << " has no example: tools/docs/examples.hpp");
    CHECK(Slurp((kRoot / "tools/verbs" / (verb + ".md")).string()).find("```sh\n") != std::string::npos);
  }
}

TEST_CASE("docs: --help fits a screen, and --help-all has the rest") {
  constexpr std::size_t kLines = 48, kColumns = 100;
  const TemporaryFolder folder;
  for (const std::string& verb : Verbs()) {
    const test::Outcome shown = Berth(folder, verb + " --help");
    CAPTURE(verb, shown.out);
    CHECK(shown.code == 0);
    std::istringstream lines(shown.out);
    std::size_t count = 0, widest = 0;
    for (std::string line; std::getline(lines, line); ++count) widest = std::max(widest, line.size());
    CHECK(count <= kLines);
    CHECK(widest <= kColumns);
  }
  // What is left out is said to be.
  const std::string train = Berth(folder, "train --help").out;
  CHECK(train.find("\n  --tau ") == std::string::npos);
  CHECK(train.find("berth train --help-all shows every option") != std::string::npos);
  CHECK(Help(folder, "train").find("\n  --tau ") != std::string::npos);
}

TEST_CASE("docs: the reference of observations, actions and rewards is what the code says") {
  CheckCurrent(kRoot / "env/REFERENCE.md", ReferencePage());
}

TEST_CASE("docs: the pictures of the architecture are what the code gives") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "pathlib");
  if (python.empty()) return test::Skip("needs Python 3");
  CHECK(
      std::system(Join("'", python, "' '", (kRoot / "tools/docs/draw_architecture.py").string(), "' --check")
                      .c_str()) == 0);
}

TEST_CASE("docs: every command names a verb and options that exist") {
  const TemporaryFolder folder;
  std::map<std::string, std::string> help;
  for (const std::string& verb : Verbs()) help[verb] = Help(folder, verb);
  // Its own options stand behind the first word of `reproduce`.
  for (const char* of : {"gavel", "queueing", "hpc", "fgd", "learned", "like", "prediction", "realism", "pollux", "sia"})
    help["reproduce"] += Help(folder, Join("reproduce ", of));
  static const std::regex kCommand("(?:^|[`\\s(])(?:tools/)?berth ([a-z]+)((?:[^`\\n]|\\\\\\n)*)");
  static const std::regex kOption("(?:^|\\s)--([a-z][a-z-]*)");
  int commands = 0;
  for (const fs::path& page : Pages()) {
    if (page.filename() == "CHANGELOG.md") continue;  // tells of verbs that were
    const std::string text = std::regex_replace(Slurp(page.string()), std::regex("\\\\\n"), " ");
    for (std::sregex_iterator it(text.begin(), text.end(), kCommand), end; it != end; ++it) {
      const std::string verb = (*it)[1], rest = (*it)[2];
      if (rest.find("--") == std::string::npos) continue;  // a word of a sentence, or nothing to check
      INFO(page.string() << ": berth " << verb << rest);
      ++commands;
      if (help.count(verb) == 0) {
        CHECK(help.count(verb) == 1);
        continue;
      }
      const std::string words = rest.substr(0, rest.find(" # "));
      for (std::sregex_iterator option(words.begin(), words.end(), kOption); option != end; ++option) {
        const std::string name = "--" + (*option)[1].str();
        CAPTURE(name);
        CHECK(std::regex_search(help[verb], std::regex("\n  " + name + " ")));
      }
    }
  }
  CHECK(commands > 40);
}

TEST_CASE("docs: every fence says its language, so that no command escapes by having none") {
  const std::set<std::string> known{"sh", "text", "python", "c"};  // `bash` or `console` would not be run
  int fences = 0;
  for (const fs::path& page : Pages()) {
    for (const Block& block : Blocks(page)) {
      INFO(page.string() << ":" << block.line << ": expected ```sh, text, python or c, found ```"
                         << block.language);
      CHECK(known.count(block.language) == 1);
      ++fences;
    }
  }
  CHECK(fences > 40);
}

TEST_CASE("docs: every figure of a run stands in FORMATS.md") {
  const std::string page = Slurp((kRoot / "tools/FORMATS.md").string());
  for (const MetricField& field : MetricFields()) {
    CAPTURE(field.key);
    CHECK(page.find(Join("`", field.key, "`")) != std::string::npos);
  }
}

TEST_CASE("docs: links within the repository lead somewhere") {
  static const std::regex kLink("\\]\\(([^)#\\s]+)(#[^)\\s]*)?\\)");
  for (const fs::path& page : Pages()) {
    const std::string text = Slurp(page.string());
    for (std::sregex_iterator it(text.begin(), text.end(), kLink), end; it != end; ++it) {
      const std::string target = (*it)[1];
      if (target.find("://") != std::string::npos) continue;
      INFO(page.string() << ": " << target);
      CHECK(fs::exists(page.parent_path() / target));
    }
  }
}

TEST_CASE("docs: pages are short and cite only what a reader has") {
  const std::string front = Slurp((kRoot / "README.md").string());
  CHECK(front.size() <= 6000);
  CHECK(std::count(front.begin(), front.end(), '\n') <= 90);
  for (const fs::path& page : Pages()) {
    if (page.filename() != "README.md") continue;
    INFO(page.string() << ": the rest belongs on a page beside it");
    CHECK(fs::file_size(page) <= 8 * 1024);
  }
  const std::string paper = Join("as design", ".md has it"), entry = Join("targets of issue", " 5");
  CHECK(CitesWhatNobodyHas(paper));
  CHECK(CitesWhatNobodyHas(entry));
  CHECK(!CitesWhatNobodyHas("agents/gpu/DEVICE_LEARNERS.md; a GitHub issue #238"));
  const TemporaryFolder folder;
  const std::string list = folder / "files";
  if (std::system(Join("git -C '", kRoot.string(), "' ls-files >'", list, "' 2>/dev/null").c_str()) != 0)
    return test::Skip("needs git and a checkout");
  const std::set<std::string> binary{".h5", ".png"};
  std::ifstream files(list);
  int seen = 0;
  for (std::string file; std::getline(files, file);) {
    if (binary.count(fs::path(file).extension().string()) > 0) continue;
    ++seen;
    std::ifstream in(kRoot / file);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (!CitesWhatNobodyHas(line)) continue;
      INFO(file << ":" << number << ": " << line);
      FAIL_CHECK("cites a document or an entry that a reader does not have");
    }
  }
  CHECK(seen > 1000);
}

TEST_CASE("docs: the commands run") {
  const std::string python = (kRoot / ".venv/bin/python").string();
  if (test::Python(BERTH_SOURCE_DIR, "h5py, matplotlib") != python)
    return test::Skip("needs .venv with h5py and matplotlib: tools/setup");
  for (const fs::path& page : Pages()) RunBlocks(page, {""});
}

TEST_CASE("docs: the commands that train run", "[learn]") {
  if (!HasLearners()) return test::Skip("needs LibTorch: the preset release");
  for (const fs::path& page : Pages()) {
    bool trains = false;
    for (const Block& block : Blocks(page)) trains = trains || block.marker == "learn";
    if (trains) RunBlocks(page, {"", "learn"});
  }
}

TEST_CASE("docs: the commands that take long run", "[.slow]") {
  for (const fs::path& page : Pages()) {
    bool slow = false;
    for (const Block& block : Blocks(page)) slow = slow || block.marker == "slow";
    if (slow)
      RunBlocks(page, HasLearners() ? std::set<std::string>{"", "learn", "slow"}
                                    : std::set<std::string>{"", "slow"});
  }
}

}  // namespace berth

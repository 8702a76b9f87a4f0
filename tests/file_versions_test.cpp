// Files of other versions: each kind that Berth writes says which one it is, an older one is read, and a newer one
// is refused by its name, before anything is done with it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "agents/search/search.hpp"
#include "data/hdf5_file.hpp"
#include "policies/bundle.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/evaluation_file.hpp"
#include "tools/evaluation_shard.hpp"
#include "tools/sweep/sweep_files.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Berth;
using test::CheckOneLine;
using test::Slurp;
using test::TemporaryFolder;

struct FileKind {
  const char* kind;
  int newest;           // version
  const char* in_code;  // how a Writer names it
  const char* reads;    // a command that reads FILE
  bool learners = false;
};
const FileKind kFileKinds[] = {
    {"scenario", 1, "\"scenario\"", "simulate --scenario FILE --scheduler fcfs"},
    {"events", 1, "\"events\"", ""},
    {"policy", 1, "\"policy\"", "evaluate --workload 'toy(jobs=5)' --cluster v100=2 --seeds 0:1 --schedulers 'policy(file=FILE)'"},
    {"checkpoint", 6, "kCheckpointKind", "export RUN --out p.h5", true},
    {"evaluation", kEvaluationVersion, "\"evaluation\"",
     "evaluate --workload 'toy(jobs=5)' --cluster v100=2 --seeds 0:1 --schedulers fcfs --report page --report-with FILE"},
    {kShardKind, kShardVersion, "kShardKind", "evaluate --merge FILE --json j.json"},
    {kSweepKind, kSweepVersion, "kSweepKind", ""},
    {search::kKind, 1, "kKind", "tune --state FILE --resume"},
};

std::string With(std::string text, const std::string& word, const std::string& by) {
  if (const std::size_t at = text.find(word); at != std::string::npos) text.replace(at, word.size(), by);
  return text;
}

}  // namespace

TEST_CASE("file versions: every kind of file that the code writes is in this test's table") {
  std::set<std::string> written, known;
  const std::regex writer(R"(h5::Writer \w+\(\w+, ("\w+"|k\w+),)");
  for (const char* folder : {"agents", "data", "env", "policies", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(Join(BERTH_SOURCE_DIR, "/", folder))) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string text = Slurp(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), writer), end; it != end; ++it) written.insert((*it)[1]);
    }
  }
  for (const FileKind& kind : kFileKinds) known.insert(kind.in_code);
  CHECK(written == known);
}

TEST_CASE("file versions: a newer file is refused by its name and both versions, and inspect still shows it") {
  for (const FileKind& kind : kFileKinds) {
    CAPTURE(kind.kind);
    const TemporaryFolder folder;
    fs::create_directory(folder / "run");
    const std::string path = kind.learners ? "run/checkpoint.h5" : "newer.h5";
    {
      h5::Writer out(folder / path, kind.kind, kind.newest + 1);
      out.Text("provenance", "a later Berth");
      out.Commit();
    }
    const test::Outcome seen = Berth(folder, "inspect " + path);
    CAPTURE(seen.error);
    CHECK(seen.code == (std::string(kind.kind) == "scenario" ? 2 : 0));  // of which it shows what it means
    CHECK(seen.out.find(Join(kind.kind, ", format version ", kind.newest + 1)) != std::string::npos);
    if (*kind.reads == '\0') continue;  // nothing but inspect and Python reads it
    if (kind.learners && !test::HaveLearners()) {
      test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
      continue;
    }
    CheckOneLine(Berth(folder, With(With(kind.reads, "FILE", path), "RUN", "run")),
                 Join(path, ": expected a version that this Berth knows, found format version ", kind.newest + 1, " of '",
                      kind.kind, "', written by Berth "));
  }
}

TEST_CASE("file versions: there is no version 0") {
  const TemporaryFolder folder;
  {
    h5::Writer out(folder / "zero.h5", "scenario", 0);
    out.Commit();
  }
  CheckOneLine(Berth(folder, "simulate --scenario zero.h5"), "zero.h5: expected a version that this Berth knows");
}

TEST_CASE("file versions: policies that earlier builds wrote and the repository ships are read") {
  int read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(BERTH_SOURCE_DIR "/data/policies")) {
    if (entry.path().extension() != ".h5" || read >= 3) continue;
    CAPTURE(entry.path());
    CHECK_NOTHROW(LoadBundle(entry.path()));
    ++read;
  }
  CHECK(read == 3);
}

TEST_CASE("file versions: texts say theirs too: models of logs, and folders of sweeps by their build") {
  const TemporaryFolder folder;
  std::ofstream(folder / "newer.toml") << "version = 2\n";
  CheckOneLine(Berth(folder, "simulate --workload 'like(file=newer.toml)' --cluster v100=2"), "newer.toml");
  CheckOneLine(Berth(folder, "simulate --workload 'like(file=newer.toml)' --cluster v100=2"), "expected 1, found 2");
  const std::string sweep = "sweep --over rate=1,2 --workload 'queueing(rate={rate},jobs=5)' --cluster v100=2 --schedulers fcfs "
                            "--seeds 0:1 --out grid";
  REQUIRE(Berth(folder, sweep).code == 0);
  std::string record = Slurp(folder / "grid/sweep.ini");
  const std::size_t at = record.find("# source "), end = record.find('\n', at);
  REQUIRE(at != std::string::npos);
  const std::string build = record.substr(at + 9, end - at - 9);
  std::ofstream(folder / "grid/sweep.ini") << record.replace(at + 9, end - at - 9, "a later build");
  CheckOneLine(Berth(folder, sweep), Join("--out: grid holds another sweep: expected the build that began it, a later build, found ", build));
}

}  // namespace berth

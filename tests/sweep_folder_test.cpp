// berth sweep: a folder that survives whatever happens to it, and that several processes fill.
#include "tools/sweep/sweep.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/packed_files.hpp"
#include "tests/sweep_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/file_lock.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CellsIn;
using test::CheckOneLine;
using test::kSmallGrid;
using test::Outcome;
using test::Slurp;
using test::TableBytes;
using test::TemporaryFolder;
namespace fs = std::filesystem;

}  // namespace

TEST_CASE("sweep: killed at any moment it goes on, and ends with the same tables to the bit") {
  const TemporaryFolder folder;
  std::vector<std::string> words = {"sweep",
                                    "--over",
                                    "rate=1,2,3,4",
                                    "v100=2..5",
                                    "--workload",
                                    "queueing(rate={rate},jobs=3000)",
                                    "--cluster",
                                    "v100={v100}",
                                    "--clock",
                                    "event",
                                    "--schedulers",
                                    "fcfs",
                                    "srpt",
                                    "--seeds",
                                    "0:4",
                                    "--threads",
                                    "1",
                                    "--pareto",
                                    "jct,util"};
  const auto with = [&](const std::string& out, const std::string& threads) {
    std::vector<std::string> all = words;
    all[16] = threads;
    all.insert(all.end(), {"--out", out});
    return all;
  };
  REQUIRE(with("d", "7")[15] == "--threads");
  REQUIRE(test::Wait(test::Start(folder, with("whole", "2"))) == 0);
  CHECK(CellsIn(folder / "whole") == 16);
  int killed = 0;
  for (int at_least = 1; at_least <= 7; at_least += 3) {
    const pid_t child = test::Start(folder, with("parts", "1"));
    for (int wait = 0; wait < 6000 && CellsIn(folder / "parts") < at_least && !test::Ended(child); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGKILL);
    killed += test::Wait(child) == -1;
    CHECK_FALSE(fs::exists(folder / "parts/table.csv"));
  }
  CHECK(killed == 3);
  const int kept = CellsIn(folder / "parts");
  CHECK(kept < 16);
  REQUIRE(test::Wait(test::Start(folder, with("parts", "1"))) == 0);
  CHECK_THAT(Slurp(folder / "out.txt"), Catch::Contains(Join("16 cells, ", kept, " of them were there")));
  CHECK((TableBytes(folder / "whole") == TableBytes(folder / "parts")));
  CHECK(Slurp(folder / "whole/table.csv").size() > 1000);
}

TEST_CASE("sweep: Ctrl-C keeps the cells that have ended") {
  const TemporaryFolder folder;
  const pid_t child =
      test::Start(folder, {"sweep", "--over", "rate=1..40", "--workload", "queueing(rate={rate},jobs=3000)",
                           "--cluster", "v100=4", "--clock", "event", "--schedulers", "srpt", "--seeds",
                           "0:4", "--threads", "1", "--out", "d"});
  for (int wait = 0; wait < 6000 && CellsIn(folder / "d") < 2 && !test::Ended(child); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGINT);
  CHECK(test::Wait(child) == 130);
  CHECK_THAT(Slurp(folder / "error.txt"),
             Catch::Contains(Join("interrupted: ", CellsIn(folder / "d"), " of 40 cells")));
}

TEST_CASE("sweep: a folder of other settings, or one in use, is refused with one line") {
  const TemporaryFolder folder;
  std::ofstream(folder / "c.toml") << "[[type]]\nname = \"v100\"\ncount = 2\n";
  const std::string run =
      "sweep --over rate=1,2 --workload 'queueing(rate={rate},jobs=20)' --cluster v100=2 "
      "--schedulers fcfs --out d ";
  REQUIRE(Berth(folder, run + "--seeds 0:2").code == 0);
  CHECK(Berth(folder, run + "--seeds 0:2 --metrics wait").code == 0);  // only how it is shown
  CheckOneLine(Berth(folder, run + "--seeds 0:3"),
               "--out: d holds another sweep: expected seeds=0:2, found seeds=0:3; give another folder");
  CheckOneLine(Berth(folder,
                     "sweep --over rate=1,3 --workload 'queueing(rate={rate},jobs=20)' --cluster v100=2 "
                     "--schedulers fcfs --out d --seeds 0:2"),
               "expected over=rate=1,2, found over=rate=1,3");
  std::string record = Slurp(folder / "d/sweep.ini");
  const std::size_t source = record.find("# source ") + 9;
  record.replace(source, record.find('\n', source) - source, "elsewhere");
  std::ofstream(folder / "d/sweep.ini") << record;
  CheckOneLine(Berth(folder, run + "--seeds 0:2"), "expected the build that began it, elsewhere, found ");
  // A policy in the place of another, under the same name.
  const std::string policies = std::string(BERTH_SOURCE_DIR) + "/data/policies/cluster/";
  std::vector<fs::path> files(fs::directory_iterator(policies), fs::directory_iterator{});
  std::erase_if(files, [](const fs::path& path) { return path.extension() != ".h5"; });
  REQUIRE(files.size() >= 2);
  const std::string learned =
      "sweep --over rate=1,2 --workload 'synthetic(rate={rate},jobs=10)' --cluster "
      "v100=2,p100=2,k80=2 --schedulers 'fcfs;policy(file=p.h5)' --seeds 0:1 --out p";
  fs::copy_file(files[0], folder / "p.h5");
  const Outcome first = Berth(folder, learned);
  CAPTURE(first.error);
  REQUIRE(first.code == 0);
  fs::copy_file(files[1], folder / "p.h5", fs::copy_options::overwrite_existing);
  CheckOneLine(Berth(folder, learned), "expected # file p.h5 ");
  // Another member in the place of one, under the names of archive and member.
  const auto pack = [&](const std::string& seconds) {
    const std::string log = "1 0 0 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n2 10 0 " + seconds + " 2 -1 -1 2 300 -1 1 1 1 1 1 1 -1 -1\n";
    test::WriteGzip(folder / "log.tar.gz", test::TarMember("log.swf", log) + std::string(1024, '\0'));
    return Berth(folder, "sweep --over clock=event,hpc --scenario log.tar.gz:log.swf --format swf --cluster v100=2 --schedulers fcfs --out a");
  };
  REQUIRE(pack("200").code == 0);
  CHECK(pack("200").code == 0);
  CheckOneLine(pack("300"), "expected # file log.tar.gz ");

  const std::string other =
      "sweep --over rate=1,2 --workload 'queueing(rate={rate},jobs=20)' --cluster v100=2 "
      "--schedulers fcfs --seeds 0:2 --out e";
  REQUIRE(Berth(folder, other + " --cells 0:1").code == 0);
  {
    const FileLock whole(folder / "e/lock", "e", "this test");
    CheckOneLine(Berth(folder, other),
                 Join("--out: e is in use by process ", getpid(), " (this test) on "));
    CheckOneLine(Berth(folder, other + " --cells 1:2"), "--out: e is in use by process ");
  }
  {
    const FileLock part(folder / "e/lock", "e", "this test", /*shared=*/true);
    const FileLock own(folder / "e/cells/1-2.lock", "e", "this test");
    CheckOneLine(Berth(folder, other), "--out: e is in use by another process");
    CheckOneLine(Berth(folder, other + " --cells 1:2"), "--out: e: cells 1:2 is in use by process ");
    CHECK(Berth(folder, other + " --cells 0:1").code == 0);
  }
  CHECK(Berth(folder, other).code == 0);
}

TEST_CASE("sweep: no output replaces its own record or cells") {
  const TemporaryFolder folder;
  const std::string run =
      "sweep --over rate=1,2 --workload 'queueing(rate={rate},jobs=5)' --cluster v100=2 --schedulers fcfs "
      "--seeds 0:1 --out d";
  const auto refused = [&](const std::string& words, const std::string& expected) {
    CAPTURE(words);
    CheckOneLine(Berth(folder, run + words), expected);
  };
  refused(" --json d/cells/0.csv", "--json: expected a place outside of d/cells, found d/cells/0.csv");
  REQUIRE(Berth(folder, run).code == 0);
  fs::create_symlink("d", folder / "link");
  const std::string record = Slurp(folder / "d/sweep.ini"), cell = Slurp(folder / "d/cells/0.csv");
  refused(" --json d/sweep.ini", "--json: expected another file than one of --out, found d/sweep.ini for both");
  refused(" --json d/lock", "--json: expected another file than one of --out");
  refused(" --json link/cells/0.csv", "--json: expected a place outside of d/cells, found link/cells/0.csv");
  refused(" --report d/cells", "--report: expected a place outside of d/cells, found d/cells");
  CHECK(Slurp(folder / "d/sweep.ini") == record);
  CHECK(Slurp(folder / "d/cells/0.csv") == cell);
  CHECK(Berth(folder, run + " --json d/sweep.json").code == 0);
  CHECK(Berth(folder, "sweep --config d/sweep.ini --out d").code == 0);  // which reads the record
}

TEST_CASE("sweep: the tasks of a job array, and ranks, make what one process makes") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, kSmallGrid + " --out whole --pareto jct,util").code == 0);
  const Outcome printed = Berth(folder, kSmallGrid + " --out parts --print-array");
  REQUIRE(printed.code == 0);
  CHECK_THAT(printed.out, Catch::StartsWith("#!/bin/bash\n") && Catch::Contains("#SBATCH --array=0-3\n"));
  std::ofstream(folder / "array.sh") << printed.out;
  for (int task = 0; task < 4; ++task) {
    // As Slurm calls it; `berth` is the tested binary.
    const std::string run = Join("cd '", folder.path(),
                                 "' && mkdir -p bin && ln -sf '" BERTH_BINARY
                                 "' bin/berth && PATH=\"$PWD/bin:$PATH\" SLURM_ARRAY_TASK_ID=",
                                 3 - task, " bash array.sh >part.txt 2>&1");
    REQUIRE(std::system(run.c_str()) == 0);
    CHECK_THAT(Slurp(folder / "part.txt"), Catch::Contains(Join(task + 1, " of 4 in parts")));
    CHECK_FALSE(fs::exists(folder / "parts/table.csv"));
  }
  const Outcome merged = Berth(folder, kSmallGrid + " --out parts --pareto jct,util");
  REQUIRE(merged.code == 0);
  CHECK_THAT(merged.out, Catch::Contains("4 cells, 4 of them were there"));
  CHECK((TableBytes(folder / "whole") == TableBytes(folder / "parts")));
  // The same script on three ranks of torchrun's, and of six, of whom two have nothing to do: cells 4 r / n.
  const auto on_ranks = [&](int ranks, const std::string& variables) {
    const Outcome script = Berth(folder, Join(kSmallGrid, " --out ranks", ranks, " --print-array"));
    std::ofstream(folder / "ranks.sh") << script.out;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string run =
          Join("cd '", folder.path(), "' && PATH=\"$PWD/bin:$PATH\" ", variables.substr(0, variables.find(',')), "=",
               rank, " ", variables.substr(variables.find(',') + 1), "=", ranks, " bash ranks.sh >rank.txt 2>&1");
      REQUIRE(std::system(run.c_str()) == 0);
    }
    CHECK(CellsIn(folder / Join("ranks", ranks)) == 4);
    REQUIRE(Berth(folder, Join(kSmallGrid, " --out ranks", ranks, " --pareto jct,util")).code == 0);
    CHECK((TableBytes(folder / "whole") == TableBytes(folder / Join("ranks", ranks))));
  };
  on_ranks(3, "RANK,WORLD_SIZE");
  on_ranks(6, "OMPI_COMM_WORLD_RANK,OMPI_COMM_WORLD_SIZE");
  const std::string alone = Join("cd '", folder.path(), "' && bash ranks.sh 2>alone.txt");
  CHECK(std::system(alone.c_str()) != 0);
  CHECK_THAT(Slurp(folder / "alone.txt"), Catch::Contains("expected sbatch or ranks to run this"));
  // Of a large grid each task has several cells, and none is forgotten: 1,001 cells are 501 tasks of two.
  const Outcome large = Berth(folder,
                              "sweep --over rate=1..1001 --workload 'queueing(rate={rate})' --out large "
                              "--print-array");
  CHECK_THAT(large.out,
             Catch::Contains("#SBATCH --array=0-500\n") && Catch::Contains("SLURM_ARRAY_TASK_ID * 2"));
}

}  // namespace berth

// tools/test: what its last line and exit code make of suites that pass, fail, crash or cannot be run. The
// suites and what installs and builds are stand-ins; the script and lib.sh are the real ones.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using test::Slurp;
using test::TemporaryFolder;

struct Script : TemporaryFolder {
  Script() {
    for (const char* file : {"tools/test", "tools/sanitize", "tools/lib.sh"}) {
      fs::create_directories(fs::path(*this / file).parent_path());
      fs::copy_file(fs::path(BERTH_SOURCE_DIR) / file, *this / file);
    }
    Program("bin/ninja", "");
    Program("tools/setup", "");
    Program("build/release/build.ninja", "");
    Program("build/release/berth_tests",  // in two processes
            "case \"$*\" in *0/2) echo '3 passed, 0 failed, 2 skipped' ;; *1/2) echo '2 passed, 0 failed' ;; esac");
    Program("build/release/berth_learn_tests", "echo '3 passed, 0 failed'");
    Program("tools/python/test", "echo '4 passed, 0 failed'");
    Program("tools/compile_cuda", "echo '1 passed, 0 failed'");
  }
  void Program(const std::string& name, const std::string& body) {
    fs::create_directories(fs::path(*this / name).parent_path());
    std::ofstream(*this / name) << "#!/bin/bash\n" << body << "\n";
    fs::permissions(*this / name, fs::perms::owner_all);
  }
  // The exit code; what it said is in `said`.
  int Run(const std::string& environment = "BERTH_OFFLINE=", const std::string& words = "") {
    const int status = std::system(Join("cd '", path(), "' && PATH=\"$PWD/bin:$PATH\" ", environment,
                                        " tools/test ", words, " >said.txt 2>&1 </dev/null")
                                       .c_str());
    said = Slurp(*this / "said.txt");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string said;
};

}  // namespace

TEST_CASE("tools/test: adds up its suites") {
  Script script;
  CHECK(script.Run() == 0);
  CHECK_THAT(script.said, EndsWith("\n13 passed, 0 failed, 2 skipped\n"));
  script.Program("build/release/berth_learn_tests", "echo '2 passed, 1 failed'; exit 1");
  CHECK(script.Run() == 1);
  CHECK_THAT(script.said, EndsWith("\n12 passed, 1 failed, 2 skipped\n"));
}

TEST_CASE("tools/test: a suite that crashes or runs nothing has failed") {
  Script script;
  script.Program("build/release/berth_tests", "kill -SEGV $$");
  script.Program("build/release/berth_learn_tests", "echo '0 passed, 0 failed'");
  CHECK(script.Run() == 1);
  CHECK_THAT(script.said, EndsWith("\n5 passed, 3 failed\n"));
}

TEST_CASE(
    "tools/test: without the Python package's packages it fails, unless told that there is no network") {
  Script script;
  script.Program("tools/setup", "[ \"${1:-}\" != --python ] || { echo 'a bug of ours' >&2; exit 1; }");
  script.Program("tools/python/test", "echo '4 passed, 0 failed'; touch ran");
  CHECK(script.Run() == 1);
  CHECK_THAT(script.said, Contains("a bug of ours") && Contains("BERTH_OFFLINE=1 tools/test") &&
                              EndsWith("\n9 passed, 1 failed, 2 skipped\n"));
  CHECK(script.Run("BERTH_OFFLINE=1") == 0);
  CHECK_THAT(script.said,
             Contains("skipped: the Python package") && EndsWith("\n9 passed, 0 failed, 3 skipped\n"));
  CHECK(!fs::exists(script / "ran"));
}

TEST_CASE("tools/test: asks for a browser, and does without") {
  Script script;
  script.Program("tools/setup", "echo \"asked ${1:-}\"; [ \"${1:-}\" != --browser ]");
  CHECK(script.Run() == 0);
  CHECK_THAT(script.said,
             Contains("asked --browser\nno browser: ") && EndsWith("\n13 passed, 0 failed, 2 skipped\n"));
}

TEST_CASE("tools/test --sanitize: a build of its own, all of its suites or a part") {
  Script script;
  script.Program("bin/cmake", "echo \"$@\" >>asked.txt; mkdir -p build/asan build/tsan; touch build/{a,t}san/build.ninja");
  script.Program("build/asan/berth_tests", "echo '2 passed, 0 failed, 1 skipped'");
  script.Program("build/asan/berth_learn_tests", "echo '1 passed, 0 failed'");
  script.Program("build/tsan/berth_tests", "echo '1 passed, 0 failed'");
  CHECK(script.Run("", "--sanitize address") == 0);
  CHECK_THAT(script.said, EndsWith("\n3 passed, 0 failed, 1 skipped\n"));
  CHECK_THAT(Slurp(script / "asked.txt"), EndsWith("--preset asan -DBERTH_TEST_PART= -DBERTH_LEARN=ON\n"));
  CHECK(script.Run("", "--sanitize address --part 1/3") == 0);
  CHECK_THAT(script.said, EndsWith("\n4 passed, 0 failed, 2 skipped\n"));  // two shards
  CHECK_THAT(Slurp(script / "asked.txt"), EndsWith("--preset asan -DBERTH_TEST_PART=1/3 -DBERTH_LEARN=OFF\n"));
  // Turn 31 of 24 is 7: part 2 of 8, under the other sanitizer.
  script.Program("bin/git", "echo 000001fb56a0c9cd8f1c9e3a");
  CHECK(script.Run("", "--sanitize rotate") == 0);
  CHECK_THAT(Slurp(script / "asked.txt"), EndsWith("--preset tsan -DBERTH_TEST_PART=2/8 -DBERTH_LEARN=OFF\n"));
  CHECK_THAT(script.said, Contains("under the thread sanitizer, part 2/8") && EndsWith("\n2 passed, 0 failed\n"));
  script.Program("build/tsan/berth_tests", "echo '1 passed, 0 failed'; exit 66");  // what the sanitizer ends with
  CHECK(script.Run("", "--sanitize thread") == 1);
  CHECK_THAT(script.said, EndsWith("\n2 passed, 2 failed\n"));
  for (const char* words : {"--sanitize", "--sanitize memory", "--sanitise address", "--sanitize rotate --part 0/2",
                            "--sanitize thread --part 2/2", "--sanitize thread --part x", "address"}) {
    CAPTURE(words);
    CHECK(script.Run("", words) == 2);
    CHECK_THAT(script.said, Contains("test: expected nothing or --sanitize"));
  }
}

TEST_CASE("tools/test --sanitize rotate: every third turn is a campaign, whose findings have failed") {
  Script script;
  script.Program("bin/git", "echo 0000008b56a0c9cd8f1c9e3a");
  const std::string page = "mkdir -p out/campaign; printf '| part | n |\\n## Findings\\nits word\\n## Runs\\n' >out/campaign/README.md";
  script.Program("tools/campaign", Join("echo \"$*\"; ", page));
  CHECK(script.Run("", "--sanitize rotate") == 0);
  CHECK_THAT(script.said, Contains("--minutes 5\n") && Contains("| part | n |\n") && EndsWith("\n1 passed, 0 failed\n"));
  script.Program("tools/campaign", Join(page, "; exit 1"));
  CHECK(script.Run("", "--sanitize rotate") == 1);
  CHECK_THAT(script.said, Contains("its word\n") && EndsWith("\n0 passed, 1 failed\n"));
}

TEST_CASE("tools/compile_cuda: where there is no nvcc it says so, where the compiler fails it has failed") {
  Script script;
  fs::remove(script / "tools/compile_cuda");
  fs::copy_file(fs::path(BERTH_SOURCE_DIR) / "tools/compile_cuda", script / "tools/compile_cuda");
  CHECK(script.Run("CUDACXX=/no/nvcc") == 0);
  CHECK_THAT(script.said,
             Contains("cuda: skipped: the preset cuda is not compiled: no nvcc (looked for /no/nvcc)") &&
                 EndsWith("\n12 passed, 0 failed, 3 skipped\n"));
  script.Program("bin/nvcc", "");
  script.Program("bin/cmake", "[ \"$*\" = '--preset cuda' ]");
  CHECK(script.Run("CUDACXX=$PWD/bin/nvcc") == 0);
  CHECK_THAT(script.said,
             Contains("cuda: the preset cuda compiles: ") &&
                 Contains("cuda: skipped: NCCL's part of the preset cuda is not compiled: no nccl.h") &&
                 EndsWith("\n13 passed, 0 failed, 3 skipped\n"));
  fs::create_directories(script / "build/cuda");
  std::ofstream(script / "build/cuda/CMakeCache.txt") << "BERTH_NCCL:INTERNAL=ON\n";
  CHECK(script.Run("CUDACXX=$PWD/bin/nvcc") == 0);
  CHECK_THAT(script.said, Contains("cuda: the preset cuda compiles, with NCCL: ") &&
                              EndsWith("\n13 passed, 0 failed, 2 skipped\n"));
  script.Program("bin/cmake", "exit 1");
  CHECK(script.Run("CUDACXX=$PWD/bin/nvcc") == 1);
  CHECK_THAT(script.said, EndsWith("\n12 passed, 1 failed, 2 skipped\n"));
}

}  // namespace berth

// tools/quickstart: what it leaves can be run as it says, and a run that fails costs no earlier result. What
// installs, builds, trains and draws are stand-ins; the script and lib.sh are the real ones.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Slurp;
using test::TemporaryFolder;

// Files that its options name are made, and the page holds the command as the real one's does.
constexpr const char* kBerth = R"(
verb=$1; shift
line="berth $verb $*"
[ "$verb" != "${BREAK:-}" ] || exit 130
while [ $# -gt 0 ]; do
  case $1 in
    --out) if [ "$verb" = train ]; then mkdir -p "$2"; echo "$LABEL" >"$2/checkpoint.h5"; else echo "$LABEL" >"$2"; fi ;;
    --onnx|--json) echo "$LABEL" >"$2" ;;
    --report) mkdir -p "$2"; echo "$line" >"$2/index.html"; echo x >"$2/evaluation.h5" ;;
  esac
  shift
done
echo "$line")";

struct Script : TemporaryFolder {
  Script() {
    for (const char* file : {"tools/quickstart", "tools/lib.sh"}) {
      fs::create_directories(fs::path(*this / file).parent_path());
      fs::copy_file(fs::path(BERTH_SOURCE_DIR) / file, *this / file);
    }
    Program("bin/ninja", "");
    Program("tools/setup", "");
    Program("build/release/build.ninja", "");
    Program("build/release/berth", kBerth);
    Program(".venv/bin/python", "");
  }
  void Program(const std::string& name, const std::string& body) {
    fs::create_directories(fs::path(*this / name).parent_path());
    std::ofstream(*this / name) << "#!/bin/bash\n" << body << "\n";
    fs::permissions(*this / name, fs::perms::owner_all);
  }
  int Run(const std::string& environment, const std::string& arguments = "") {
    const int status =
        std::system(Join("cd '", path(), "' && env -u BERTH_PRESET PATH=\"$PWD/bin:$PATH\" ", environment,
                         " tools/quickstart ", arguments, " >said.txt 2>&1 </dev/null")
                        .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

}  // namespace

TEST_CASE("tools/quickstart: every path in what it leaves is there, so that its commands run again") {
  Script script;
  const int code = script.Run("LABEL=first");
  CAPTURE(Slurp(script / "said.txt"));
  REQUIRE(code == 0);
  int paths = 0;
  for (const char* file : {"out/quickstart/table.txt", "out/quickstart/report/index.html"}) {
    const std::string text = Slurp(script / file);
    static const std::regex kPath("out/quickstart[-_./a-z0-9]*");
    for (std::sregex_iterator at(text.begin(), text.end(), kPath), end; at != end; ++at, ++paths) {
      CAPTURE(at->str());
      CHECK(fs::exists(script / at->str()));
    }
  }
  CHECK(paths == 6);  // policy, report and table, twice
}

TEST_CASE(
    "tools/quickstart: --seed is the training's, and what is no seed is refused before anything is done") {
  Script script;
  REQUIRE(script.Run("LABEL=first", "--seed 7") == 0);
  CHECK(Slurp(script / "said.txt").find("--seed 7") != std::string::npos);
  for (const char* arguments : {"--seed", "--seed -1", "--seed 1x", "7", "--sed 7"}) {
    CAPTURE(arguments);
    CHECK(script.Run("LABEL=second", arguments) == 2);
    CHECK(Slurp(script / "out/quickstart/policy.h5") == "first\n");
  }
}

TEST_CASE("tools/quickstart: a run that fails leaves the earlier result, and the next one begins anew") {
  Script script;
  REQUIRE(script.Run("LABEL=first") == 0);
  const auto files = [&] {
    std::string text;
    for (const char* file : {"run/checkpoint.h5", "policy.h5", "table.json"})
      text += Slurp(script / Join("out/quickstart/", file));
    return text;
  };
  for (const char* verb : {"train", "export", "evaluate"}) {
    CAPTURE(verb);
    CHECK(script.Run(Join("LABEL=second BREAK=", verb)) == 130);
    CHECK(files() == "first\nfirst\nfirst\n");
  }
  // Killed with no time to put anything back, in training and just before the end.
  fs::rename(script / "out/quickstart", script / "out/quickstart.old");
  fs::create_directories(script / "out/quickstart/run");
  CHECK(script.Run("LABEL=second BREAK=train") == 130);
  CHECK(files() == "first\nfirst\nfirst\n");
  CHECK(script.Run("LABEL=second") == 0);
  CHECK(files() == "second\nsecond\nsecond\n");
  int left = 0;
  for (const auto& entry : fs::directory_iterator(script / "out")) left += entry.is_directory();
  CHECK(left == 1);
}

}  // namespace berth

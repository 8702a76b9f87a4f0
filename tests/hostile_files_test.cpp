// Files from strangers: policies and scenarios that lie about how much is in them, that name what they should not, or
// that are damaged. Each is refused in a line, in little memory, and nothing is run or written.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "data/hdf5_file.hpp"
#include "env/base/rng.hpp"
#include "policies/bundle.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Berth;
using test::CheckOneLine;
using test::Slurp;
using test::TemporaryFolder;

// KiB of address space: the program itself maps a third of it.
constexpr const char* kRoom = "ulimit -v 1048576 && ";

const std::string kOnJobs = "evaluate --workload 'toy(jobs=5)' --cluster v100=2 --seeds 0:1 --threads 1 --schedulers ";

// With so much room for the whole process: an allocation without bound ends it, and not in a line.
test::Outcome BerthInRoom(const TemporaryFolder& folder, const std::string& arguments) {
  return Berth(folder, arguments, kRoom);
}

// All attributes but those that a Writer adds by itself.
std::vector<std::string> TextsAndNumbers(const h5::Reader& in) {
  std::vector<std::string> names = in.Attributes();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("berth_") || name == "content_hash" || name.starts_with("source_"); });
  return names;
}

// A copy of a file with one thing changed; the content hash is that of what it holds then, so nothing but the
// readers' own checks stands in the way. `instead` says whether it wrote another thing in place of this name; of one name at least.
void Forge(const std::string& from, const std::string& kind, const std::string& to,
           const std::function<bool(h5::Writer& out, const std::string& name)>& instead) {
  const h5::Reader in(from, kind, 1000);
  h5::Writer out(to, kind, in.version());
  int changed = 0;
  for (const std::string& name : TextsAndNumbers(in)) {
    if (instead(out, name)) {
      ++changed;
      continue;
    }
    try {
      out.Text(name, in.Text(name));
    } catch (const Error&) {
      try {
        out.Integer(name, in.Integer(name));
      } catch (const Error&) {
        out.Number(name, in.Number(name));
      }
    }
  }
  const auto copy = [&]<class T>(const std::string& name, T) {
    try {
      std::vector<std::int64_t> shape;
      const std::vector<T> values = in.Array<T>(name, -1, &shape);
      out.Array<T>(name, values, shape);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (const std::string& name : in.Datasets()) {
    if (instead(out, name)) {
      ++changed;
      continue;
    }
    REQUIRE((copy(name, float{}) || copy(name, double{}) || copy(name, std::int32_t{}) || copy(name, std::int64_t{}) ||
             copy(name, std::uint8_t{}) || copy(name, std::uint64_t{})));
  }
  out.Commit();
  REQUIRE(changed > 0);
}

}  // namespace

TEST_CASE("hostile files: a policy that says that it is huge is refused in a line, in little memory") {
  if (test::kSanitized) return test::Skip("AddressSanitizer needs the address space that this test takes away");
  const TemporaryFolder folder;
  const std::string honest = BERTH_SOURCE_DIR "/data/policies/cluster/hetero_blind_1.h5";
  const auto with_network = [&](const std::string& network) {
    Forge(honest, "policy", folder / "p.h5", [&](h5::Writer& out, const std::string& name) {
      if (name == "network") out.Text(name, network);
      return name == "network";
    });
    return BerthInRoom(folder, kOnJobs + "'policy(file=p.h5)'");
  };
  for (const char* network : {"mlp(hidden=2000000000)", "mlp(hidden=99999999999999999999)", "mlp(hidden=-1)", "pair_scorer(width=100000000)",
                              "mlp(hidden=1000000,layers=1000000)", "no_such(width=1)", "mlp(((((((((((((((((((((((((((((("}) {
    CAPTURE(network);
    const test::Outcome outcome = with_network(network);
    CAPTURE(outcome.error);
    CheckOneLine(outcome, "");
  }
  CheckOneLine(with_network("pair_scorer(width=" + std::string(60000, '9') + ")"), "");
}

TEST_CASE("hostile files: layouts and examples of any size, and arrays of another, are refused in a line") {
  if (test::kSanitized) return test::Skip("AddressSanitizer needs the address space that this test takes away");
  const TemporaryFolder folder;
  const std::string honest = BERTH_SOURCE_DIR "/data/policies/cluster/hetero_blind_1.h5";
  const h5::Reader in(honest, "policy", 1000);
  std::vector<std::string> names = in.Datasets();
  int refused = 0;
  for (const std::string& name : names) {
    CAPTURE(name);
    // A dataset of one value in place of what there was; and no dataset.
    for (const int how : {0, 1}) {
      Forge(honest, "policy", folder / "p.h5", [&](h5::Writer& out, const std::string& found) {
        if (found == name && how == 0) out.Array<std::int64_t>(name, std::vector<std::int64_t>{std::int64_t{1} << 62});
        return found == name;
      });
      const test::Outcome outcome = BerthInRoom(folder, kOnJobs + "'policy(file=p.h5)'");
      CAPTURE(outcome.error);
      if (outcome.code == 0) continue;  // what no decision needs, such as the names of types
      CheckOneLine(outcome, "p.h5");
      ++refused;
    }
  }
  CHECK(refused > static_cast<int>(names.size()));
}

TEST_CASE("hostile files: a scenario whose numbers lie is refused in a line, in little memory") {
  if (test::kSanitized) return test::Skip("AddressSanitizer needs the address space that this test takes away");
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, "generate --workload 'toy(jobs=20)' --cluster v100=2 --out s.h5").code == 0);
  const h5::Reader in(folder / "s.h5", "scenario", 1);
  int refused = 0;
  for (const std::string& name : in.Datasets()) {
    CAPTURE(name);
    for (const bool high : {true, false}) {
      Forge(folder / "s.h5", "scenario", folder / "forged.h5", [&](h5::Writer& out, const std::string& found) {
        if (found != name) return false;
        std::vector<std::int64_t> shape;
        // Of its own type and size, and each value is out of all bounds: the type's most, or below zero, where a type has that.
        const auto put = [&]<class T>(T) {
          try {
            const std::size_t size = in.Array<T>(name, -1, &shape).size();
            using Limits = std::numeric_limits<T>;
            const T value = high ? Limits::max() : std::is_signed_v<T> ? static_cast<T>(-1) : Limits::min();
            out.Array<T>(name, std::vector<T>(size, value), shape);
            return true;
          } catch (const Error&) {
            return false;
          }
        };
        return put(double{}) || put(std::int32_t{}) || put(std::int64_t{}) || put(std::uint64_t{}) || put(float{}) ||
               put(std::uint8_t{});
      });
      const test::Outcome outcome = BerthInRoom(folder, "inspect forged.h5");  // reads and sums up all of it
      CAPTURE(outcome.error);
      CHECK((outcome.code == 0 || outcome.code == 2));
      if (outcome.code == 2) CheckOneLine(outcome, "forged.h5"), ++refused;
    }
  }
  CHECK(refused > 10);
}

TEST_CASE("hostile files: no policy or scenario runs a program, or names a file that is written") {
  const TemporaryFolder folder;
  const std::string within = "deep/er/";  // where it runs, so that what names a file above it is seen too
  fs::create_directories(folder / within);
  std::ofstream(folder / (within + "evil.py")) << "import pathlib\npathlib.Path('ran').write_text('code')\n";
  const std::string python = "python(file=evil.py:Evil)", there = "env -C " + within + " ";
  REQUIRE(Berth(folder, "generate --workload 'toy(jobs=20)' --cluster v100=2 --out s.h5").code == 0);
  const std::string policy = BERTH_SOURCE_DIR "/data/policies/cluster/hetero_blind_1.h5";
  // Each attribute of both, text or number, is the text.
  const auto try_all = [&](const std::string& from, const std::string& kind, const std::string& text, const std::string& command) {
    const h5::Reader in(from, kind, 1);
    int refused = 0;
    for (const std::string& name : TextsAndNumbers(in)) {
      CAPTURE(text, name);
      Forge(from, kind, folder / (within + "f.h5"), [&](h5::Writer& out, const std::string& found) {
        if (found == name) out.Text(name, text);
        return found == name;
      });
      const test::Outcome outcome = Berth(folder, command, there);
      CAPTURE(outcome.error);
      CHECK((outcome.code == 0 || outcome.code == 2));
      if (outcome.code == 2) CheckOneLine(outcome, "f.h5"), ++refused;
    }
    return refused;
  };
  for (const std::string& text : {python, std::string("failures(log=evil.py)"), std::string("$(touch ran);`touch ran`|touch ran"),
                                  std::string("../../ran")}) {
    CHECK(try_all(folder / "s.h5", "scenario", text, "simulate --scenario f.h5 --scheduler fcfs --clock event") >= 5);  // numbers and clock
    CHECK(try_all(policy, "policy", text, kOnJobs + "'policy(file=f.h5)'") >= 15);  // numbers, network, encoder
  }
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (!entry.is_directory()) left.push_back(fs::relative(entry.path(), folder.path()).string());
  }
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{within + "evil.py", within + "f.h5", "error.txt", "out.txt", "s.h5"});
}

TEST_CASE("hostile files: damaged bytes are refused in a line: sixty files with some of them changed") {
  if (test::kSanitized) return test::Skip("AddressSanitizer needs the address space that this test takes away");
  const TemporaryFolder folder;
  const std::string honest = Slurp(BERTH_SOURCE_DIR "/data/policies/cluster/hetero_blind_1.h5");
  Stream stream(5, Purpose::kTest);
  int refused = 0;
  constexpr int files = 60;
  for (int i = 0; i < files; ++i) {
    std::string bytes = honest;
    const int changes = 1 + static_cast<int>(stream.Below(8));
    // Half of them where the file's own tables are.
    const std::size_t within = i % 2 == 0 ? std::min<std::size_t>(bytes.size(), 4096) : bytes.size();
    for (int k = 0; k < changes; ++k)
      bytes[stream.Below(static_cast<std::uint32_t>(within))] = static_cast<char>(stream.Below(256));
    if (i % 10 == 0) bytes.resize(stream.Below(static_cast<std::uint32_t>(bytes.size())));
    std::ofstream(folder / "d.h5", std::ios::binary) << bytes;
    CAPTURE(i);
    const test::Outcome outcome = BerthInRoom(folder, kOnJobs + "'policy(file=d.h5)'");
    CAPTURE(outcome.error);
    CHECK((outcome.code == 0 || outcome.code == 2));  // 0: bytes that stand for nothing
    if (outcome.code == 2) CheckOneLine(outcome, "d.h5"), ++refused;
  }
  CHECK(refused > files / 2);
}

}  // namespace berth

// A training run's events through the real TensorBoard, against its CSV.
#include <cstdlib>
#include <fstream>

#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("tensorboard: its own reader finds what progress.csv has") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "tensorboard, numpy");
  if (python.empty()) return test::Skip("needs the Python package tensorboard: pip install tensorboard");
  const test::TemporaryFolder folder;
  const std::string log = folder / "log";
  const auto run = [&](const std::string& command) {
    return std::system(Join("cd '", folder.path(), "' && ", command, " >'", log, "' 2>&1").c_str());
  };
  const auto said = [&] {
    std::ifstream file(log);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const int trained = run("'" BERTH_BINARY
                          "' train --workload 'synthetic(rate=4,jobs=100)' --cluster v100=2,k80=2 --steps "
                          "8000 --envs 4 --threads 1 "
                          "--visible 8 --episode-jobs 10 --warmup-jobs 0 --validate 2 --out run");
  CAPTURE(said());
  REQUIRE(trained == 0);
  const int agreed = run(Join("'", python, "' '" BERTH_SOURCE_DIR "/tests/learn/check_tensorboard.py' run"));
  CAPTURE(said());
  CHECK(agreed == 0);
}

}  // namespace berth

// berth_changed_checkpoints: see tests/numbered_cases.hpp. Not libFuzzer's: LibTorch, which reads checkpoints, is not instrumented.
#include <filesystem>
#include <unistd.h>

#include "tests/learn/changed_checkpoints.hpp"
#include "tests/numbered_cases.hpp"
#include "tests/temporary_folder.hpp"

int main(int argc, char** argv) {
  const berth::test::TemporaryFolder folder;
  berth::ChangedCheckpoints checkpoints(folder.path());
  return berth::test::RunNumberedCases(argc, argv, "berth_changed_checkpoints", [&](std::uint64_t seed, std::int64_t index) {
    return checkpoints.Check(seed, index);
  });
}

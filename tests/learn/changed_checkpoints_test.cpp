#include "tests/learn/changed_checkpoints.hpp"

#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("checkpoints: what is changed at random is refused or read, and never ends otherwise") {
  const test::TemporaryFolder folder;
  ChangedCheckpoints checkpoints(folder.path());
  for (std::int64_t index = 0; index < 150; ++index) CHECK(checkpoints.Check(/*seed=*/1, index) == "");
}

}  // namespace berth

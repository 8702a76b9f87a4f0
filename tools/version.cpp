#include "tools/version.hpp"

#include <cstdlib>

#include "berth_commit.hpp"

namespace berth {

const char* Version() {
  return BERTH_VERSION;
}
const char* SourceCommit() {
  return BERTH_COMMIT;
}
std::string CommandName() {
  const char* name = std::getenv("BERTH_COMMAND");
  return name != nullptr ? name : "berth";
}

}  // namespace berth

#include "tools/version.hpp"

#include "berth_commit.hpp"

namespace berth {

const char* Version() {
  return BERTH_VERSION;
}
const char* SourceCommit() {
  return BERTH_COMMIT;
}

}  // namespace berth

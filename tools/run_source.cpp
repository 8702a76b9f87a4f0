// Apart from file_hash.cpp, which the Python package has too: what its build is, it says itself.
#include "env/base/check.hpp"
#include "tools/file_hash.hpp"
#include "tools/version.hpp"

namespace berth {

const std::string& RunSource() {
  static const std::string source = [] {
    const std::string commit = SourceCommit();
    if (commit != "unknown" && !commit.ends_with("-dirty")) return commit;
    return Join(commit, "+", FileHash("/proc/self/exe"));
  }();
  return source;
}

}  // namespace berth

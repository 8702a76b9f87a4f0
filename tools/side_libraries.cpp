// libberth_studies.so, which these verbs open and no other loads.
#include <string>

#include "env/base/check.hpp"
#include "tools/side_library.hpp"
#include "tools/studies/studies.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr SideLibrary kStudies{"the verbs bench, reproduce, size and sweep", "libberth_studies.so", nullptr,
                               "build the target berth_studies (tools/berth does)"};

const StudiesApi& Studies() {
  std::string path;
  const auto& api = *static_cast<const StudiesApi*>(OpenSideLibrary(kStudies, kStudiesApiSymbol, path));
  if (api.version != kStudiesApiVersion) {
    throw Error(Join(path, ": expected the studies' version ", kStudiesApiVersion, ", found ", api.version,
                     "; build the target berth_studies"));
  }
  return api;
}

}  // namespace

int RunBench(const std::vector<std::string>& arguments) {
  return Studies().bench(arguments, SourceCommit());
}

int RunReproduce(const std::vector<std::string>& arguments) {
  return Studies().reproduce(arguments, SourceCommit());
}

int RunSize(const std::vector<std::string>& arguments) {
  return Studies().size(arguments, SourceCommit());
}

int RunSweep(const std::vector<std::string>& arguments) {
  return Studies().sweep(arguments, SourceCommit());
}

}  // namespace berth

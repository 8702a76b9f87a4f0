// The verbs of libberth_studies.so (tools/studies/studies.hpp).
#include "env/base/check.hpp"
#include "tools/beside_binary.hpp"
#include "tools/studies/studies.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr SideLibrary kStudies{"the verbs bench and reproduce", "libberth_studies.so", nullptr,
                               "build the target berth_studies (tools/berth does)"};

const StudiesApi& Studies() {
  std::string path;
  using Entry = const StudiesApi* (*)();
  const StudiesApi& api = *reinterpret_cast<Entry>(OpenBesideBinary(kStudies, kStudiesApiSymbol, &path))();
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

}  // namespace berth

// Libraries that a verb opens when it is named and no other verb loads: they lie beside the binary.
#include <string>

#include "env/base/check.hpp"
#include "tools/learn_library.hpp"
#include "tools/side_library.hpp"
#include "tools/studies/studies.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr SideLibrary kLearners{
    "the learners", "libberth_learn.so", "BERTH_LEARN_LIBRARY",
    "this build is without LibTorch; build the target berth_learn (tools/berth does), or set "
    "BERTH_LEARN_LIBRARY"};

const LearnApi& Open() {
  std::string path;
  const auto& api = *static_cast<const LearnApi*>(OpenSideLibrary(kLearners, kLearnApiSymbol, path));
  if (api.version != kLearnApiVersion)
    throw Error(Join(path, ": expected learners of version ", kLearnApiVersion, ", found ", api.version));
  return api;
}

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

const LearnApi& OpenLearnLibrary() {
  static const LearnApi& api = Open();
  return api;
}

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

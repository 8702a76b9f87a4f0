#include "tools/learn_library.hpp"

#include <string>

#include "env/base/check.hpp"
#include "tools/side_library.hpp"

namespace berth {
namespace {

constexpr SideLibrary kLearners{
    "the learners", "libberth_learn.so", "BERTH_LEARN_LIBRARY",
    "this build is without LibTorch; build the target berth_learn (tools/berth list agents does), or set "
    "BERTH_LEARN_LIBRARY",
    "they need PyTorch: tools/setup installs it in a checkout, and pip install 'berth[train]' beside a "
    "wheel"};

const LearnApi& Open() {
  std::string path;
  const auto& api = *static_cast<const LearnApi*>(OpenSideLibrary(kLearners, kLearnApiSymbol, path));
  if (api.version != kLearnApiVersion)
    throw Error(Join(path, ": expected learners of version ", kLearnApiVersion, ", found ", api.version));
  return api;
}

}  // namespace

const LearnApi& OpenLearnLibrary() {
  static const LearnApi& api = Open();
  return api;
}

}  // namespace berth

#include "tools/learn_library.hpp"

#include "env/base/check.hpp"
#include "tools/beside_binary.hpp"

namespace berth {
namespace {

constexpr SideLibrary kLearners{
    "the learners", "libberth_learn.so", "BERTH_LEARN_LIBRARY",
    "this build is without LibTorch; build the target berth_learn (tools/berth does), or set "
    "BERTH_LEARN_LIBRARY"};

const LearnApi& Open() {
  std::string path;
  using Entry = const LearnApi* (*)();
  const LearnApi& api = *reinterpret_cast<Entry>(OpenBesideBinary(kLearners, kLearnApiSymbol, &path))();
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

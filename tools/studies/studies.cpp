#include "tools/studies/studies.hpp"

#include "data/hdf5_file.hpp"

namespace berth {
namespace {

// The library has statics of its own: what main() told the binary's it is told again.
template <int (*verb)(const std::vector<std::string>&)>
int Run(const std::vector<std::string>& arguments, const std::string& commit) {
  h5::SetSourceCommit(commit);
  return verb(arguments);
}

}  // namespace
}  // namespace berth

extern "C" const berth::StudiesApi* berth_studies_api();
extern "C" const berth::StudiesApi* berth_studies_api() {
  using namespace berth;
  static constexpr StudiesApi kApi{kStudiesApiVersion, Run<Bench>, Run<Reproduce>, Run<Size>, Run<Sweep>};
  return &kApi;
}

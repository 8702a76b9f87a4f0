#include "tools/python/python_api.hpp"

#include "env/base/check.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/python_schedulers.hpp"

namespace berth {
namespace {

std::unique_ptr<Scheduler> Make(const std::string& text) {
  static const std::string failure = BeginPython();
  if (!failure.empty()) throw Error(failure);
  return MakePythonFile(text);
}

}  // namespace
}  // namespace berth

extern "C" __attribute__((visibility("default"))) const void* berth_python_api();
extern "C" const void* berth_python_api() {
  static constexpr berth::PythonApi kApi{berth::kPythonApiVersion, berth::Make};
  return &kApi;
}

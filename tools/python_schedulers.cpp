#include "tools/python_schedulers.hpp"

#include <atomic>

#include "tools/side_library.hpp"

namespace berth {
namespace {

constexpr SideLibrary kPython{
    "Python", "libberth_python.so", "BERTH_PYTHON_LIBRARY",
    "tools/setup --python, then configure and build again (cmake --preset release, "
    "the target berth_embedded_python); in an installed wheel it is there for the command berth, not for the "
    "file berth/bin/berth"};

std::atomic<const PythonApi*> given_api{nullptr};

const PythonApi& OpenPython() {
  std::string path;
  const auto& api = *static_cast<const PythonApi*>(OpenSideLibrary(kPython, kPythonApiSymbol, path));
  if (api.version != kPythonApiVersion)
    throw Error(Join(path, ": expected version ", kPythonApiVersion, ", found ", api.version));
  return api;
}

constexpr ParamInfo kParams[] = {{"file", "", "FILE.py:CLASS, a class of berth.Scheduler"}};

std::unique_ptr<Scheduler> Make(Params& params) {
  const std::string text = params.Text("file");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    throw Error(Join("python: file: expected FILE.py:CLASS, found '", text, "'"));
  const PythonApi* api = given_api;
  if (api == nullptr) {
    static const PythonApi& opened = OpenPython();
    api = &opened;
  }
  return api->make(text);
}

}  // namespace

SchedulerTable PythonSchedulers() {
  static const SchedulerInfo kTable[] = {
      {"python", "a class of your own, written in Python; costs what its decide costs",
       "tools/python/README.md", "", Knowledge::kNone, /*preemptive=*/true, kParams, Make}};
  return kTable;
}

void UsePython(const PythonApi& api) {
  given_api = &api;
}

}  // namespace berth

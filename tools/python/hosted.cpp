// The package's module as what the command line opens for the scheduler python(file=...) where it runs within
// Python already (berth_command.py): libberth_command.so has no interpreter of its own then.
#include <Python.h>

#include "env/base/check.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/python_schedulers.hpp"

namespace berth {
namespace {

// "" or why it cannot. Once in a process.
std::string Import() {
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* const package = PyImport_ImportModule("berth");
  const std::string failure = package != nullptr ? "" : Join("cannot import berth: ", TakeRaised());
  Py_XDECREF(package);
  PyGILState_Release(gil);
  return failure;
}

std::unique_ptr<Scheduler> Make(const std::string& text) {
  static const std::string failure = Import();
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

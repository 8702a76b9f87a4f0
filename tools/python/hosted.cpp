// The package's module as what the command line opens for the scheduler python(file=...) where it runs within
// Python already (berth_command.py): libberth_command.so has no interpreter of its own then.
#include <Python.h>

#include "env/base/check.hpp"
#include "tools/python/python_api.hpp"
#include "tools/python/python_scheduler.hpp"

namespace berth {

std::string BeginPython() {
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* const package = PyImport_ImportModule("berth");
  const std::string failure = package != nullptr ? "" : Join("cannot import berth: ", TakeRaised());
  Py_XDECREF(package);
  PyGILState_Release(gil);
  return failure;
}

}  // namespace berth

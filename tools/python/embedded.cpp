// libberth_python.so: an interpreter of Python's within the binary, for the scheduler python(file=...). The
// module berth._berth is this library itself, the rest of the package its files in the sources.
#include <Python.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "env/base/check.hpp"
#include "tools/python/python_api.hpp"
#include "tools/python/python_scheduler.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

// The environment at hand where one is active, else that of the build.
std::string Interpreter() {
  const char* active = std::getenv("VIRTUAL_ENV");
  if (active != nullptr && *active != '\0') return std::string(active) + "/bin/python";
  return BERTH_INTERPRETER;
}

std::string FileOf(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) throw Error("cannot find libberth_python.so");
  return std::filesystem::absolute(info.dli_fname).string();
}

void Flush() {
  (void)PyGILState_Ensure();
  PyRun_SimpleString("import sys; sys.stdout.flush(); sys.stderr.flush()");
}

constexpr const char* kImport = R"(
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.ExtensionFileLoader("berth._berth", library)
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("berth._berth", loader))
loader.exec_module(module)
sys.modules["berth._berth"] = module
sys.path.insert(0, package)
import berth
)";

}  // namespace

std::string BeginPython() {
  // Modules such as NumPy's look for Python's functions among what all can see.
  const std::string python = FileOf(reinterpret_cast<const void*>(&Py_InitializeFromConfig));
  if (dlopen(python.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    return Join("cannot load ", python, ": ", dlerror());
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;  // Ctrl-C ends the verb, as without Python
  const std::string interpreter = Interpreter();
  PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, interpreter.c_str());
  if (PyStatus_Exception(status) == 0) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0)
    return Join("cannot start Python as ", interpreter, ": ", status.err_msg ? status.err_msg : "");
  std::atexit(Flush);
  std::string failure;
  {
    PyObject* const names = PyDict_New();
    const auto set = [names](const char* name, const std::string& text) {
      PyObject* const value = PyUnicode_DecodeFSDefault(text.c_str());
      PyDict_SetItemString(names, name, value);
      Py_DECREF(value);
    };
    set("library", FileOf(reinterpret_cast<const void*>(&BeginPython)));
    set("package", BERTH_PACKAGE);
    PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
    PyObject* const done = PyRun_String(kImport, Py_file_input, names, names);
    if (done == nullptr) {
      failure = TakeRaised();
    }
    Py_XDECREF(done);
    Py_DECREF(names);
  }
  PyEval_SaveThread();  // whoever needs it takes it
  return failure.empty() ? "" : Join("cannot import berth as ", interpreter, " does: ", failure);
}

}  // namespace berth

// The scheduler python(file=FILE.py:CLASS): a class of Python's, in libberth_python.so, which is opened when
// the first one is made. Within the Python package it is the interpreter that is there.
#pragma once

#include "env/sim/scheduler.hpp"

namespace berth {

struct PythonApi {
  int version;  // kPythonApiVersion
  // What `text`, FILE.py:CLASS, names. Throws Error. Thread rule: any thread.
  std::unique_ptr<Scheduler> (*make)(const std::string& text);
};
inline constexpr int kPythonApiVersion = 1;
inline constexpr const char* kPythonApiSymbol = "berth_python_api";  // extern "C" const void* ()

SchedulerTable PythonSchedulers();

// From now on this in place of the library.
void UsePython(const PythonApi& api);

}  // namespace berth

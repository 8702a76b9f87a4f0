// Libraries that lie beside the binary and are opened when somebody first needs them.
#pragma once

#include <filesystem>
#include <string>

namespace berth {

struct SideLibrary {
  const char* holds;        // in messages: "the learners"
  const char* file;         // libberth_learn.so
  const char* variable;     // of the environment, which may name another file; null = none may
  const char* absent;       // what a user does where there is no such file
  const char* broken = "";  // and where it cannot be loaded, behind "; "; "" = nothing can be said
};

// Where the binary `berth` lies, with its libraries beside it, and what to start as another one: the program
// that runs now or, in the command of a wheel, which is a library within Python
// (tools/python/berth_command.py), the file beside that.
std::filesystem::path ProgramFolder();
std::string ProgramFile();

// From now on they are looked for in this folder, no longer beside the running program, which in a Python
// package is Python. Thread rule: before any is opened.
void LookForLibrariesIn(const std::string& folder);

// What the function `symbol` of the library, const void* (), gives, and in `found` the library's file; the
// library stays open. Throws Error when it is missing, cannot be loaded or has no such symbol.
const void* OpenSideLibrary(const SideLibrary& library, const char* symbol, std::string& found);

}  // namespace berth

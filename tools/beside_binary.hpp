// Libraries that a verb opens when it is named and no other verb loads: they lie beside the binary.
#pragma once

#include <string>

namespace berth {

struct SideLibrary {
  const char* holds;     // in messages: "the learners"
  const char* file;      // libberth_learn.so
  const char* variable;  // of the environment, which may name another file; null = none may
  const char* absent;    // what a user does where there is no such file
};

// The address of `symbol` in it; the library stays open. Throws Error when the library is missing, cannot be
// loaded or has no such symbol. `path`, where given, is set to the file's.
void* OpenBesideBinary(const SideLibrary& library, const char* symbol, std::string* path = nullptr);

}  // namespace berth

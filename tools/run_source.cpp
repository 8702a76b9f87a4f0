// Apart from file_hash.cpp, which the Python package has too: what its build is, it says itself.
#include <dlfcn.h>

#include <filesystem>

#include "env/base/check.hpp"
#include "tools/file_hash.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

// The library that this code is a part of (libberth_studies.so, which the program opens); "" = the program.
std::string OwnLibrary() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&RunSource), &own) == 0 || own.dli_fname == nullptr) return "";
  return std::filesystem::path(own.dli_fname).extension() == ".so" ? own.dli_fname : "";
}

}  // namespace

const std::string& RunSource() {
  static const std::string source = [] {
    const std::string commit = SourceCommit();
    if (commit != "unknown" && !commit.ends_with("-dirty")) return commit;
    const std::string program = FileHash("/proc/self/exe"), library = OwnLibrary();
    return Join(commit, "+", library.empty() ? program : TextHash(program + FileHash(library)));
  }();
  return source;
}

}  // namespace berth

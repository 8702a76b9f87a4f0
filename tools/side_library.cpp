#include "tools/side_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr const char* kRunningProgram = "/proc/self/exe";

std::filesystem::path& Folder() {
  static std::filesystem::path folder;
  return folder;
}

std::filesystem::path PathOf(const SideLibrary& library) {
  const char* given = library.variable != nullptr ? std::getenv(library.variable) : nullptr;
  if (given != nullptr && *given != '\0') return given;
  if (!Folder().empty()) return Folder() / library.file;
  return ProgramFolder() / library.file;
}

}  // namespace

std::filesystem::path ProgramFolder() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&ProgramFolder), &own) != 0 && own.dli_fname != nullptr) {
    const std::filesystem::path file = own.dli_fname;
    if (file.extension() == ".so") return std::filesystem::absolute(file).parent_path();
  }
  return std::filesystem::read_symlink(kRunningProgram).parent_path();
}

std::string ProgramFile() {
  const std::filesystem::path folder = ProgramFolder();
  return folder == std::filesystem::read_symlink(kRunningProgram).parent_path() ? kRunningProgram
                                                                                : folder / "berth";
}

void LookForLibrariesIn(const std::string& folder) {
  Folder() = folder;
}

const void* OpenSideLibrary(const SideLibrary& library, const char* symbol, std::string& found) {
  const std::filesystem::path path = PathOf(library);
  if (!std::filesystem::exists(path)) {
    throw Error(
        Join("expected ", library.holds, " in ", path.string(), ", found no such file: ", library.absent));
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(Join("cannot load ", library.holds, ": ", dlerror(), *library.broken != '\0' ? "; " : "",
                     library.broken));
  void* address = dlsym(handle, symbol);
  if (address == nullptr) throw Error(Join(path.string(), ": expected the symbol ", symbol, ", found none"));
  found = path.string();
  return reinterpret_cast<const void* (*)()>(address)();
}

}  // namespace berth

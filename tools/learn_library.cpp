#include "tools/learn_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "env/check.hpp"

namespace berth {
namespace {

std::filesystem::path LibraryPath() {
  if (const char* given = std::getenv("BERTH_LEARN_LIBRARY"); given != nullptr && *given != '\0')
    return given;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libberth_learn.so";
}

const LearnApi& Open() {
  const std::filesystem::path path = LibraryPath();
  if (!std::filesystem::exists(path)) {
    throw Error(Join("expected the learners in ", path.string(),
                     ", found no such file: this build is without LibTorch; ",
                     "build the target berth_learn (tools/berth does), or set BERTH_LEARN_LIBRARY"));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(Join("cannot load the learners: ", dlerror()));
  using Entry = const LearnApi* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kLearnApiSymbol));
  if (entry == nullptr)
    throw Error(Join(path.string(), ": expected the symbol ", kLearnApiSymbol, ", found none"));
  const LearnApi& api = *entry();
  if (api.version != kLearnApiVersion) {
    throw Error(
        Join(path.string(), ": expected learners of version ", kLearnApiVersion, ", found ", api.version));
  }
  return api;
}

}  // namespace

const LearnApi& OpenLearnLibrary() {
  static const LearnApi& api = Open();
  return api;
}

}  // namespace berth

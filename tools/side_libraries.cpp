// Libraries that a verb opens when it is named and no other verb loads: they lie beside the binary.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "env/base/check.hpp"
#include "tools/learn_library.hpp"
#include "tools/studies/studies.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

struct SideLibrary {
  const char* holds;     // in messages: "the learners"
  const char* file;      // libberth_learn.so
  const char* variable;  // of the environment, which may name another file; null = none may
  const char* absent;    // what a user does where there is no such file
};

std::filesystem::path PathOf(const SideLibrary& library) {
  const char* given = library.variable != nullptr ? std::getenv(library.variable) : nullptr;
  if (given != nullptr && *given != '\0') return given;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / library.file;
}

// What the function `symbol` of the library gives, and in `found` the library's file; the library stays open.
// Throws Error when it is missing, cannot be loaded or has no such symbol.
template <class Api>
const Api& OpenBesideBinary(const SideLibrary& library, const char* symbol, std::string& found) {
  const std::filesystem::path path = PathOf(library);
  if (!std::filesystem::exists(path)) {
    throw Error(
        Join("expected ", library.holds, " in ", path.string(), ", found no such file: ", library.absent));
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Error(Join("cannot load ", library.holds, ": ", dlerror()));
  void* address = dlsym(handle, symbol);
  if (address == nullptr) throw Error(Join(path.string(), ": expected the symbol ", symbol, ", found none"));
  found = path.string();
  return *reinterpret_cast<const Api* (*)()>(address)();
}

constexpr SideLibrary kLearners{
    "the learners", "libberth_learn.so", "BERTH_LEARN_LIBRARY",
    "this build is without LibTorch; build the target berth_learn (tools/berth does), or set "
    "BERTH_LEARN_LIBRARY"};

const LearnApi& Open() {
  std::string path;
  const auto& api = OpenBesideBinary<LearnApi>(kLearners, kLearnApiSymbol, path);
  if (api.version != kLearnApiVersion)
    throw Error(Join(path, ": expected learners of version ", kLearnApiVersion, ", found ", api.version));
  return api;
}

constexpr SideLibrary kStudies{"the verbs bench and reproduce", "libberth_studies.so", nullptr,
                               "build the target berth_studies (tools/berth does)"};

const StudiesApi& Studies() {
  std::string path;
  const auto& api = OpenBesideBinary<StudiesApi>(kStudies, kStudiesApiSymbol, path);
  if (api.version != kStudiesApiVersion) {
    throw Error(Join(path, ": expected the studies' version ", kStudiesApiVersion, ", found ", api.version,
                     "; build the target berth_studies"));
  }
  return api;
}

}  // namespace

const LearnApi& OpenLearnLibrary() {
  static const LearnApi& api = Open();
  return api;
}

int RunBench(const std::vector<std::string>& arguments) {
  return Studies().bench(arguments, SourceCommit());
}

int RunReproduce(const std::vector<std::string>& arguments) {
  return Studies().reproduce(arguments, SourceCommit());
}

}  // namespace berth

#include "agents/gpu/cuda/cuda_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "env/base/check.hpp"

namespace berth::cuda {
namespace {

std::filesystem::path LibraryPath() {
  if (const char* given = std::getenv("BERTH_CUDA_LIBRARY"); given != nullptr && *given != '\0') return given;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&OpenCudaLibrary), &info) == 0) return "libberth_cuda.so";
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path() / "libberth_cuda.so";
}

struct Opened {
  const CudaLibrary* library = nullptr;
  std::string why;
};

Opened Open() {
  const std::filesystem::path path = LibraryPath();
  if (!HasCudaLibrary()) return {nullptr, Join("no ", path.string(), ", which the preset cuda builds")};
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, Join(path.string(), " does not load: ", dlerror())};
  using Entry = const CudaLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kCudaLibrarySymbol));
  if (entry == nullptr) return {nullptr, Join(path.string(), ": no symbol ", kCudaLibrarySymbol)};
  const CudaLibrary* api = entry();
  if (api->version != kCudaLibraryVersion)
    return {nullptr,
            Join(path.string(), ": version ", api->version, " where ", kCudaLibraryVersion, " is expected")};
  return {api, ""};
}

}  // namespace

bool HasCudaLibrary() {
  std::error_code ignored;
  return std::filesystem::exists(LibraryPath(), ignored);
}

const CudaLibrary* OpenCudaLibrary(std::string* why) {
  static const Opened opened = Open();
  if (why != nullptr) *why = opened.why;
  return opened.library;
}

}  // namespace berth::cuda

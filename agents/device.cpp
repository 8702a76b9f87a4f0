#include "agents/device.hpp"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "env/check.hpp"
#include "env/spec.hpp"

namespace berth {
namespace {

// We link LibTorch's CPU library alone; its CUDA library registers itself when it is loaded. Only where there
// is a driver: it takes seconds and a gigabyte.
void LoadCudaLibrary() {
  std::error_code ignored;
  if (!std::filesystem::exists("/proc/driver/nvidia/version", ignored)) return;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&torch::cuda::is_available), &info) == 0) return;
  const auto library = std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
  if (std::filesystem::exists(library, ignored)) dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

// "NVIDIA H200" as the driver names its first GPU, or "".
std::string GpuName() {
  std::error_code ignored;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    std::ifstream in(gpu.path() / "information");
    for (std::string line; std::getline(in, line);) {
      const std::size_t colon = line.find(':');
      if (line.rfind("Model", 0) != 0 || colon == std::string::npos) continue;
      const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
      if (begin != std::string::npos) return line.substr(begin);
    }
  }
  return "";
}

}  // namespace

ChosenDevice ChooseDevice(const std::string& wanted) {
  const std::array<std::string, 3> words = {"auto", "cpu", "cuda"};
  if (wanted != words[0] && wanted != words[1] && wanted != words[2]) {
    throw Error(
        Join("--device: expected auto, cpu or cuda, found '", wanted, "'", DidYouMean(wanted, words)));
  }
  if (wanted == "cpu") return {torch::kCPU, "cpu"};
  LoadCudaLibrary();
  if (torch::cuda::is_available()) {
    const std::string name = GpuName();
    return {torch::Device(torch::kCUDA, 0), name.empty() ? "cuda:0" : "cuda:0 (" + name + ")"};
  }
  if (wanted == "cuda") {
    throw Error(Join("--device cuda: expected a CUDA GPU, found none (", DescribeLibTorch(), ")"));
  }
  return {torch::kCPU, "cpu (chosen by auto: no CUDA GPU found)"};
}

std::string DescribeLibTorch() {
  LoadCudaLibrary();  // until then LibTorch knows of no GPU
  return Join("LibTorch ", TORCH_VERSION, torch::cuda::is_available() ? ", CUDA" : ", CPU only");
}

}  // namespace berth

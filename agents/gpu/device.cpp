#include "agents/gpu/device.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agents/gpu/cuda/cuda_library.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "policies/architecture.hpp"

namespace berth {
namespace {

constexpr const char* kDriverVersion = "/proc/driver/nvidia/version";

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05 ...", or "".
std::string Driver() {
  std::ifstream in(kDriverVersion);
  std::string line;
  std::getline(in, line);
  return line;
}

std::filesystem::path CudaLibraryOfLibTorch() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&torch::cuda::is_available), &info) == 0) return {};
  return std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
}

// We link LibTorch's CPU library alone; its CUDA library registers itself when it is loaded. Only where there
// is a driver: it takes seconds and a gigabyte. Gives back "loaded", or why not.
std::string LoadCudaLibrary() {
  static const std::string outcome = []() -> std::string {
    const std::filesystem::path library = CudaLibraryOfLibTorch();
    std::error_code ignored;
    if (!std::filesystem::exists(library, ignored))
      return Join("no libtorch_cuda.so beside ", library.parent_path().string(),
                  ": a LibTorch for CPUs alone");
    if (!std::filesystem::exists(kDriverVersion, ignored)) return "there, not loaded without a driver";
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return "loaded";
    return Join("does not load: ", dlerror(), " (tools/setup --cuda installs what it needs)");
  }();
  return outcome;
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

ChosenDevice ChooseDevice(const std::string& wanted, const std::string& network) {
  const std::array<std::string, 3> words = {"auto", "cpu", "cuda"};
  if (wanted != words[0] && wanted != words[1] && wanted != words[2]) {
    throw Error(
        Join("--device: expected auto, cpu or cuda, found '", wanted, "'", DidYouMean(wanted, words)));
  }
  if (wanted == "cpu") return {torch::kCPU, "cpu"};
  if (wanted == "auto" && !network.empty() && FindArchitecture(ParseSpec(network).name).any_size)
    return {torch::kCPU,
            Driver().empty() ? "cpu" : "cpu (chosen by auto: faster with this network; --device cuda)"};
  LoadCudaLibrary();
  if (torch::cuda::is_available()) {
    const std::string name = GpuName();
    std::string description = name.empty() ? "cuda:0" : "cuda:0 (" + name + ")";
    std::string why;
    if (cuda::OpenCudaLibrary(&why) == nullptr) description += ", LibTorch's operations alone: " + why;
    return {torch::Device(torch::kCUDA, 0), description};
  }
  if (wanted == "cuda") {
    throw Error(DescribeMissing(LookForCuda()));
  }
  return {torch::kCPU, "cpu (chosen by auto: no CUDA GPU found)"};
}

CudaFindings LookForCuda() {
  CudaFindings found;
  found.driver = Driver();
  found.libtorch = LoadCudaLibrary();
  found.gpu = torch::cuda::is_available();
  if (!cuda::HasCudaLibrary()) {
    found.kernels = "without CUDA kernels (the preset cuda builds them)";
  } else {
    found.kernels = "with CUDA kernels";
    std::string why;
    if (found.gpu && cuda::OpenCudaLibrary(&why) == nullptr) found.kernels = why;
  }
  return found;
}

std::string DescribeMissing(const CudaFindings& found) {
  std::string driver = found.driver.empty() ? Join("none (no ", kDriverVersion, ")") : found.driver;
  // All is there, and still: hidden, or taken away.
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!found.driver.empty() && found.libtorch == "loaded" && !found.gpu)
    driver += visible != nullptr ? Join(", but no GPU (CUDA_VISIBLE_DEVICES=", visible, ")") : ", but no GPU";
  return Join("--device cuda: expected a CUDA GPU, found none; driver: ", driver, "; LibTorch ",
              TORCH_VERSION, "'s CUDA library: ", found.libtorch, "; this build: ", found.kernels);
}

int CardOf(int local_rank, int found) {
  if (found == 1 || local_rank < found) return found == 1 ? 0 : local_rank;
  throw Error(Join("LOCAL_RANK: expected 0 to ", found - 1, ", since this machine has ", found,
                   " GPUs, found ", local_rank));
}

std::string DescribeLibTorch() {
  LoadCudaLibrary();  // until then LibTorch knows of no GPU
  return Join("LibTorch ", TORCH_VERSION, torch::cuda::is_available() ? ", CUDA" : ", CPU only");
}

}  // namespace berth

#include "agents/nn/kernels/kernel_table.hpp"

#include <vector>

namespace berth::kernels {
namespace {

const KernelTable*& InUse() {
  static const KernelTable* table = RunnableKernels().front();
  return table;
}

}  // namespace

std::span<const KernelTable* const> RunnableKernels() {
  static const std::vector<const KernelTable*> tables = [] {
    std::vector<const KernelTable*> found;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      found.push_back(&Avx512Kernels());
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&Avx2Kernels());
#endif
    found.push_back(&BaselineKernels());
    return found;
  }();
  return tables;
}

const KernelTable& Kernels() {
  return *InUse();
}

void UseKernels(const KernelTable& table) {
  InUse() = &table;
}

}  // namespace berth::kernels

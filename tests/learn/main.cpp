// Entry point of berth_learn_tests: one intra-op thread, as everywhere in the learners.
#define CATCH_CONFIG_RUNNER
#include <torch/torch.h>

#include <cstdlib>

#include "agents/gpu/device.hpp"
#include "tests/learn/toy_network.hpp"
#include "tests/listener.hpp"

int main(int argc, char** argv) {
  // c10d notes its operations in one recorder a process, whose map of groups is written without a lock. Tests
  // run several ranks as threads of one process, and now and then died of it; a rank of berth is a process.
  setenv("TORCH_FR_BUFFER_SIZE", "0", 1);
  setenv("TORCH_NCCL_TRACE_BUFFER_SIZE", "0", 1);  // its older name
  at::set_num_threads(1);
  // Once asked without its CUDA library LibTorch says for good that there is no GPU: loaded before any test asks.
  berth::DescribeLibTorch();
  const berth::AlsoKnown toy(berth::test::ToyNetwork());
  return Catch::Session().run(argc, argv);
}

// Entry point of berth_learn_tests: one intra-op thread, as everywhere in the learners.
#define CATCH_CONFIG_RUNNER
#include <torch/torch.h>

#include "tests/listener.hpp"

int main(int argc, char** argv) {
  at::set_num_threads(1);
  return Catch::Session().run(argc, argv);
}

// A training that is interrupted while it validates.
#include <atomic>
#include <vector>

#include "agents/train/trainer.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("train: a validation that was cut short is due again when the run goes on") {
  using Steps = std::vector<std::int64_t>;
  for (const std::int64_t cut : {512, 1024}) {  // on the way, and behind the last step
    CAPTURE(cut);
    const test::TemporaryFolder folder;
    std::atomic<bool> interrupted = false;
    Steps asked;
    const auto train = [&](bool resume) {
      CartPole env(4, 0.98, 5);
      TrainRequest request;
      request.agent = "ppo(n_steps=8,minibatch=16,epochs=2)";
      request.network = "mlp(hidden=16)";
      request.env = &env;
      request.steps = 1024;
      request.seed = 5;
      request.device = "cpu";
      request.out_dir = folder / "run";
      request.gpu_types = {"none"};
      request.workload = "cartpole";
      request.resume = resume;
      request.interrupted = &interrupted;
      request.validate_every = 256;
      request.validation_figures = {"validation/greedy"};
      request.on_validate = [&](std::int64_t steps, double, double) {
        asked.push_back(steps);
        interrupted = !resume && steps == cut;
        return std::vector<std::pair<std::string, double>>{{"validation/greedy", 1.0}};
      };
      return Train(request);
    };
    const TrainOutcome first = train(false);
    CHECK(first.interrupted);
    CHECK(first.steps == cut);
    CHECK(asked == (cut == 512 ? Steps{256, 512} : Steps{256, 512, 768, 1024}));
    asked.clear(), interrupted = false;
    const TrainOutcome second = train(true);
    CHECK_FALSE(second.interrupted);
    CHECK(second.steps == 1024);
    CHECK(asked == (cut == 512 ? Steps{512, 768, 1024} : Steps{1024}));
  }
}

}  // namespace berth

// A training that is interrupted while it validates.
#include <atomic>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agents/train/trainer.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/shell.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using ValidatedSteps = std::vector<std::int64_t>;

// Sessions of one training of 1024 steps, 32 a rollout, that is validated every 256.
class Sessions {
 public:
  enum class Wants { kAll, kNothing, kUnasked };

  // Interrupted as it validates after `cut` steps, or after `stop` steps of each of the 4 environments; -1 = never.
  TrainOutcome Run(Wants wants, std::int64_t cut = -1, std::int64_t stop = -1) {
    CartPole env(4, 0.98, 5);
    std::atomic<bool> interrupted = false;
    env.on_step = [&](std::int64_t step) { interrupted = interrupted || step == stop; };
    TrainRequest request;
    request.agent = "ppo(n_steps=8,minibatch=16,epochs=2)";
    request.network = "mlp(hidden=16)";
    request.env = &env;
    request.steps = 1024;
    request.seed = 5;
    request.device = "cpu";
    request.out_dir = run();
    request.gpu_types = {"none"};
    request.workload = "cartpole";
    request.resume = std::filesystem::exists(run() + "/checkpoint.h5");
    request.interrupted = &interrupted;
    request.validate_every = 256;
    request.validation_figures = {"validation/greedy"};
    if (wants != Wants::kUnasked) request.wants_validation = [wants](double, double) { return wants == Wants::kAll; };
    validated.clear();
    request.on_validate = [&](std::int64_t steps, double, double) {
      validated.push_back(steps);
      interrupted = interrupted || steps == cut;
      return std::vector<std::pair<std::string, double>>{{"validation/greedy", 1.0}};
    };
    return Train(request);
  }

  // Files for TensorBoard that have a validation.
  int Logs() const {
    int logs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(run())) {
      const std::string path = entry.path().string();
      if (path.find("tfevents") != std::string::npos && test::ReadAll(path).find("validation/greedy") != std::string::npos) ++logs;
    }
    return logs;
  }

  ValidatedSteps validated;  // in the last session

 private:
  std::string run() const { return folder_ / "run"; }
  test::TemporaryFolder folder_;
};
using Wants = Sessions::Wants;

}  // namespace

TEST_CASE("train: a validation that was cut short is due again when the run goes on") {
  for (const Wants wants : {Wants::kAll, Wants::kUnasked}) {
    for (const std::int64_t cut : {512, 1024}) {  // on the way, and behind the last step
      CAPTURE(wants == Wants::kAll, cut);
      Sessions sessions;
      const TrainOutcome first = sessions.Run(wants, cut);
      CHECK(first.interrupted);
      CHECK(first.steps == cut);
      CHECK(sessions.validated == (cut == 512 ? ValidatedSteps{256, 512} : ValidatedSteps{256, 512, 768, 1024}));
      CHECK(sessions.Logs() == 1);
      const TrainOutcome second = sessions.Run(wants);
      CHECK_FALSE(second.interrupted);
      CHECK(second.steps == 1024);
      CHECK(sessions.validated == (cut == 512 ? ValidatedSteps{512, 768, 1024} : ValidatedSteps{1024}));
      CHECK(sessions.Logs() == 2);
      // Who is asked whether it is wanted is asked once.
      CHECK_FALSE(sessions.Run(wants).interrupted);
      CHECK(sessions.validated == (wants == Wants::kAll ? ValidatedSteps{} : ValidatedSteps{1024}));
    }
  }
}

TEST_CASE("train: interrupted in its last steps, a run is validated when it is resumed") {
  for (const Wants wants : {Wants::kAll, Wants::kUnasked}) {
    CAPTURE(wants == Wants::kAll);
    Sessions sessions;
    const TrainOutcome first = sessions.Run(wants, -1, 250);  // of 256, in the last rollout
    CHECK(first.interrupted);
    CHECK(first.steps == 1024);
    CHECK((sessions.validated == ValidatedSteps{256, 512, 768}));
    CHECK(sessions.Run(wants, 1024).interrupted);  // and again
    CHECK((sessions.validated == ValidatedSteps{1024}));
    CHECK_FALSE(sessions.Run(wants).interrupted);
    CHECK((sessions.validated == ValidatedSteps{1024}));
  }
}

TEST_CASE("train: a validation of a run that ended without one is cut short like any other") {
  Sessions sessions;
  CHECK_FALSE(sessions.Run(Wants::kNothing).interrupted);
  CHECK((sessions.validated == ValidatedSteps{}));
  CHECK_FALSE(sessions.Run(Wants::kAll).interrupted);  // it was not wanted: nothing is due
  CHECK((sessions.validated == ValidatedSteps{}));
  CHECK(sessions.Logs() == 0);
  CHECK(sessions.Run(Wants::kUnasked, 1024).interrupted);
  CHECK((sessions.validated == ValidatedSteps{1024}));
  CHECK_FALSE(sessions.Run(Wants::kUnasked).interrupted);
  CHECK((sessions.validated == ValidatedSteps{1024}));
}

}  // namespace berth

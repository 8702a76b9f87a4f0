// CartPole, Acrobot and MountainCar step for step as Gymnasium's own code plays them.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "agents/tasks/classic_control.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

const std::string kFolder = BERTH_SOURCE_DIR "/tests/classic_control/";

double Next(std::istringstream& line) {
  std::string word;
  line >> word;
  return std::strtod(word.c_str(), nullptr);  // hexadecimal too
}

// The same to the bit, or in the last two: sine and cosine of another C library may round otherwise.
void SameButForTheLibrary(double found, double expected) {
  CHECK(std::abs(found - expected) <= std::ldexp(std::max(1.0, std::abs(expected)), -50));
}

template <class Dynamics>
void CheckStep(std::istringstream& line) {
  const int action = static_cast<int>(Next(line));
  typename Dynamics::State state;
  for (double& x : state) x = Next(line);
  std::string arrow;
  line >> arrow;
  REQUIRE(arrow == "->");
  const Transition found = Dynamics::Step(state, action);
  CHECK(static_cast<double>(found.reward) == Next(line));
  CHECK(found.terminated == (Next(line) != 0.0));
  for (const double x : state) SameButForTheLibrary(x, Next(line));
  float row[Dynamics::kObservation];
  Dynamics::Observe(state, row);
  for (const float x : row) CHECK(x == static_cast<float>(Next(line)));
  REQUIRE(!line.fail());
}

// Runs an environment with a fixed sequence of actions; the returns and lengths of its episodes are as
// stated.
template <class Env>
void CheckEpisodes(double reward_of_a_step, double reward_of_the_last, bool ends_by_itself) {
  constexpr int kEnvs = 3;
  Env env(kEnvs, 0.9, 4);
  const int width = env.layout().size();
  StepStorage storage(kEnvs, width, env.num_actions());
  env.Reset(storage.buffers());
  CHECK(std::all_of(storage.action_mask.begin(), storage.action_mask.end(), [](auto m) { return m == 1; }));
  Stream draw(1, Purpose::kTest);
  std::vector<std::int32_t> actions(kEnvs);
  std::vector<int> length(kEnvs, 0);
  double sum = 0.0;
  std::int64_t episodes = 0;
  for (int t = 0; t < 3 * Env::kTimeLimit; ++t) {
    for (std::int32_t& a : actions)
      a = static_cast<std::int32_t>(draw.Below(static_cast<std::uint32_t>(env.num_actions())));
    env.Step(actions, storage.buffers());
    for (std::size_t i = 0; i < kEnvs; ++i) {
      ++length[i];
      CHECK(storage.discount[i] == 0.9F);
      CHECK((storage.truncated[i] != 0) == (length[i] == Env::kTimeLimit));
      const double expected = storage.terminated[i] ? reward_of_the_last : reward_of_a_step;
      CHECK(static_cast<double>(storage.reward[i]) == expected);
      if (!storage.terminated[i] && !storage.truncated[i]) continue;
      sum += (length[i] - 1) * reward_of_a_step + expected;
      ++episodes;
      length[i] = 0;
    }
  }
  const EpisodeStats stats = env.TakeStats();
  CHECK(stats.episodes == episodes);
  CHECK(stats.return_sum == Approx(sum));
  CHECK((episodes > 9) == ends_by_itself);  // three a copy at the time limit
  // What is saved comes back.
  const auto saved = env.SaveState();
  Env other(kEnvs, 0.9, 77);
  StepStorage again(kEnvs, width, env.num_actions());
  other.LoadState(saved, again.buffers());
  CHECK(again.observation == storage.observation);
  CHECK_THROWS_WITH(other.LoadState(std::span(saved).first(8), again.buffers()), Catch::Contains("found 8"));
}

}  // namespace

TEST_CASE("classic control: every step is Gymnasium's") {
  std::ifstream file(kFolder + "transitions.txt");
  int cart_pole = 0, acrobot = 0, mountain_car = 0;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    CAPTURE(text);
    std::istringstream line(text);
    std::string task;
    line >> task;
    if (task == "CartPole-v1") CheckStep<CartPoleDynamics>(line), ++cart_pole;
    if (task == "Acrobot-v1") CheckStep<AcrobotDynamics>(line), ++acrobot;
    if (task == "MountainCar-v0") CheckStep<MountainCarDynamics>(line), ++mountain_car;
  }
  CHECK(cart_pole == 16);
  CHECK(acrobot == 18);
  CHECK(mountain_car == 18);
}

TEST_CASE("classic control: the recorded steps are those of the installed Gymnasium") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "gymnasium, numpy");
  if (python.empty()) return test::Skip("needs Python with gymnasium (berth bench --peers installs it)");
  const test::TemporaryFolder folder;
  const std::string found = folder / "found.txt";
  REQUIRE(std::system(("'" + python + "' -B '" + kFolder + "transitions.py' > '" + found + "'").c_str()) ==
          0);
  const auto lines = [](const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) {
      if (line[0] != '#') all.push_back(line);  // the first names the version
    }
    return all;
  };
  CHECK(lines(found) == lines(kFolder + "transitions.txt"));
}

TEST_CASE("classic control: starts, time limits, returns and saved states") {
  CheckEpisodes<CartPole>(1.0, 1.0, true);
  CheckEpisodes<Acrobot>(-1.0, 0.0, false);  // at random it stays down for 500 steps on these seeds
  CheckEpisodes<MountainCar>(-1.0, -1.0, false);
  Stream stream(3, Purpose::kTest);
  for (int k = 0; k < 200; ++k) {
    for (const double x : CartPoleDynamics::Start(stream)) CHECK((x >= -0.05 && x < 0.05));
    for (const double x : AcrobotDynamics::Start(stream)) CHECK(std::abs(x) <= 0.1F);
    const auto [position, velocity] = MountainCarDynamics::Start(stream);
    CHECK((position >= -0.6 && position < -0.4));
    CHECK(velocity == 0.0);
  }
}

}  // namespace berth

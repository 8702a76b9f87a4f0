// What berth train shows: a panel above the bar on a terminal, plain lines elsewhere.
#include "tools/train_view.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/progress.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TrainProgress At(double value) {
  TrainProgress now;
  now.steps_per_s = 1000.0 * value;
  now.recent_return = -value, now.recent_metric = 10.0 * value;
  now.env_share = 0.5, now.act_share = 0.2, now.learn_share = 0.3;
  now.backlog_begin = now.backlog_end = kNaN;
  now.losses = {{"losses/policy_loss", 0.0125}, {"losses/value_loss", 1.5}, {"charts/learning_rate", 3e-4}};
  return now;
}

// What a terminal shows of `text`: lines, after \r, "erase to the end of the line" and "up a line".
std::vector<std::string> Screen(const std::string& text) {
  std::vector<std::string> lines(1);
  std::size_t row = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "\033[K") == 0) {
      lines[row].clear(), i += 2;  // berth erases from the first column alone
    } else if (text.compare(i, 3, "\033[A") == 0) {
      REQUIRE(row > 0);
      --row, i += 2;
    } else if (text[i] == '\n') {
      if (++row == lines.size()) lines.emplace_back();
    } else if (text[i] != '\r') {
      lines[row] += text[i];
    }
  }
  return lines;
}

std::string Shown(bool terminal, bool destroyed) {
  const test::TemporaryFolder folder;
  std::FILE* file = std::fopen((folder / "shown").c_str(), "w");
  REQUIRE(file != nullptr);
  std::string text;
  {
    Progress progress("train", file, terminal);
    TrainView view("mean JCT");
    for (int i = 1; i <= 3; ++i) {
      view.Add(At(i));
      progress.Update(0.1 * i, "detail", view.Lines());
      if (terminal) {  // it refreshes ten times a second
        const auto begin = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(110))
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        progress.Update(0.1 * i, "detail", view.Lines());
      }
    }
    std::fflush(file);
    text = test::Slurp(folder / "shown");
  }
  std::fflush(file);
  if (destroyed) text = test::Slurp(folder / "shown");
  std::fclose(file);
  return text;
}

}  // namespace

TEST_CASE("progress: so many a second, in words") {
  CHECK(RateText(50, 4.0, "runs") == "12.50 runs/s");
  CHECK(RateText(0, 0.0, "runs") == "0.00 runs/s");
  CHECK(RateText(1e6, 2.0, "jobs") == "500,000 jobs/s");
}

TEST_CASE("train view: sparklines") {
  CHECK(Sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8) == "▁▂▃▄▅▆▇█");
  CHECK(Sparkline({9, 0, 7}, 2) == "▁█");  // the last two
  CHECK(Sparkline({5, 5}, 4) == "  ▁▁");   // no spread, on the right
  CHECK(Sparkline({1, kNaN, 2}, 3) == "▁ █");
  CHECK(Sparkline({}, 2) == "  ");
}

TEST_CASE("train view: returns, metric, losses, steps and shares of time") {
  TrainView view("mean JCT");
  CHECK(view.Lines().empty());
  view.Add(At(1)), view.Add(At(2));
  const std::vector<std::string> lines = view.Lines();
  REQUIRE(lines.size() == 5);
  const std::string blank(30, ' ');
  CHECK(lines[0] == "return      " + blank + "█▁  -2.00   of the last episodes");
  CHECK(lines[1] == "mean JCT    " + blank + "▁█  20.00");
  CHECK(lines[2] == "steps/s     " + blank + "▁█  2,000");
  CHECK(lines[3] == "losses      policy_loss 0.0125   value_loss 1.5");
  CHECK(lines[4] ==
        "time        environment #####..... 50%   acting ##........ 20%   learning ###....... 30%");
  TrainProgress first = At(1);
  first.recent_return = first.recent_metric = kNaN;
  first.running_return = -7.0, first.losses.clear();
  TrainView early("mean JCT");
  early.Add(first);
  CHECK(early.Lines().size() == 4);  // nothing was learnt yet
  CHECK(early.Lines()[0].find("-7.00   so far, in the first episodes") != std::string::npos);
}

TEST_CASE("train view: what learning meets, in words") {
  TrainProgress now = At(1.0);
  CHECK(Meanwhile(now).empty());
  now.losses.insert(now.losses.end(), {{"losses/entropy_share", 0.312}, {"losses/arrivals_share", 0.04}});
  now.backlog_begin = 9.6, now.backlog_end = 14.2;
  CHECK(Meanwhile(now) == "entropy 31% of a uniform draw's, arrivals explain 4% of the advantage, episodes begin "
                          "with 10 jobs and end with 14");
  TrainView view("metric");
  view.Add(now);
  const std::vector<std::string> lines = view.Lines();
  CHECK(std::count(lines.begin(), lines.end(), "meanwhile   " + Meanwhile(now)) == 1);
}

TEST_CASE("train view: a terminal shows the last panel and the bar, and neither in the end") {
  const std::vector<std::string> screen = Screen(Shown(/*terminal=*/true, /*destroyed=*/false));
  REQUIRE(screen.size() == 6);
  CHECK(screen[0].find("-3.00   of the last episodes") != std::string::npos);
  CHECK(screen[4].rfind("time        environment #####", 0) == 0);
  CHECK(screen[5].rfind("train [#######", 0) == 0);
  for (const std::string& line : Screen(Shown(true, true))) CHECK(line.empty());
}

TEST_CASE("train view: without a terminal there are no control characters and no panel") {
  const std::string text = Shown(/*terminal=*/false, /*destroyed=*/true);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find("losses") == std::string::npos);
}

}  // namespace berth

#include "tools/train_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "env/base/check.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr std::size_t kHistory = 3600;  // an hour of seconds
constexpr std::size_t kSparkWidth = 32;
constexpr std::size_t kMostLosses = 4;  // that fit on a line
constexpr std::size_t kStageWidth = 10;

void Keep(std::vector<double>& values, double value) {
  if (values.size() == kHistory) values.erase(values.begin());
  values.push_back(value);
}

std::string Labelled(const std::string& label, const std::vector<double>& history, double now) {
  std::string line = label;
  line.resize(12, ' ');
  return line + Sparkline(history, kSparkWidth) + "  " + Readable(now);
}

std::string Stage(const char* name, double share) {
  const double within = std::clamp(share, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(within * kStageWidth));
  char percent[16];
  std::snprintf(percent, sizeof percent, " %.0f%%", 100.0 * share);
  return std::string(name) + " " + std::string(filled, '#') + std::string(kStageWidth - filled, '.') +
         percent;
}

std::string Losses(const TrainProgress& now) {
  std::string line;
  std::size_t shown = 0;
  for (const auto& [name, value] : now.losses) {
    if (name.rfind("losses/", 0) != 0 || shown++ == kMostLosses) continue;
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    line += (line.empty() ? "" : "   ") + name.substr(name.find('/') + 1) + " " + text;
  }
  return line;
}

}  // namespace

double Figure(const TrainProgress& now, const std::string& wanted) {
  for (const auto& [name, value] : now.losses) {
    if (name == wanted) return value;
  }
  return NAN;
}

std::string Meanwhile(const TrainProgress& now) {
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  const auto percent = [](double share) { return Join(Fixed(100.0 * share, 0), "%"); };
  const double entropy = Figure(now, "losses/entropy_share"), arrivals = Figure(now, "losses/arrivals_share");
  if (!std::isnan(entropy)) add(Join("entropy ", percent(entropy), " of a uniform draw's"));
  if (!std::isnan(arrivals)) add(Join("arrivals explain ", percent(arrivals), " of the advantage"));
  if (!std::isnan(now.backlog_end))
    add(Join("episodes begin with ", Fixed(now.backlog_begin, 0), " jobs and end with ",
             Fixed(now.backlog_end, 0)));
  return text;
}

std::string Sparkline(const std::vector<double>& values, std::size_t width) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(values.size(), width);
  const auto begin = std::prev(values.end(), static_cast<std::ptrdiff_t>(count));
  double low = INFINITY, high = -INFINITY;
  for (auto it = begin; it != values.end(); ++it) {
    if (std::isnan(*it)) continue;
    low = std::min(low, *it), high = std::max(high, *it);
  }
  std::string line(width - count, ' ');
  for (auto it = begin; it != values.end(); ++it) {
    const double level = high > low ? (*it - low) / (high - low) : 0.0;
    line += std::isnan(*it) ? " " : kBlocks[std::lround(level * (std::size(kBlocks) - 1))];
  }
  return line;
}

void TrainView::Add(const TrainProgress& now) {
  last_ = now;
  const bool ended = !std::isnan(now.recent_return);
  Keep(returns_, ended ? now.recent_return : now.running_return);
  Keep(metrics_, (ended ? now.recent_metric : now.running_metric) / unit_);
  Keep(rates_, now.steps_per_s);
}

std::vector<std::string> TrainView::Lines(const std::vector<std::string>& notes) const {
  if (returns_.empty()) return {};
  const std::string of =
      std::isnan(last_.recent_return) ? "   so far, in the first episodes" : "   of the last episodes";
  std::vector<std::string> lines = {Labelled("return", returns_, returns_.back()) + of,
                                    Labelled(metric_, metrics_, metrics_.back()),
                                    Labelled("steps/s", rates_, rates_.back())};
  const std::string losses = Losses(last_);
  if (!losses.empty()) lines.push_back("losses      " + losses);
  if (const std::string meanwhile = Meanwhile(last_); !meanwhile.empty())
    lines.push_back("meanwhile   " + meanwhile);
  lines.push_back("time        " + Stage("environment", last_.env_share) + "   " +
                  Stage("acting", last_.act_share) + "   " + Stage("learning", last_.learn_share));
  lines.insert(lines.end(), notes.begin(), notes.end());
  return lines;
}

}  // namespace berth

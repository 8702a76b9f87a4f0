#include "tests/plain_observation.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/run_times.hpp"

namespace berth::test {
namespace {

constexpr int kJ = 11, kP = 6, kT = 5;

float LogMinutes(double seconds) {
  return static_cast<float>(Log(1.0 + std::max(seconds, 0.0) / 60.0) / 10.0);
}

float Tanh(double x) {
  const double e = Exp(-2.0 * std::abs(x));
  const double t = (1.0 - e) / (1.0 + e);
  return static_cast<float>(x < 0.0 ? -t : t);
}

}  // namespace

std::vector<float> PlainObservationV1(const ObservationInput& input, const MdpSpec& mdp,
                                      const ObservationLayout& layout) {
  const ClusterView& view = input.view;
  std::vector<float> out(U(layout.size()));
  const int types = view.num_types();
  const bool sighted = mdp.knowledge >= Knowledge::kEstimate;
  const bool attains = mdp.knowledge >= Knowledge::kBlind;
  const double now = view.now();
  double remaining = 0.0, age = 0.0;

  for (std::size_t row = 0; row < input.visible.size(); ++row) {
    const int job = input.visible[row];
    const double best = view.BestRate(job);
    const double steps = sighted ? view.RemainingSteps(job) : 0.0;
    const std::span<const double> rates = view.Rates(job);
    int able = 0;
    double sum = 0.0;
    for (double rate : rates) {
      able += rate > 0.0;
      sum += rate;
    }
    float* f = out.data() + layout.jobs_offset() + row * kJ;
    f[0] = 1.0f;
    f[1] = view.IsRunning(job) ? 1.0f : 0.0f;
    f[2] = sighted ? LogMinutes(steps / best) : 0.0f;
    f[3] = attains ? LogMinutes(view.AttainedSeconds(job)) : 0.0f;
    f[4] = LogMinutes(now - view.Arrival(job));
    f[5] = static_cast<float>(Log2(view.Gang(job)) / 5.0);
    f[6] = static_cast<float>(Log(view.Weight(job)) / 3.0);
    f[7] = view.Deadline(job) < kNever ? 1.0f : 0.0f;
    f[8] = view.Deadline(job) < kNever ? Tanh((view.Deadline(job) - now) / 86400.0) : 1.0f;
    f[9] = static_cast<float>(able) / static_cast<float>(types);
    f[10] = std::isnan(view.Requested(job)) ? 0.0f : LogMinutes(view.Requested(job));
    remaining += f[2];
    age += f[4];

    float* p = out.data() + layout.pairs_offset() + row * U(types) * kP;
    for (int type = 0; type < types; ++type, p += kP) {
      const double rate = rates[U(type)];
      if (rate <= 0.0) continue;
      p[0] = 1.0f;
      p[1] = static_cast<float>(rate / best);
      p[2] = static_cast<float>(std::clamp(Log(rate * able / sum), -3.0, 3.0) / 3.0);
      p[3] = sighted ? LogMinutes(steps / rate) : 0.0f;
      p[4] = view.TypeOf(job) == type ? 1.0f : 0.0f;
      p[5] = static_cast<float>(
          std::min(1.0, static_cast<double>(view.Gang(job)) / view.types()[U(type)].count));
    }
  }

  // Of all candidates: what each type is wanted for, and what lies beyond the visible.
  float* t = out.data() + layout.types_offset();
  double demand = 0.0, demand_visible = 0.0;
  for (int job : input.candidates) {
    const int gang = view.Gang(job);
    demand += gang;
    const std::span<const double> rates = view.Rates(job);
    const double best = view.BestRate(job);
    const auto favourite = std::max_element(rates.begin(), rates.end()) - rates.begin();
    t[favourite * kT + 3] += static_cast<float>(gang);
    for (int type = 0; type < types; ++type) t[type * kT + 4] += static_cast<float>(rates[U(type)] / best);
  }
  for (int job : input.visible) demand_visible += view.Gang(job);
  int idle = 0;
  const auto count = static_cast<float>(std::max<std::size_t>(input.candidates.size(), 1));
  for (int type = 0; type < types; ++type, t += kT) {
    const double gpus = view.types()[U(type)].count;
    idle += input.room[U(type)];
    t[0] = static_cast<float>(Log2(gpus) / 10.0);
    t[1] = static_cast<float>(gpus / view.num_gpus());
    t[2] = static_cast<float>(input.room[U(type)] / gpus);
    t[3] = static_cast<float>(Log(1.0 + static_cast<double>(t[3]) / gpus));
    t[4] /= count;
  }
  float* g = out.data() + layout.global_offset();
  const double gpus = view.num_gpus();
  const auto seen = static_cast<double>(std::max<std::size_t>(input.visible.size(), 1));
  g[0] = static_cast<float>(Log(1.0 + static_cast<double>(input.candidates.size())) / 5.0);
  g[1] = static_cast<float>(Log(1.0 + demand / gpus));
  g[2] = static_cast<float>(Log(1.0 + static_cast<double>(input.candidates.size() - input.visible.size())) /
                            5.0);
  g[3] = static_cast<float>(Log(1.0 + (demand - demand_visible) / gpus));
  g[4] = static_cast<float>(idle / gpus);
  g[5] = static_cast<float>(remaining / seen);
  g[6] = static_cast<float>(age / seen);
  return out;
}

std::vector<int> PlainRlSchedulerVisible(const ClusterView& view, std::vector<int> waiting, int queue) {
  if (static_cast<int>(waiting.size()) <= queue) return waiting;
  const auto by = [&](auto key) {
    std::stable_sort(waiting.begin(), waiting.end(), [&](int a, int b) { return key(a) < key(b); });
    return waiting;
  };
  const auto seconds = [&](int job) { return RequestedSeconds(view, job); };
  // The original sorts one list by F1, F2, shortest, smallest, each time stably. Of jobs submitted at one
  // instant with the same request, F2 has the smaller gang first.
  by([&](int job) { return std::sqrt(seconds(job)) * view.Gang(job); });
  const std::vector<int> shortest = by([&](int job) { return std::pair(seconds(job), view.Arrival(job)); });
  const std::vector<int> smallest = by([&](int job) { return std::pair(view.Gang(job), view.Arrival(job)); });
  std::vector<int> visible;
  for (std::size_t i = 0; static_cast<int>(visible.size()) < queue; ++i) {
    for (int job : {shortest[i], smallest[i]}) {
      const bool seen = std::find(visible.begin(), visible.end(), job) != visible.end();
      if (!seen && static_cast<int>(visible.size()) < queue) visible.push_back(job);
    }
  }
  return visible;
}

std::vector<float> PlainRlScheduler(const ObservationInput& input, double longest, int queue) {
  std::vector<float> out;
  for (int row = 0; row < queue; ++row) {
    if (row >= static_cast<int>(input.visible.size())) {
      for (double x : {0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0}) out.push_back(static_cast<float>(x));
      continue;
    }
    const int job = input.visible[U(row)];
    const auto scaled = [](double x, double most) { return std::min(x / most, 1.0 - 1e-5); };
    const bool fits = input.view.Gang(job) <= input.room[0];
    for (double x : {scaled(input.view.now() - input.view.Arrival(job), 12 * 60 * 60.0),
                     scaled(RequestedSeconds(input.view, job), longest),
                     scaled(input.view.Gang(job), input.view.num_gpus()), 1.0, 1.0, 1.0, 1.0,
                     fits ? 1.0 - 1e-5 : 1e-5}) {
      out.push_back(static_cast<float>(x));
    }
  }
  return out;
}

}  // namespace berth::test

#include "env/observation.hpp"

#include <algorithm>
#include <cmath>

#include "env/portable_math.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

constexpr ChannelInfo kJobChannels[] = {
    {"present", "1 = this row is a job", 0, 1},
    {"running", "1 = it runs now", 0, 1},
    {"remaining", "ln(1 + remaining time on its fastest type / 60 s) / 10; 0 when blind", 0, 2},
    {"attained", "ln(1 + attained service / 60 s) / 10", 0, 2},
    {"age", "ln(1 + time since arrival / 60 s) / 10", 0, 2},
    {"gang", "log2(gang size) / 5", 0, 3},
    {"weight", "ln(weight) / 3", -3, 3},
    {"has_deadline", "1 = it has a deadline", 0, 1},
    {"slack", "tanh((deadline - now) / 1 day); 1 without a deadline", -1, 1},
    {"choice", "share of GPU types that can run it", 0, 1},
    {"requested", "ln(1 + requested run time / 60 s) / 10; 0 without a request", 0, 2},
};
constexpr ChannelInfo kPairChannels[] = {
    {"can_run", "1 = the type can run the gang", 0, 1},
    {"speed", "rate over the job's best rate", 0, 1},
    {"advantage", "ln(rate / the job's mean rate over types that can run it), within [-3, 3], / 3", -1, 1},
    {"remaining", "ln(1 + remaining time on this type / 60 s) / 10; 0 when blind or it cannot run", 0, 2},
    {"here", "1 = it runs on this type now", 0, 1},
    {"share", "gang size over the GPUs of the type, at most 1", 0, 1},
};
constexpr ChannelInfo kTypeChannels[] = {
    {"count", "log2(GPUs of the type) / 10", 0, 2},
    {"share", "share of the cluster's GPUs", 0, 1},
    {"idle", "idle share of the type before the decision", 0, 1},
    {"wanted", "ln(1 + GPUs wanted by candidates that run fastest here / GPUs of the type)", 0, 10},
    {"speed", "mean speed (rate over best rate) of the candidates here", 0, 1},
};
constexpr ChannelInfo kGlobalChannels[] = {
    {"candidates", "ln(1 + candidates) / 5", 0, 3},
    {"demand", "ln(1 + GPUs wanted by the candidates / GPUs)", 0, 10},
    {"beyond", "ln(1 + candidates beyond the visible) / 5", 0, 3},
    {"demand_beyond", "ln(1 + GPUs wanted beyond the visible / GPUs)", 0, 10},
    {"idle", "idle share of the cluster before the decision", 0, 1},
    {"remaining", "mean of the job channel 'remaining' over the visible", 0, 2},
    {"age", "mean of the job channel 'age' over the visible", 0, 2},
};

constexpr int kJ = static_cast<int>(std::size(kJobChannels));
constexpr int kP = static_cast<int>(std::size(kPairChannels));
constexpr int kT = static_cast<int>(std::size(kTypeChannels));
constexpr int kG = static_cast<int>(std::size(kGlobalChannels));
static_assert(kJ == 11 && kP == 6 && kT == 5 && kG == 7, "ObservationV1 is never edited: make a V2");

float LogMinutes(double seconds) {
  return static_cast<float>(Log(1.0 + std::max(seconds, 0.0) / 60.0) / 10.0);
}

// A rational tanh stand-in would change the range; exp is ours, so tanh is too.
float Tanh(double x) {
  const double e = Exp(-2.0 * std::abs(x));
  const double t = (1.0 - e) / (1.0 + e);
  return static_cast<float>(x < 0.0 ? -t : t);
}

struct Averages {
  double remaining = 0.0, age = 0.0;
};

}  // namespace

std::span<const ChannelInfo> ObservationV1::JobChannels() {
  return kJobChannels;
}
std::span<const ChannelInfo> ObservationV1::PairChannels() {
  return kPairChannels;
}
std::span<const ChannelInfo> ObservationV1::TypeChannels() {
  return kTypeChannels;
}
std::span<const ChannelInfo> ObservationV1::GlobalChannels() {
  return kGlobalChannels;
}

ObservationLayout ObservationV1::Layout(int q, int g) {
  return {q, g, kJ, kP, kT, kG};
}

void ObservationV1::Encode(const ClusterView& view, const MdpSpec& mdp, std::span<const int> candidates,
                           std::span<const int> visible, const ObservationLayout& layout,
                           std::span<float> out) {
  BERTH_CHECK(static_cast<int>(out.size()) == layout.size() && static_cast<int>(visible.size()) <= layout.q &&
                  layout.g == view.num_types(),
              out.size(), " floats, ", visible.size(), " jobs, layout of ", layout.q, " x ", layout.g);
  std::fill(out.begin(), out.end(), 0.0f);
  const int types = view.num_types();
  const bool sighted = mdp.knowledge >= Knowledge::kEstimate;
  const bool attains = mdp.knowledge >= Knowledge::kBlind;
  const double now = view.now();
  Averages average;

  for (std::size_t row = 0; row < visible.size(); ++row) {
    const int job = visible[row];
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
    average.remaining += f[2];
    average.age += f[4];

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
  for (int job : candidates) {
    const int gang = view.Gang(job);
    demand += gang;
    const std::span<const double> rates = view.Rates(job);
    const double best = view.BestRate(job);
    const auto favourite = std::max_element(rates.begin(), rates.end()) - rates.begin();
    t[favourite * kT + 3] += static_cast<float>(gang);
    for (int type = 0; type < types; ++type) t[type * kT + 4] += static_cast<float>(rates[U(type)] / best);
  }
  for (int job : visible) demand_visible += view.Gang(job);
  int idle = 0;
  const auto count = static_cast<float>(std::max<std::size_t>(candidates.size(), 1));
  for (int type = 0; type < types; ++type, t += kT) {
    const double gpus = view.types()[U(type)].count;
    idle += view.free_gpus()[U(type)];
    t[0] = static_cast<float>(Log2(gpus) / 10.0);
    t[1] = static_cast<float>(gpus / view.num_gpus());
    t[2] = static_cast<float>(view.free_gpus()[U(type)] / gpus);
    t[3] = static_cast<float>(Log(1.0 + static_cast<double>(t[3]) / gpus));
    t[4] /= count;
  }
  float* g = out.data() + layout.global_offset();
  const double gpus = view.num_gpus();
  const auto seen = static_cast<double>(std::max<std::size_t>(visible.size(), 1));
  g[0] = static_cast<float>(Log(1.0 + static_cast<double>(candidates.size())) / 5.0);
  g[1] = static_cast<float>(Log(1.0 + demand / gpus));
  g[2] = static_cast<float>(Log(1.0 + static_cast<double>(candidates.size() - visible.size())) / 5.0);
  g[3] = static_cast<float>(Log(1.0 + (demand - demand_visible) / gpus));
  g[4] = static_cast<float>(idle / gpus);
  g[5] = static_cast<float>(average.remaining / seen);
  g[6] = static_cast<float>(average.age / seen);
}

bool PassesOver(const ClusterView& view, const MdpSpec& mdp) {
  if ((mdp.preemptive ? view.active() : view.waiting()).empty()) return true;
  return mdp.on_change && view.arrived().empty() && view.completed().empty();
}

void SelectCandidates(const ClusterView& view, const MdpSpec& mdp, int q, std::vector<int>& candidates,
                      std::vector<int>& visible) {
  const std::span<const int> source = mdp.preemptive ? view.active() : view.waiting();
  candidates.assign(source.begin(), source.end());
  if (mdp.order == QueueOrder::kShortest) {
    const bool sighted = mdp.knowledge >= Knowledge::kEstimate;
    const auto key = [&](int job) {
      if (sighted) return view.RemainingSteps(job) / view.BestRate(job);
      return mdp.knowledge >= Knowledge::kBlind ? view.AttainedSeconds(job) : view.Arrival(job);
    };
    std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) { return key(a) < key(b); });
  }
  const auto n = static_cast<int>(candidates.size());
  visible.clear();
  if (n <= q) {
    visible = candidates;
    return;
  }
  const int head = (q + 1) / 2;
  visible.insert(visible.end(), candidates.begin(), candidates.begin() + head);
  visible.insert(visible.end(), candidates.end() - (q - head), candidates.end());
}

}  // namespace berth

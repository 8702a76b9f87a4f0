#include "tools/tune/batch_trials.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "data/sequence.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr double kShort = 60.0;  // s: waits far below are alike
constexpr double Scales::*const kScales[] = {&Scales::load, &Scales::run, &Scales::gang};

}  // namespace

BatchTrials::BatchTrials(TrialSettings settings, const BatchTerms& terms)
    : Trials(std::move(settings)),
      terms_(terms),
      log_(this->settings().source->Make(0, Split::kTrain, 0, 0)) {
  const TrialSettings& on = this->settings();
  const auto check = [&](Window window, const char* what) {
    const int found = (window.end < 0 ? log_.num_jobs() : window.end) - window.begin;
    if (found < on.jobs)
      throw Error(Join("expected at least ", on.jobs, " jobs to ", what, " on, found ", found));
  };
  check(on.pieces, "train");
  if (on.held_out) check(*on.held_out, "choose");
}

std::vector<Scenario> BatchTrials::Draw(int generation, int count) const {
  const TrialSettings& on = settings();
  const Window& window = generation < 0 && on.held_out ? *on.held_out : on.pieces;
  const int begins = (window.end < 0 ? log_.num_jobs() : window.end) - window.begin - on.jobs + 1;
  std::vector<Scenario> pieces;
  if (generation == kValidation) {
    count = std::min(count, begins);
    for (int i = 0; i < count; ++i) {
      const int begin = window.begin + EvenPlace(i, count, begins);
      pieces.push_back(Piece(log_, begin, on.jobs, {}));
    }
    return pieces;
  }
  const bool choice = generation == search::kChoice;
  Stream stream(on.seed, Purpose::kReplay, choice ? Split::kEvaluate : Split::kTrain,
                choice ? 0 : static_cast<std::uint32_t>(generation));
  // Of pieces that are not scaled by chance each is there once.
  const bool once = choice && std::all_of(std::begin(kScales), std::end(kScales), [&](auto scale) {
                      return terms_.low.*scale == terms_.high.*scale;
                    });
  if (once) count = std::min(count, begins);
  std::set<int> drawn;
  while (std::ssize(pieces) < count) {
    const int begin = window.begin + static_cast<int>(stream.Below(static_cast<std::uint32_t>(begins)));
    Scales scales;
    for (double Scales::*scale : kScales) {
      const double low = Log(terms_.low.*scale), high = Log(terms_.high.*scale);
      scales.*scale = Exp(low + (high - low) * stream.Uniform());
    }
    if (once && !drawn.insert(begin).second) continue;
    pieces.push_back(Piece(log_, begin, on.jobs, scales));
  }
  return pieces;
}

// One cost for all pieces together. The penalty is on means over them: of a single piece the waits of two
// equal policies differ by tens of per cent, and who pays for the half of the pieces that came out longer
// learns to wait less than is asked.
search::Costs BatchTrials::Weigh(const std::vector<std::vector<Metrics>>& runs,
                                 const std::vector<Metrics>& reference) const {
  search::Costs costs;
  costs.reference = {1.0};
  for (const std::vector<Metrics>& found : runs) {
    double slowdown = 0.0, p99_wait = 0.0, max_wait = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto more = [&](double Metrics::*wait) {
        return Log((found[i].*wait + kShort) / (reference[i].*wait + kShort));
      };
      slowdown += found[i].hpc_bounded_slowdown / reference[i].hpc_bounded_slowdown;
      p99_wait += more(&Metrics::p99_wait_s);
      max_wait += more(&Metrics::max_wait_s);
    }
    const auto count = static_cast<double>(found.size());
    const auto excess = [&](double sum) { return std::max(0.0, Exp(sum / count) - terms_.margin); };
    costs.of.push_back({slowdown / count + terms_.penalty * (excess(p99_wait) + excess(max_wait))});
  }
  return costs;
}

int EvenPlace(int i, int count, int places) {
  return static_cast<int>(std::int64_t{places - 1} * i / std::max(1, count - 1));
}

Scenario Piece(const Scenario& log, int begin, int jobs, const Scales& scales) {
  ScenarioData data = Sequence(log, begin, jobs, log.data().clock).data();
  const std::vector<int>& sizes = data.throughputs.gang_sizes;  // ascending
  const double first = data.jobs.arrival.front(), stretch = scales.run * scales.gang / scales.load;
  for (std::size_t i = 0; i < data.jobs.arrival.size(); ++i) {
    const double later = (data.jobs.arrival[i] - first) * (stretch - 1.0);
    data.jobs.arrival[i] += later;
    if (!data.jobs.deadline.empty()) data.jobs.deadline[i] += later;
    data.jobs.total_steps[i] *= scales.run;
    if (!data.jobs.requested_s.empty()) data.jobs.requested_s[i] *= scales.run;
    if (scales.gang == 1.0) continue;
    const double wanted = data.jobs.gang[i] * scales.gang;
    const auto above = std::upper_bound(sizes.begin(), sizes.end(), wanted,
                                        [](double value, int size) { return value < size; });
    data.jobs.gang[i] = above == sizes.begin() ? *above : *(above - 1);
  }
  return Scenario(std::move(data));
}

}  // namespace berth

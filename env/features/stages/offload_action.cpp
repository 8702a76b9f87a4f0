// How much of a job's preprocessing its GPUs do. Offloaded the step is shorter where cores are what it waits
// for, and its GPUs draw more and slow whoever shares them.
#include <algorithm>
#include <iterator>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/features/stages/stage_times.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr double kParts[] = {0.0, 0.5, 1.0, -1.0};  // -1 = the best
constexpr int kOffloadLevels = static_cast<int>(std::size(kParts));

constexpr ChannelInfo kOffloadColumn[] = {
    {"part", "of the preprocessing done on the GPUs; 0 where it is the best part", 0, 1},
    {"best", "1 = the part with which a step is shortest, wherever the job runs", 0, 1},
};
constexpr ChannelInfo kOffloadPair[] = {
    {"as_now", "1 = it is so now", 0, 1},
    {"speed", "ln(steps/s over those as it is now) / 2, alone where it runs, else on its fastest type", -1,
     1},
    {"busy", "share of a step in which its GPUs work then", 0, 1},
};

class Offload final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<StageSettings>("offload", view);
    for (int level = 0; level < kOffloadLevels; ++level) columns.push_back({-1, level});
  }
  void WriteColumn(const ClusterView&, const ActionColumn& column, float* f) override {
    f[0] = static_cast<float>(std::max(kParts[column.level], 0.0));
    f[1] = kParts[column.level] < 0.0 ? 1.0F : 0.0F;
  }
  void WritePair(const ClusterView& view, const Plan& /*plan*/, int job, const ActionColumn& column,
                 float* f) override {
    if (column.level < 0 || !Prepares(view, job)) return;
    const bool overlap = view.features().Find<StageSettings>()->overlap;
    const double now = view.Find<StageState>()->offload[U(job)], part = kParts[column.level];
    const StageTimes times = TimesOf(view, job);
    const auto of = [&](double offload) { return offload < 0.0 ? BestOffload(times, overlap) : offload; };
    const double before = StepSeconds(times, overlap, of(now)), then = StepSeconds(times, overlap, of(part));
    f[0] = now == part ? 1.0F : 0.0F;
    f[1] = static_cast<float>(std::clamp(Log(before / then) / 2.0, -1.0, 1.0));
    f[2] = static_cast<float>(std::min((times.gpu + of(part) * times.gpu_prep) / then, 1.0));
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    const bool sets = Prepares(view, job) && view.Find<StageState>()->offload[U(job)] != kParts[column.level];
    return sets && !plan.IsSet(kOffloadControl, job) ? Legality::kYes : Legality::kNo;
  }
  void Put(const ClusterView&, Plan& plan, int job, const ActionColumn& column) override {
    plan.Set({kOffloadControl, job, kParts[column.level]});
  }

 private:
  static bool Prepares(const ClusterView& view, int job) {
    return EntryFor(view.features().Find<StageSettings>()->cpu_core_s, view.JobType(job)) > 0.0;
  }
  // On whole GPUs, with nobody beside it.
  static StageTimes TimesOf(const ClusterView& view, int job) {
    const StageSettings& settings = *view.features().Find<StageSettings>();
    const int job_type = view.JobType(job), gang = view.Gang(job);
    const int width = view.IsRunning(job) ? view.Width(job) : gang;
    const double rate = view.IsRunning(job) ? view.RateAt(job, view.TypeOf(job), width) : view.BestRate(job);
    const double gpus = width * view.GpuMilli(job) / 1000.0;
    return {.gpu = 1.0 / std::max(rate, 1e-12),
            .cpu = EntryFor(settings.cpu_core_s, job_type) / (settings.cores_per_gpu * gpus),
            .gpu_prep = EntryFor(settings.gpu_prep_s, job_type) * gang / width,
            .transfer = EntryFor(settings.transfer_s, job_type)};
  }
};

}  // namespace

ActionInfo OffloadAction() {
  return {.name = "offload",
          .summary = "a job does another part of its preprocessing on its GPUs",
          .column = kOffloadColumn,
          .pair = kOffloadPair,
          .make = MakeAction<Offload>,
          .on_request = true};
}

}  // namespace berth

// Jobs whose batch size changes at points of their training that are fixed beforehand, as Accordion (Agarwal
// et al., MLSys 2021) and GNS (McCandlish et al., 2018) have it in the traces of Shockwave (Zheng et al.,
// NSDI 2023).
//
// A job's steps are those of its first batch b0, so that its work stays what it is. At batch b of the type
// "NAME (batch size b)" of the scenario's table it makes
//   rate(b) b / b0   of them a second,
// rate(b) being that type's steps/s with its gang on its GPU type. On a GPU type where the table has no speed
// for a batch, the last one before it that has goes on.
//
// Schedulers are told how fast a job is now (ClusterView::Rate), and not what is to come: who looks ahead
// asks BatchScheduleState.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/features/batch_bars.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

// From so many steps on; the first phase of a job is from 0.
struct BatchPhase {
  double from = 0.0;
  int batch = 0;
  std::vector<double> factor;     // [G] of its rate with the first batch; 1 where that is 0
  std::vector<OtherSteps> steps;  // [G] that it makes
};

struct BatchScheduleSettings final : SettingsOf<BatchScheduleSettings> {
  std::string changes;  // "job>steps>batch:job>steps>batch", jobs by id, of each job in rising order

  static constexpr const char* kName = "batch_schedule";
  static constexpr const char* kHelp = "batch sizes that change at known points of a job's training";
  static std::span<const Field<BatchScheduleSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  bool LearnsRates() const override { return true; }
  bool Believe(const ScenarioData& scenario, BelievedRates& into) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  std::shared_ptr<const FeatureSettings> OfJobs(const JobTable& jobs, double origin_s) const override;
};

// [J] of whoever changes its batch; empty for the others. Throws Error: one line, naming the entry.
std::vector<std::vector<BatchPhase>> BatchPhases(const BatchScheduleSettings& settings,
                                                 const ScenarioData& scenario);

inline constexpr TimerKind kBatchChanges{14};  // index: job

class BatchScheduleState final : public StateOf<BatchScheduleState, BatchScheduleSettings> {
 public:
  BatchScheduleState(const BatchScheduleSettings& settings, const Scenario& scenario);

  bool Changes(int job) const { return !phases[static_cast<std::size_t>(job)].empty(); }
  // Seconds that a job which Changes takes from `from` to `to` steps where it runs at `rate` steps/s now,
  // alone on the GPU type; `batch` above 0: with that one of its batches throughout.
  double Seconds(int job, int type, double rate, double from, double to, int batch = 0) const;

  std::vector<std::vector<BatchPhase>> phases;  // [J]
  std::vector<int> at;                          // [J] the phase it is in

  void Start(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;
  void StartCost(SimCore& core, int job, int type, RunStart& start) override;
  void OnStart(SimCore& core, int job, const RunStart& start) override;
  void OnRate(SimCore& core, int job) override;
  void BeforeRelease(SimCore& core, int job) override;
  double OwnFactor(const Scenario& scenario, const SimState& state, int job) const override;
  std::optional<OtherSteps> StepsOf(int job, int type) const override;
  std::string Violation(const InvariantInput& input) const override;
  void AddLanes(double now, std::vector<FeatureLane>& lanes) const override;

 private:
  void Enter(SimCore& core, int job, int phase);
  void Await(SimCore& core, int job);  // the end of its phase
  void Note(double now, int job, bool trains);

  std::vector<std::uint32_t> version_;  // [J] of its timer
  BatchBars bars_;
};

}  // namespace berth

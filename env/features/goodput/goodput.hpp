// Jobs whose speed and batch size change while they train: goodput, the product of throughput and statistical
// efficiency (Qiao et al., Pollux, OSDI 2021; Jayaram Subramanya et al., Sia, SOSP 2023).
//
// Every job trains an application (its job type) from begin to end. A step of the job counts as the progress
// of one step of the application's initial batch, so that its rate is its goodput over that batch:
//   goodput = gain / T,  gain = (var + sqr) / (var / scale + sqr),  scale = batch / initial batch
// where T is the time of a step on the GPUs it holds and sqr, var are the gradient's statistics in the epoch
// (Pollux, eqs. 5 and 8). It is worked out when a job starts, at the end of each epoch, and when its batch or
// the interference on its nodes changes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/features/batch_bars.hpp"
#include "env/features/goodput/application.hpp"
#include "env/predict/goodput/speed_fit.hpp"
#include "env/sim/action_kind.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

class MeanRates;  // mean_rates.hpp

struct GoodputSettings final : SettingsOf<GoodputSettings> {
  std::string profiles, curves, known;  // ReadApplications; "" = the published ones
  std::string batch = "best";           // who chooses: "best" the job, "submitted" whoever submitted it
  std::string model = "fitted";  // of speeds, by which a job chooses: "fitted" to what it saw, or "known"
  std::string rules = "exact";   // "pollux": as the simulator of the Pollux artifact (goodput_rules.cpp)
  double restart_s = -1.0;
  double interference = 0.0;
  std::string content;  // a hash of what was read; set by Load

  static constexpr const char* kName = "goodput";
  static constexpr const char* kHelp =
      "training speed by GPUs, nodes and batch size; the batch grows as gradients get noisier";
  static std::span<const Field<GoodputSettings>> Fields();
  void Load() override;
  void Check(const ScenarioData& scenario) const override;
  void AddTypes(ScenarioData& scenario) const override;  // speeds and work of the applications
  bool KnowsJobs() const override { return true; }
  std::shared_ptr<const RatesByWidth> Widths(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;

  const std::vector<Application>& applications() const { return *shared_applications(); }
  std::shared_ptr<const std::vector<Application>> shared_applications() const;
  const Application& ApplicationNamed(const std::string& name) const;  // throws Error with the nearest name
  // As the artifacts have it: time in whole seconds; and a move to as many GPUs on each node costs nothing.
  bool whole_seconds() const { return rules != "exact"; }
  bool free_moves() const { return rules == "sia"; }

 private:
  std::shared_ptr<const std::vector<Application>> applications_;
  std::shared_ptr<MeanRates> means_;  // of these applications
};

// Progress a second in an epoch (from 0), where a step takes `time` (Pollux, eqs. 5, 8 and 12).
double GoodputOf(const Application& application, const goodput::StepTime& time,
                 const goodput::BatchSplit& split, int gpus, int epoch);
// A batch that GPUs on full nodes can train with, and the time of its step.
struct TimedBatch {
  goodput::BatchSplit split;
  goodput::StepTime time;
};
// Those that a job chooses among; empty = it cannot run on so many.
std::vector<TimedBatch> TimedBatches(const Application& application, const SpeedOnType& speed, int gpus,
                                     int gpus_per_node);
// The whole training's work over its time on so many GPUs of full nodes, at the best batch; 0 = it cannot.
double MeanGoodput(const Application& application, const SpeedOnType& speed, int gpus, int gpus_per_node);
// What the code of an artifact says of its applications beside their files (goodput_rules.cpp).
void ApplyRules(const std::string& rules, Application& application);
// The model of a job's speed by what it saw, as well as it fits or as an artifact's simulator finds it.
goodput::SpeedModel FitByRules(const std::string& rules, std::span<const goodput::Observation> seen);

inline constexpr TimerKind kEpochEnds{13};      // index: job
inline constexpr ControlKind kBatchControl{6};  // job `index` trains at batch `value`; 0: as it finds best

class GoodputState final : public StateOf<GoodputState, GoodputSettings> {
 public:
  GoodputState(const GoodputSettings& settings, const Scenario& scenario);

  // What a job has learned of its speed on a GPU type, from its own steps there.
  struct Learned {
    std::vector<goodput::Observation> seen;  // distinct
    int most_gpus = 0;                       // that it trained on
    bool known() const { return !seen.empty(); }
    // fitted to them; worked out when it is asked for, always with the same rules
    const goodput::SpeedModel& Model(const std::string& rules) const;

   private:
    mutable goodput::SpeedModel model_;
    mutable std::size_t fitted_ = 0;  // of `seen`
  };
  struct Job {
    const Application* application = nullptr;
    int target = 0;                         // batch that was asked for; 0 = the job chooses
    int epoch = 0;                          // finished ones
    goodput::BatchSplit split;              // of the current or last run
    double goodput = 0.0;                   // steps/s where it runs, without what other features say
    double trains_from = 0.0;               // s, when its last start was or is over
    int starts = 0;                         // so far, moves among them
    int gpus = 0;                           // of the current or last run
    std::vector<Learned> learned;           // [G], once it has started
    goodput::GradientStatistics gradients;  // as it last measured them
    std::vector<int> nodes;                 // GPUs on each node, in the order of its devices
    goodput::StepTime time;                 // of `split` on `nodes`
    double pace = 1.0;          // of its goodput, so that an epoch ends with a whole second (rules)
    bool congested = false;     // interference slows it
    std::uint32_t version = 0;  // of its timer
  };
  std::vector<Job> jobs;  // [J]

  // What the job, as far as it knows, would make of so many GPUs of a type: progress a second, at its best
  // batch of at most `most` samples (0 = its application's). 0 = it knows nothing of the type, or no batch
  // suits.
  double Expected(const ClusterSpec& cluster, int job, int type, goodput::Shape shape, int most = 0) const;

  const Application& ApplicationOf(int job) const { return *jobs[static_cast<std::size_t>(job)].application; }
  int Batch(int job) const {  // samples a step; 0 before the first start
    const Job& its = jobs[static_cast<std::size_t>(job)];
    return its.split.Total(its.gpus);
  }

  void BeforeAdvance(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;
  void Settle(SimCore& core) override;
  bool Allows(const SimCore& core, const Control& control) const override;
  bool CarryOut(SimCore& core, const Control& control) override;
  bool RunsOn(const SimCore& core, int job, int type) const override;
  void StartCost(SimCore& core, int job, int type, RunStart& start) override;
  void OnStart(SimCore& core, int job, const RunStart& start) override;
  void OnRate(SimCore& core, int job) override;
  void BeforeRelease(SimCore& core, int job) override;
  double OwnFactor(const Scenario& scenario, const SimState& state, int job) const override;
  std::string Violation(const InvariantInput& input) const override;
  void Measure(const SimCore& core, std::span<double> figures) const override;
  void AddLanes(double now, std::vector<FeatureLane>& lanes) const override;

 private:
  const SpeedOnType& SpeedOf(const SimCore& core, int job) const;
  void ChooseBatch(const SimCore& core, int job);
  goodput::BatchSplit BestSplit(const SimCore& core, int job) const;
  goodput::BatchLimits LimitsOf(const SimCore& core, int job) const;  // where it stands
  const std::vector<goodput::BatchSplit>& Candidates(const goodput::BatchLimits& limits, int gpus) const;
  void Observe(const SimCore& core, int job);  // a step at its split, where it stands
  void Reckon(const SimCore& core, int job);   // goodput, from all that it depends on
  void Schedule(SimCore& core, int job);       // the end of its epoch
  bool EndEpoch(SimCore& core, int job);
  void SetPace(SimCore& core, int job, double pace);
  void Rerate(SimCore& core, int job);
  bool Congested(const SimCore& core, int job) const;
  void Span(const SimCore& core, int job, int by);  // the nodes of a job of several, one more or one less

  const GoodputSettings* settings_;
  std::vector<int> spanning_;  // [nodes] jobs of several nodes that are there
  BatchBars bars_;
  bool moved_ = false;                                                                 // since Settle
  mutable std::map<std::array<int, 5>, std::vector<goodput::BatchSplit>> candidates_;  // by limits and GPUs
  int settling_ = -1;  // the job whose rate it is about to set itself
};

BlockInfo GoodputBlock();  // what observations show of it
ActionInfo ScaleAction(), BatchAction();

}  // namespace berth

#include "tools/train_validation.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "env/gym/rewards.hpp"
#include "policies/architecture.hpp"
#include "policies/bundle.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

constexpr std::int64_t kMostValidated = 100000;

// Workloads as episodes see them, and as long again behind the measured jobs, so that starving pays nobody:
// `jobs` of them in all after a warm-up.
TrialSettings WorkloadsOf(const EnvironmentChoice& choice, const TrainRequest& request, int jobs) {
  TrialSettings on;
  on.source = choice.source;
  on.jobs = choice.env.warmup_jobs + jobs;
  if (choice.source->fixed()) {
    on.pieces = choice.env.jobs;
    if (on.pieces.end < 0) on.pieces = {0, choice.source->Make(0, Split::kTrain, 0, 0).num_jobs()};
    on.jobs = std::min(on.jobs, on.pieces.end - on.pieces.begin);
  }
  const int begin = std::min(choice.env.warmup_jobs, on.jobs / 4);
  on.window = {begin, begin + std::max(1, (on.jobs - begin) / 2)};
  on.seed = request.seed;
  on.threads = request.threads;
  return on;
}

// May the policy that a training begins with decide here, as it is? Its file may be gone when one resumes.
bool MayDecide(const std::string& file, const TrainRequest& request) {
  try {
    const PolicyBundle bundle = LoadBundle(file);
    const bool any_size = FindArchitecture(ParseSpec(bundle.network).name).any_size;
    return bundle.mdp.knowledge <= request.mdp.knowledge &&
           (any_size || bundle.gpu_types == request.gpu_types);
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> Baselines(const Options& options, const TrainRequest& request) {
  const MdpSpec& mdp = request.mdp;
  if (options.Text("baselines") == kAuto) {
    std::vector<std::string> specs = DefaultBaselines(mdp);
    // Who begins with a policy is told what became of it.
    const std::string& from = options.Text("from");
    if (!from.empty() && MayDecide(from, request)) specs.push_back(Join("policy(file=", from, ")"));
    return specs;
  }
  std::vector<std::string> specs = SplitOutsideParentheses(options.Text("baselines"), ';');
  InOption(options, "baselines", [&] {
    for (const std::string& spec : specs) {
      const Knowledge needs = MakeScheduler(spec, AllSchedulers())->knowledge();
      if (needs > mdp.knowledge)
        throw Error(Join("expected schedulers that need no more than the workload grants, ",
                         ToString(mdp.knowledge), ", found ", spec, ", which needs ", ToString(needs)));
    }
    return 0;
  });
  return specs;
}

bool Measurable(const std::string& reward) {
  try {
    Reward(reward).AJob({});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void TrainValidation::AddOptions(Options& options) {
  options.Group("Measured meanwhile");
  options.Value(
      "validate", kAuto,
      "measure the policy on so many workloads that no episode draws, or pieces of the jobs trained on where "
      "these are fixed, keeping the best one as RUN/best.h5; 0 = never; auto = as many as a tenth of the "
      "training's time affords, keeping none");
  options.Value(
      "baselines", kAuto,
      "schedulers beside it, separated by ';': auto = two that suit what the policy may know and do");
  options.Value("validations", "10", "how often at most, evenly over --steps, the last at the end");
}

std::unique_ptr<TrainValidation> TrainValidation::Make(Options& options, const EnvironmentChoice& choice,
                                                       const TrainRequest& request) {
  const bool by_itself = options.Text("validate") == kAuto;
  const int workloads = by_itself ? 0 : static_cast<int>(options.Integer("validate", 0, kMostValidated));
  const std::int64_t times = options.Integer("validations", 1, 1000000);
  const MdpSpec& mdp = request.mdp;
  ValidationSettings settings{Baselines(options, request),  request.out_dir, !by_itself, request.resume,
                              DrawsByScores(request.agent), request.commit};
  if (by_itself) {
    if (mdp.semantics != Semantics::kRedecide || !Measurable(mdp.reward) || request.world.many())
      return nullptr;
  } else {
    if (workloads == 0) return nullptr;
    if (mdp.semantics != Semantics::kRedecide)
      throw Error(Join(options.Where("validate"), ": expected with it --semantics redecide, found ",
                       ToString(mdp.semantics)));
    InOption(options, "reward", [&] { Reward(mdp.reward).AJob({}); });  // less must be better
  }
  const int jobs = by_itself ? std::max(2, choice.env.episode_jobs) : 2 * choice.env.episode_jobs;
  std::optional<ValidationBudget> budget;
  if (by_itself) budget.emplace(static_cast<int>(settings.baselines.size()));
  Validation validation(RewardTrials(WorkloadsOf(choice, request, jobs), mdp.reward), std::move(settings));
  if (!by_itself) validation.CheckSame(workloads, options.Where("validate"));  // to keep the best of all
  return std::unique_ptr<TrainValidation>(new TrainValidation(
      std::move(validation), workloads, budget, std::max<std::int64_t>(1, request.steps / times)));
}

std::string TrainValidation::WhyNone(const Options& options, const TrainRequest& request) {
  if (options.Text("validate") != kAuto) return "";  // as was asked
  const char* what = request.mdp.semantics != Semantics::kRedecide
                         ? "with --semantics commit no policy is measured while it learns"
                     : request.world.many()
                         ? "several processes do it only with --validate N"
                         : "for a term of its reward runs have no metric, of which less is better";
  return Join("not validated: ", what, "; berth evaluate compares the policy with rules");
}

TrainValidation::TrainValidation(Validation validation, int workloads, std::optional<ValidationBudget> budget,
                                 std::int64_t every)
    : validation_(std::move(validation)), workloads_(workloads), budget_(budget), every_(every) {}

void TrainValidation::Attach(TrainRequest& request) {
  request.validate_every = every_;
  request.validation_figures = validation_.FigureNames();
  if (budget_)
    request.wants_validation = [this](double wall_s, double fraction) { return Wants(wall_s, fraction); };
  // Whoever runs the request says later what interrupts it.
  request.on_validate = [this, &request](std::int64_t steps, double wall_s, double fraction) {
    return Measure(steps, wall_s, fraction, request.interrupted);
  };
}

bool TrainValidation::Wants(double wall_s, double fraction) const {
  return budget_->WantsPlan(wall_s, fraction) || budget_->Affords(wall_s, fraction);
}

std::vector<std::pair<std::string, double>> TrainValidation::Measure(std::int64_t steps, double wall_s,
                                                                     double fraction,
                                                                     const std::atomic<bool>* interrupted) {
  // A run that is resumed when it is done has been measured there.
  if (validation_.any() && validation_.rows().back().steps == steps) return {};
  if (!budget_) return validation_.Measure(steps, workloads_, interrupted);
  if (budget_->WantsPlan(wall_s, fraction)) {
    const double run_s = validation_.TimeRun(interrupted);
    if (interrupted != nullptr && *interrupted) return {};
    budget_->Spend(run_s, /*validation=*/false);
    budget_->Plan(wall_s, fraction, run_s);
    if (!budget_->Affords(wall_s, fraction)) return {};
  }
  workloads_ = budget_->workloads();
  const auto begin = std::chrono::steady_clock::now();
  auto figures = validation_.Measure(steps, workloads_, interrupted);
  budget_->Spend(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                 /*validation=*/true);
  return figures;
}

std::string TrainValidation::Summary() const {
  if (!validation_.measured())
    return "not validated: it would take more than a tenth of so short a training; --validate 8 does it all "
           "the same";
  return Join("validated on ", validation_.On(), ": ", validation_.Words());
}

}  // namespace berth

// The heterogeneity-aware scheduler of Gavel: an objective's allocation, run by the round mechanism; and two
// schedulers of the same making.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "baselines/gavel/gandiva.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/policy_source.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

using gavel::Awareness;
using gavel::ObjectiveInfo;

struct ObjectiveRow {
  const char* name;
  ObjectiveInfo info;
};

const std::vector<ObjectiveRow>& Objectives() {
#define BERTH_ROW(name, function) {#name, gavel::function()},
  static const std::vector<ObjectiveRow> rows = {BERTH_GAVEL_OBJECTIVES(BERTH_ROW)};
#undef BERTH_ROW
  return rows;
}

#define BERTH_NAME(name, function) " " #name
constexpr const char* kObjectiveHelp = "what is optimised:" BERTH_GAVEL_OBJECTIVES(BERTH_NAME);
#undef BERTH_NAME

constexpr ParamInfo kResetParam = {"reset_s", "1920",
                                   "s, clocks with rounds: least time between two allocations"};
constexpr ParamInfo kResetAlone[] = {kResetParam};
double ReadReset(Params& params) {
  return params.Number(kResetParam.name, 0.0, 1e9);
}

constexpr ParamInfo kCommon[] = {
    {"objective", "max_min", kObjectiveHelp},
    {"aware", "true", "whether the objective sees how fast each job runs on each type"},
    {"packed", "false", "whether two jobs may share one GPU, where the scenario says how fast they run so"},
    {"solver", "reference",
     "where the optimum is a face: reference: the reference's point | ipm: inside it (HiGHS) | simplex: a "
     "vertex | warm: from the last answer, for thousands of jobs"},
    {"ties", "solver",
     "which of many optima: solver: where the solver ends | stable: the one nearest to the last allocation"},
    {"compat", "true", "stop where the reference does (makespan: within 5%); false: the optimum"},
    {"idle", "any",
     "who gets GPUs that a round leaves idle: any: whoever fits, as in the reference (fifo: given) | given: "
     "only jobs to "
     "which the allocation gives that type"},
    kResetParam,
    {"lp_time_limit_s", "1e9", "s a solve may take; beyond it the fall-back stands in, said on stderr"},
};

// The common ones, then what only some objectives read; a name that two share stands once.
std::span<const ParamInfo> AllParams() {
  static const std::vector<ParamInfo> all = [] {
    std::vector<ParamInfo> params(std::begin(kCommon), std::end(kCommon));
    for (const ObjectiveRow& row : Objectives()) {
      for (const ParamInfo& param : row.info.params) {
        const auto same = [&param](const ParamInfo& other) {
          return std::string_view(other.name) == param.name;
        };
        if (std::none_of(params.begin(), params.end(), same)) params.push_back(param);
      }
    }
    return params;
  }();
  return all;
}

// "max_min_fairness_perf (objective=max_min), max_min_fairness (objective=max_min,aware=false), ..."
const char* ReferenceNames() {
  static const std::string text = [] {
    std::string names;
    const auto add = [&names](const char* reference, const std::string& spec) {
      if (*reference != '\0')
        names += (names.empty() ? "" : ", ") + std::string(reference) + " (" + spec + ")";
    };
    for (const ObjectiveRow& row : Objectives()) {
      add(row.info.aware_name, std::string("objective=") + row.name);
      add(row.info.agnostic_name, std::string("objective=") + row.name + ",aware=false");
      add(row.info.packed_name, std::string("objective=") + row.name + ",packed=true");
    }
    return names;
  }();
  return text.c_str();
}

std::unique_ptr<gavel::PolicySource> MakeSource(const ObjectiveRow& row, bool packed,
                                                const gavel::ObjectiveOptions& options, Params& params) {
  const bool stable = params.Choice("ties", {"solver", "stable"}) == 1;
  if (stable && (packed || !row.info.ties)) {
    throw Error(Join("gavel: ", packed ? "packed=true" : Join("objective=", row.name),
                     " has no ties=stable form; expected ties=solver"));
  }
  if (!packed) {
    std::optional<gavel::LeastChange> least_change;
    if (stable) least_change.emplace(options.lp_time_limit_s);
    return std::make_unique<gavel::PolicyAllocations>(Join("gavel(objective=", row.name, ")"),
                                                      row.info.fall_back, row.info.make(options, params),
                                                      std::move(least_change));
  }
  if (row.info.make_packed == nullptr) {
    std::string packing;
    for (const ObjectiveRow& other : Objectives()) {
      if (other.info.make_packed != nullptr)
        packing += (packing.empty() ? "" : ", ") + std::string(other.name);
    }
    throw Error(
        Join("gavel: objective=", row.name, " has no packed=true form; those that have one: ", packing));
  }
  if (!options.aware)
    throw Error("gavel: packed=true sees throughputs; expected aware=true, found aware=false");
  return std::make_unique<gavel::PackedAllocations>(Join("gavel(packed=true,objective=", row.name, ")"),
                                                    row.info.fall_back,
                                                    row.info.make_packed(options, params));
}

// A parameter that the chosen objective does not read must stand at its default.
void RefuseOthers(const ObjectiveRow& chosen, Params& params) {
  for (const ParamInfo& param : AllParams().subspan(std::size(kCommon))) {
    const auto is = [&param](const ParamInfo& own) { return std::string_view(own.name) == param.name; };
    if (std::any_of(chosen.info.params.begin(), chosen.info.params.end(), is)) continue;
    const std::string value = params.Text(param.name);
    if (value == param.default_value) continue;
    throw Error(Join("gavel: parameter '", param.name, "': objective=", chosen.name,
                     " does not read it; expected ", param.default_value, ", found '", value, "'"));
  }
}

std::unique_ptr<Scheduler> MakeGavel(Params& params) {
#define BERTH_NAME(name, function) #name,
  const int choice = params.Choice("objective", {BERTH_GAVEL_OBJECTIVES(BERTH_NAME)});
#undef BERTH_NAME
  const ObjectiveRow& row = Objectives()[static_cast<std::size_t>(choice)];
  gavel::ObjectiveOptions options;
  options.aware = params.Bool("aware");
  const bool packed = params.Bool("packed");
  constexpr LpMethod kMethods[] = {LpMethod::kEmbedding, LpMethod::kInteriorPoint, LpMethod::kSimplex,
                                   LpMethod::kEmbedding};
  const int solver = params.Choice("solver", {"reference", "ipm", "simplex", "warm"});
  options.method = kMethods[solver];
  options.warm = solver == 3;
  if (options.warm && (packed || !row.info.warm)) {
    throw Error(Join("gavel: ", packed ? "packed=true" : Join("objective=", row.name),
                     " has no solver=warm; expected solver=reference, ipm or simplex"));
  }
  options.compat = params.Bool("compat");
  options.lp_time_limit_s = params.Number("lp_time_limit_s", 0.0, 1e9);
  const bool given_alone = params.Choice("idle", {"any", "given"}) == 1;
  const double reset_s = ReadReset(params);
  if (row.info.awareness == Awareness::kAwareOnly && !options.aware) {
    throw Error(Join("gavel: objective=", row.name, " has no aware=false form; expected aware=true"));
  }
  RefuseOthers(row, params);
  gavel::MechanismOptions mechanism;
  // Gavel's scheduler.py shuffles types (_schedule_jobs_on_workers) unless a policy's name holds "Perf" or
  // "Packing", as those of all packed policies do.
  mechanism.shuffle_types = !packed && (row.info.awareness == Awareness::kIndifferent || !options.aware);
  mechanism.only_positive = given_alone || row.info.only_positive;
  mechanism.min_reset_s = reset_s;
  return gavel::RunInRounds(MakeSource(row, packed, options, params), mechanism);
}

}  // namespace

SchedulerInfo GavelInfo() {
  return {"gavel",
          "LP heterogeneity-aware allocation, run in rounds; an LP an allocation, O(n types) a round",
          "Narayanan et al., OSDI 2020",
          ReferenceNames(),
          Knowledge::kBlind,
          /*preemptive=*/true,
          AllParams(),
          MakeGavel};
}

// `gavel(objective=proportional_fairness)` by its usual name.
SchedulerInfo ProportionalFairnessInfo() {
  return {"proportional_fairness",
          "GPU time by the largest Nash welfare of throughputs, run in rounds; O(n types^2) an iteration",
          "Kelly, Maulloo & Tan 1998; Eisenberg & Gale 1959; rounds: Narayanan et al., OSDI 2020",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kResetAlone,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const gavel::ObjectiveInfo info = gavel::ProportionalFairnessObjective();
            gavel::MechanismOptions options;
            options.shuffle_types = false;
            options.min_reset_s = ReadReset(params);
            return gavel::RunInRounds(
                std::make_unique<gavel::PolicyAllocations>("gavel(objective=proportional_fairness)",
                                                           info.fall_back, info.make({}, params)),
                options);
          }};
}

// Gandiva's random packing: the baseline that Gavel's packed policies are measured against.
SchedulerInfo GandivaInfo() {
  return {
      "gandiva",
      "pairs jobs at random when there are more than GPUs, drops pairs that gain nothing; O(n types) a round",
      "Xiao et al., OSDI 2018, in the form of Narayanan et al., OSDI 2020",
      "gandiva",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kResetAlone,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        gavel::MechanismOptions options;
        options.min_reset_s = ReadReset(params);
        return gavel::RunInRounds(
            std::make_unique<gavel::PackedAllocations>("gandiva", gavel::FallBack::kIsolated,
                                                       std::make_unique<gavel::GandivaPacking>()),
            options);
      }};
}

}  // namespace berth

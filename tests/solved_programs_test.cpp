// Every linear and mixed-integer program that schedulers hand to a solver, and those that have an algorithm of their
// own, against CBC and Clarabel, where Python has them: pip install clarabel mip scipy.
// BERTH_PROGRAM_SEED=N draws other scenarios than those of 0, and prints what was compared; BERTH_PROGRAM_FILE=FILE keeps
// the programs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "baselines/adaptive/sia_program.hpp"
#include "baselines/cheapest_assignment.hpp"
#include "baselines/fairness/partial_allocation.hpp"
#include "baselines/optimisation/programs.hpp"
#include "baselines/partitioning/static_layouts.hpp"
#include "baselines/solved_program.hpp"
#include "data/workloads.hpp"
#include "env/base/grouped_assignment.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/runs.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"
#include "tests/small_instances.hpp"
#include "tests/solver_script.hpp"
#include "tests/toy_scenarios.hpp"
#include "tools/bench/exact_schedule.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"

namespace berth {
namespace {

// One line each. An infinite number is null, whose sign follows from where it stands.
class ProgramFile {
 public:
  ProgramFile() {
    ProgramObserver() = [this](const SolvedProgram& solved) { Add(solved); };
  }
  ~ProgramFile() { ProgramObserver() = nullptr; }
  ProgramFile(const ProgramFile&) = delete;
  ProgramFile& operator=(const ProgramFile&) = delete;

  // Whose programs come next.
  void Of(const std::string& whom) { whom_ = whom; }
  void Add(const std::string& kind, const Json& json) {
    ++count_[kind];
    lines_ += Json{{"kind", kind}, {"what", json}}.dump() + "\n";
  }
  const std::string& lines() const { return lines_; }
  int count(const std::string& kind) const {
    const auto found = count_.find(kind);
    return found == count_.end() ? 0 : found->second;
  }

 private:
  void Add(const SolvedProgram& solved) {
    const LpModel& m = solved.model;
    const Json json = {{"maximize", m.maximize},   {"cost", m.cost},           {"lower", m.lower},
                       {"upper", m.upper},         {"row_lower", m.row_lower}, {"row_upper", m.row_upper},
                       {"row_begin", m.row_begin}, {"column", m.column},       {"coefficient", m.coefficient},
                       {"integer", m.integer},     {"gap", solved.gap},        {"status", ToString(solved.status)},
                       {"x", std::vector<double>(solved.x.begin(), solved.x.end())},
                       {"objective", solved.objective},                        {"bound", solved.bound}};
    if (!seen_.insert(json.dump()).second) return;  // jobs that come back to the same state
    Add(whom_ + (m.integer.empty() ? ", LP" : ", MIP"), json);
  }

  std::string whom_, lines_;
  std::map<std::string, int> count_;
  std::set<std::string> seen_;
};

int UpTo(Stream& random, int most) {  // from 1
  return 1 + static_cast<int>(random.Below(static_cast<std::uint32_t>(most)));
}

// Jobs, tenants and deadlines of the golden suite, of speeds and work without its ties. `single`: no gangs.
Scenario UnevenScenario(Stream& random, std::uint64_t seed, const Clock& clock, bool single) {
  ScenarioData data = bench::TenantScenario(seed, 8, clock).data();
  const std::size_t kinds = data.throughputs.job_types.size(), types = data.cluster.types.size();
  std::vector<double> factor(kinds * types);
  for (double& its : factor) its = random.Uniform(0.5, 2.0);
  for (std::size_t k = 0; k < data.throughputs.alone.size(); ++k)
    data.throughputs.alone[k] *= factor[k / (3 * types) * types + k % types];
  for (std::size_t k = 0; k < data.throughputs.pairs.size(); ++k) {
    const std::size_t type = k / 2 % types, b = k / (2 * types) % kinds, a = k / (2 * types * kinds);
    data.throughputs.pairs[k] *= factor[(k % 2 == 0 ? a : b) * types + type];
  }
  if (single) data.jobs.gang.assign(data.jobs.gang.size(), 1);
  for (double& steps : data.jobs.total_steps) steps = random.Uniform(20.0, 1200.0);
  for (double& weight : data.jobs.weight) weight = random.Uniform(0.5, 5.0);
  return Scenario(std::move(data));
}

void RunSchedulers(Stream& random, std::uint64_t seed, ProgramFile& file) {
  const auto run = [&](const std::string& whom, const std::string& spec, const Scenario& scenario) {
    INFO(spec);
    file.Of(whom);
    test::RunOf(spec, scenario);
  };
  const bool single = random.Below(2) == 0;
  const Scenario rounds = UnevenScenario(random, seed, {ClockKind::kRounds, 60.0}, single);
  for (const std::string& spec : test::GavelSpecs()) {
    if (single || spec.find("allox") == std::string::npos) run("gavel", spec, rounds);
  }
  for (const char* gap : {"0.01", "0.000001"})
    run("shockwave", Join("shockwave(window=", UpTo(random, 5), ",round=60,gap=", gap, ")"), rounds);
  const Scenario events = UnevenScenario(random, seed, {ClockKind::kEvent}, single);
  run("gavel_tuned", "gavel_tuned", events);
  run("assignment_lp", "assignment_lp", events);
  run("sia", "sia", events);
  run("milp", "milp(objective=makespan,branch=1,gap=0.000001)", events);
  for (const char* objective : {"makespan", "completion"}) {
    for (const char* gap : {"0.02", "0.000001"})
      run("milp", Join("milp(objective=", objective, ",branch=5,gap=", gap, ",nodes=2000)"), events);
  }
  ScenarioSettings settings;
  settings.cluster = ParseCluster("a100=4/4,h100=2/1");
  settings.features = ParseFeatures("partitions(reconfig_s=100)");
  const char* sliced = "synthetic(rate=6,jobs=12,gangs=1:0.7/2:0.2/4:0.1,table=modern)";
  run("mig_static", "mig_static(jobs=6)", MakeWorkload(sliced, settings)->Make(seed, Split::kEvaluate, 0, 0));
}

// GPUs of two products, and what no layout changes.
void DrawLayouts(Stream& random, ProgramFile& file) {
  std::vector<LayoutChoice> products(U(UpTo(random, 2)));
  constexpr int kTypes = 5;
  for (LayoutChoice& product : products) {
    product.gpus = UpTo(random, 4);
    for (int l = UpTo(random, 5); l >= 0; --l) {
      product.devices.emplace_back();
      for (int k = 0; k < kTypes; ++k) product.devices.back().push_back(static_cast<int>(random.Below(4)));
    }
  }
  std::vector<JobMix> mix(U(UpTo(random, 4)));
  for (JobMix& kind : mix) {
    kind.share = random.Uniform(0.1, 1.0);
    for (int k = 0; k < kTypes; ++k) kind.speed.push_back(k > 0 && random.Below(4) == 0 ? 0.0 : random.Uniform(0.05, 1.0));
    kind.gang = 1 << random.Below(3);
  }
  file.Of("mig_static");
  ChooseLayouts(products, {1, 0, 0, 2, 0}, mix);
}

// Costs of jobs of power-law speed-ups, some of which hold a configuration that they must keep.
sia::Program DrawSia(Stream& random, int jobs, int types, int nodes) {
  sia::Program program;
  program.jobs = jobs;
  program.unallocated = random.Uniform(0.3, 1.3);
  for (int type = 0; type < types; ++type) {
    const int whole = UpTo(random, 8);
    program.capacity.push_back(whole * nodes);
    for (int gpus = 1; gpus < whole; gpus *= 2) program.configurations.push_back({type, 1, gpus});
    for (int count = 1; count <= nodes; ++count) program.configurations.push_back({type, count, whole * count});
  }
  std::vector<int> left = program.capacity;
  const bool rounded = random.Below(2) == 0;
  for (int job = 0; job < jobs; ++job) {
    const double power = random.Uniform(0.3, 1.0), speed = random.Uniform(1.0, 5.0);
    for (const sia::Configuration& its : program.configurations) {
      double cost = 1.1 / std::sqrt(speed * random.Uniform(0.9, 1.1) * std::pow(its.gpus, power));
      if (rounded) cost = std::round(100.0 * cost) / 100.0;
      program.cost.push_back(random.Below(12) == 0 ? kLpInfinity : cost);
    }
    const auto k = random.Below(static_cast<std::uint32_t>(program.configurations.size()));
    const sia::Configuration& its = program.configurations[k];
    const bool forced = random.Below(6) == 0 && its.gpus <= left[U(its.type)] &&
                        std::isfinite(program.cost[U(job) * program.configurations.size() + k]);
    if (forced) left[U(its.type)] -= its.gpus;
    program.forced.push_back(forced ? static_cast<int>(k) : -1);
  }
  return program;
}

void SolveSia(const char* kind, const sia::Program& program, const sia::Effort& effort, ProgramFile& file) {
  file.Of("sia");
  const sia::Answer answer = Solve(program, effort);
  CHECK(answer.proven);
  std::vector<std::vector<int>> configurations;
  for (const sia::Configuration& its : program.configurations) configurations.push_back({its.type, its.gpus});
  file.Add(kind, {{"capacity", program.capacity}, {"configurations", configurations}, {"cost", program.cost},
                  {"unallocated", program.unallocated}, {"forced", program.forced}, {"chosen", answer.chosen},
                  {"objective", answer.objective}, {"bound", answer.bound}});
}

// `many`: GPUs, so many that tables of all states would be too large.
void DrawAuction(Stream& random, bool many, ProgramFile& file) {
  std::vector<int> room;
  for (int type = 0; type < (many ? 4 : 3); ++type) room.push_back(many ? 40 : UpTo(random, 6));
  std::vector<std::vector<AuctionBid>> apps(many ? 8 : U(UpTo(random, 7)));
  Json bids;
  for (std::vector<AuctionBid>& app : apps) {
    app.push_back({-1, 0, random.Uniform(2.0, 20.0)});
    for (int b = UpTo(random, 8); b > 0 || (many && b > -8); --b) {
      const auto type = static_cast<int>(random.Below(static_cast<std::uint32_t>(room.size())));
      const int gpus = UpTo(random, many ? 40 : 6);
      app.push_back({type, gpus, app.front().rho / std::pow(1 + gpus, random.Uniform(0.1, 1.0))});
    }
    Json its = Json::array();
    for (const AuctionBid& bid : app) its.push_back({bid.type, bid.gpus, bid.rho});
    bids.push_back(its);
  }
  file.Of("partial_allocation");
  const AuctionResult result = PartialAllocation(apps, room);
  file.Add(many ? "partial_allocation, by programs" : "partial_allocation, by tables",
           {{"bids", bids}, {"room", room}, {"chosen", result.chosen}, {"kept", result.kept}});
}

// Single GPUs of busy clusters, which is where bounds and values must enclose the optimum.
void DrawPlans(Stream& random, ProgramFile& file) {
  test::Drawn drawn;
  drawn.weights = false;
  const Instance instance = test::BusyInstanceOf(test::DrawScenario(random.Below(1000000000), 4 + UpTo(random, 3), {1, 2, 2}, drawn));
  const auto add = [&](const char* kind, Target target, double value, double bound) {
    file.Add(kind, {{"seconds", instance.seconds}, {"free_at", instance.free_at}, {"makespan", target == Target::kMakespan},
                    {"value", value}, {"bound", bound}});
  };
  for (const Target target : {Target::kMakespan, Target::kWeightedCompletion}) {
    file.Of("milp");
    const Solution solution = SolveMilp(instance, target, {.gap = 0.0, .nodes = 2000});
    add(target == Target::kMakespan ? "milp, makespans" : "milp, places", target, solution.value, solution.bound);
  }
  file.Of("assignment_lp");
  CheckedLp lp(LpMethod::kSimplex);
  const RoundedAssignment rounded = RoundAssignmentLp(instance, lp);
  add("assignment_lp, bounds", Target::kMakespan, ListSchedule().Value(instance, rounded.assignment, Target::kMakespan),
      rounded.bound);
}

void DrawSchedule(Stream& random, ProgramFile& file) {
  bench::ExactProblem problem{{UpTo(random, 3), UpTo(random, 2)}, {}, {}, {}};
  for (int j = UpTo(random, 5); j >= 0; --j) {
    problem.arrival.push_back(static_cast<double>(random.Below(4)));
    problem.gang.push_back(UpTo(random, problem.gpus[0]));
    const bool both = problem.gang.back() <= problem.gpus[1] && random.Below(4) > 0;
    problem.seconds.push_back({static_cast<double>(UpTo(random, 6)), both ? UpTo(random, 6) : kLpInfinity});
  }
  for (const bench::Aim aim : {bench::Aim::kMakespan, bench::Aim::kSumCompletion}) {
    file.Add("bench --optimality", {{"gpus", problem.gpus}, {"arrival", problem.arrival}, {"gang", problem.gang},
                                    {"seconds", problem.seconds}, {"makespan", aim == bench::Aim::kMakespan},
                                    {"value", SolveExactly(problem, aim).value}});
  }
}

void DrawAssignments(Stream& random, ProgramFile& file) {
  const int rows = UpTo(random, 8), columns = rows + static_cast<int>(random.Below(4));
  std::vector<double> cost;
  for (int k = 0; k < rows * columns; ++k) cost.push_back(random.Uniform(-5.0, 20.0));
  const std::vector<int> own = CheapestAssignment(cost, rows, columns);
  double value = 0.0;
  for (int r = 0; r < rows; ++r) value += cost[U(r * columns + own[U(r)])];
  file.Add("cheapest assignment", {{"cost", cost}, {"members", std::vector<int>(U(rows), 1)},
                                   {"room", std::vector<int>(U(columns), 1)}, {"value", value}});
  std::vector<int> members(U(rows)), room(U(UpTo(random, 5)));
  int all = 0;
  for (int& its : members) all += its = UpTo(random, 4);
  for (int& its : room) its = all / static_cast<int>(room.size()) + UpTo(random, 4);
  cost.clear();
  for (std::size_t k = 0; k < members.size() * room.size(); ++k) cost.push_back(random.Uniform(0.0, 20.0));
  GroupedAssignment assignment;
  const std::span<const int> in = assignment.Solve(cost, members, room);
  value = 0.0;
  for (std::size_t k = 0; k < in.size(); ++k) value += in[k] > 0 ? in[k] * cost[k] : 0.0;
  file.Add("grouped assignment", {{"cost", cost}, {"members", members}, {"room", room}, {"value", value}});
}

}  // namespace

TEST_CASE("solved programs: answers are those of CBC and Clarabel", "[lp]") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "clarabel, mip, numpy, scipy");
  if (python.empty()) return test::Skip("needs Python with clarabel, mip, numpy and scipy");
  const char* given = std::getenv("BERTH_PROGRAM_SEED");
  const std::uint64_t seed = given == nullptr ? 0 : std::stoull(given);
  ProgramFile file;
  for (std::uint32_t round = 0; round < (test::kSanitized ? 2 : 20); ++round) {
    Stream random(seed, Purpose::kTest, Split::kTrain, round);
    CAPTURE(seed, round);
    RunSchedulers(random, 20 * seed + round, file);
    DrawLayouts(random, file);
    SolveSia("sia, by its own", DrawSia(random, UpTo(random, 20), UpTo(random, 4), UpTo(random, 3)), {}, file);
    SolveSia("sia, by branch and cut", DrawSia(random, 30, 3, 4), {0, 0}, file);
    DrawAuction(random, false, file);
    DrawAuction(random, true, file);
    DrawPlans(random, file);
    DrawSchedule(random, file);
    DrawAssignments(random, file);
  }
  for (const char* kind :
       {"gavel, LP", "gavel_tuned, LP", "assignment_lp, LP", "milp, LP", "milp, MIP", "shockwave, MIP", "mig_static, MIP",
        "sia, MIP", "partial_allocation, MIP", "sia, by its own", "sia, by branch and cut", "partial_allocation, by tables",
        "partial_allocation, by programs", "milp, makespans", "milp, places", "assignment_lp, bounds", "bench --optimality",
        "cheapest assignment", "grouped assignment"}) {
    INFO(kind);
    CHECK(file.count(kind) > 0);
  }
  if (const char* kept = std::getenv("BERTH_PROGRAM_FILE")) WriteTextFile(kept, file.lines());
  test::CheckLines(python, BERTH_SOURCE_DIR "/tests/solved_programs.py", file.lines(), given != nullptr);
}

}  // namespace berth

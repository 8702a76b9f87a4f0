// No scheduler, whatever it may know of the jobs in the system, sees those that have not arrived; and every
// switch of every row keeps the rules.
#include <algorithm>

#include "baselines/schedulers.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using test::Make;
// The events before `until`, without the simulator's window in the way.
std::vector<Event> EventsBefore(const Scenario& scenario, const std::string& spec, double until) {
  const auto scheduler = Make(spec);
  RunOptions options;
  options.keep_events = true;
  std::vector<Event> events = Run(scenario, *scheduler, spec, options).events;
  std::erase_if(events, [&](const Event& event) { return event.time >= until; });
  return events;
}

bool Same(const Event& a, const Event& b) {
  return a.time == b.time && a.kind == b.kind && a.type == b.type && a.job == b.job && a.device == b.device;
}

// Default parameters, and each switch (a parameter that defaults to true or false) turned.
std::vector<std::string> Switches(const SchedulerInfo& info) {
  std::vector<std::string> specs = {info.name};
  for (const ParamInfo& param : info.params) {
    const std::string value = param.default_value;
    if (value == "true") specs.push_back(std::string(info.name) + "(" + param.name + "=false)");
    if (value == "false") specs.push_back(std::string(info.name) + "(" + param.name + "=true)");
  }
  return specs;
}

}  // namespace

TEST_CASE("schedulers: jobs that have not arrived change nothing") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    for (const Clock& clock : test::AllClocks()) {
      DYNAMIC_SECTION(info.name << " " << clock.ToString()) {
        const Scenario scenario = test::RandomScenario(21, 40, clock);
        ScenarioData data = scenario.data();
        const double from = data.jobs.arrival[20];
        for (std::size_t j = 0; j < data.jobs.arrival.size(); ++j) {
          if (data.jobs.arrival[j] < from) continue;
          data.jobs.arrival[j] += 3.0;
          data.jobs.total_steps[j] = 20.0 * static_cast<double>(1 + j % 7);
          data.jobs.gang[j] = 1;
          data.jobs.job_type[j] = 1;
          data.jobs.weight[j] = 9.0;
        }
        const std::vector<Event> before = EventsBefore(scenario, info.name, from);
        const std::vector<Event> after = EventsBefore(Scenario(std::move(data)), info.name, from);
        CHECK(before.size() > 20);
        CHECK(std::equal(before.begin(), before.end(), after.begin(), after.end(), Same));
      }
    }
  }
}

TEST_CASE("schedulers: every switch of every row finishes every job") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    for (const std::string& spec : Switches(info)) {
      for (const Clock& clock : test::AllClocks()) {
        CAPTURE(spec, clock.ToString());
        const Scenario scenario = test::RandomScenario(22, 40, clock);
        const RunResult first = Run(scenario, *Make(spec), spec, {});
        CHECK(first.metrics.jobs == 40);
        CHECK(first.metrics.unfinished == 0);
        CHECK(Run(scenario, *Make(spec), spec, {}).signature == first.signature);
      }
    }
  }
}

}  // namespace berth

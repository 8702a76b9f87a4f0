// berth reproduce queueing: every queue of tools/reproduce/queueing_systems.hpp, closed form and simulator
// side by side.
#include <cmath>
#include <iostream>
#include <thread>

#include "env/base/check.hpp"
#include "tools/json.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/queueing_systems.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kConfidence = 0.99;

}  // namespace

int ReproduceQueueing(const std::vector<std::string>& arguments) {
  Options options(
      "reproduce queueing", "[options]",
      "queues with closed forms: theory and simulator side by side; exit code 1 when a system lies "
      "outside of the interval that holds all of them with 99%");
  options.Value("replications", "100", "independent runs of each system, seeds 1 to this");
  options.Value("jobs", "100000", "jobs measured in each, after a warm-up of a tenth and 1000");
  options.Value("only", "", "only systems whose name contains this text, such as srpt");
  AddThreads(options, "the results do");
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  QueueingPlan plan;
  plan.replications = static_cast<int>(options.Integer("replications", 2, 100000));
  plan.jobs = static_cast<int>(options.Integer("jobs", 1, 10000000));
  plan.warmup = plan.jobs / 10 + 1000;
  plan.tail = plan.jobs / 10 + 2000;
  plan.threads = Threads(options);
  CheckJsonWritable(options);

  std::vector<QueueingSystem> systems;
  int count = 0;
  std::string names;
  for (const QueueingSystem& system : QueueingSystems()) {
    names += (names.empty() ? "" : "; ") + system.name;
    if (system.name.find(options.Text("only")) == std::string::npos) continue;
    systems.push_back(system);
    count += static_cast<int>(system.quantities.size());
  }
  if (systems.empty()) {
    throw Error(Join(options.Where("only"), ": expected a part of one of ", names, ", found '",
                     options.Text("only"), "'"));
  }
  // Bonferroni: with probability 99% all systems lie within these intervals at once.
  const double together = 1.0 - (1.0 - kConfidence) / count;

  Table table({"system", "quantity", "closed form", "measured", "99% +-", "t", "within 99%", "source"});
  Json rows = Json::array();
  int outside = 0, beyond = 0;
  std::size_t done = 0;
  {
    Progress progress("queueing");
    for (const QueueingSystem& system : systems) {
      progress.Update(static_cast<float>(done++) / static_cast<float>(systems.size()), system.name);
      const std::vector<QueueingEstimate> estimates = Measure(system, plan);
      for (std::size_t q = 0; q < estimates.size(); ++q) {
        const Quantity& quantity = system.quantities[q];
        const QueueingEstimate& measured = estimates[q];
        const double away = measured.mean - quantity.theory, half = measured.HalfWidth(kConfidence);
        const bool within = std::abs(away) <= half;
        outside += !within;
        beyond += std::abs(away) > measured.HalfWidth(together);
        table.AddRow({system.name, quantity.name, Fixed(quantity.theory, 5), Fixed(measured.mean, 5),
                      Fixed(half, 5), Fixed(away / measured.error, 2), within ? "yes" : "NO", system.source});
        rows.push_back({{"system", system.name},
                        {"quantity", quantity.name},
                        {"closed_form", quantity.theory},
                        {"measured", measured.mean},
                        {"half_width_99", half},
                        {"t", away / measured.error},
                        {"within_99", within},
                        {"workload", system.workload},
                        {"cluster", system.cluster},
                        {"scheduler", system.scheduler},
                        {"source", system.source}});
      }
    }
  }
  WriteJson(options, Json{{"config", ConfigJson(options)},
                          {"rows", rows},
                          {"outside_99", outside},
                          {"outside_all_99", beyond}});
  std::cout
      << "clock event; " << plan.replications << " replications from an empty cluster, jobs " << plan.warmup
      << " to " << plan.warmup + plan.jobs
      << " of each measured; times in mean sizes; delay = time in system less size, lost = share rejected\n\n"
      << table.ToString() << "\n"
      << count - outside << " of " << count << " within their 99% interval (about " << Fixed(0.01 * count, 2)
      << " may lie outside by chance), " << count - beyond
      << " within the wider one that holds all at once with 99%\n";
  return beyond == 0 ? 0 : 1;
}

}  // namespace berth

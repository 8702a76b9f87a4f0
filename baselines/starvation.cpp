#include "baselines/starvation.hpp"

namespace berth {
namespace {

struct StarvationRow {
  std::string_view scheduler;
  const char* whom;
};

constexpr const char* kLong = "long gangs while shorter jobs keep coming";
constexpr const char* kPutOff =
    "gangs, which a plan for the least sum of completions puts off again and again";
constexpr const char* kUrgent =
    "jobs without a deadline, or with a late one, while more urgent ones keep coming";
constexpr const char* kServed = "gangs while jobs that had less service keep coming";
constexpr const char* kAgeFaster = "long gangs, since the others that wait rise as fast as they do";
constexpr const char* kInside = "as the scheduler inside does: srpt starves long gangs";
constexpr const char* kPassed = "gangs: jobs that fit pass them, so that GPUs are never idle together";

constexpr StarvationRow kRows[] = {
    {"priority", "light gangs while heavier jobs keep coming"},
    {"ageing", "light gangs, since the heavier that wait rise faster"},
    {"sjf", kLong},
    {"ljf", "short gangs while longer jobs keep coming"},
    {"saf", kLong},
    {"smallest", "gangs while smaller ones keep coming"},
    {"wfp3", kAgeFaster},
    {"unicep", kAgeFaster},
    {"lxf", kAgeFaster},
    {"easy_sjf", kLong},
    {"srpt", kLong},
    {"las", kServed},
    {"tiresias", "gangs while jobs that had less service keep coming, unless promote is set"},
    {"gittins", kServed},
    {"preempt_migrate", kLong},
    {"themis", kPassed},
    {"pollux", "gangs, as idle GPUs go to whoever gains by fewer at once"},
    {"sia", "gangs, which cost more than having none while smaller jobs keep coming"},
    {"gavel_tuned", "gangs, whose throughput for a GPU is less"},
    {"edf", kUrgent},
    {"least_laxity", kUrgent},
    {"deadline_admission", kUrgent},
    {"matching", kLong},
    {"nash_welfare", kLong},
    {"milp", kPutOff},
    {"genetic", kPutOff},
    {"annealing", kPutOff},
    {"tabu_search", kPutOff},
    {"hybrid", kPutOff},
    {"c_mu", "gangs of a class with little weight or long jobs"},
    {"hierarchical", "long gangs of a tenant, as the scheduler inside does: srpt starves them"},
    {"batch", "as the scheduler inside does: sjf starves long gangs"},
    {"predicted", kInside},
    {"autoscale", kInside},
    {"evacuate", kInside},
    {"anticipate", kInside},
    {"elastic_srpt", kLong},
    {"critical_path", "short jobs that nobody waits for while longer ones keep coming"},
    {"johnson", kPassed},
    {"cheap_hours", kPassed},
    {"mig", kPassed},
    {"mig_static", kPassed},
    {"random", kPassed},
};

}  // namespace

const char* Starves(std::string_view scheduler) {
  for (const StarvationRow& row : kRows) {
    if (row.scheduler == scheduler) return row.whom;
  }
  return "";
}

}  // namespace berth

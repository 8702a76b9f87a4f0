#include "tools/reproduce/actions/action_rows.hpp"

namespace berth {
namespace {

// By night 0.08 a kWh, from 8 to 20 h 0.20.
#define BERTH_PRICES                                                                                        \
  "0.08:0.08:0.08:0.08:0.08:0.08:0.08:0.08:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.08:0.08:0.08:" \
  "0.08"

constexpr const char* kRules[] = {"srpt",        "tuned",   "las", "tiresias", "gavel",
                                  "tuned_blind", "fcfs",    "sjf", "matching", "weighted_round_robin",
                                  "best_fit",    "smallest"};

}  // namespace

std::span<const ActionRow> ActionRows() {
  static const std::vector<ActionRow> kRows = {
      {.name = "elasticity",
       .title = "Gangs on fewer or more GPUs",
       .features = "elasticity(min_factor=0,max_factor=4,measured=false)",
       .actions = "start,resize",
       .specialists = {{"optimus", "interval"}, {"elastic_srpt", ""}, {"equal_share", ""}}},
      {.name = "packing",
       .title = "Two jobs on one GPU",
       .workload = "synthetic(rate=2,jobs=1000)",
       .actions = "start,pack(host=soonest)",
       .training = "--visible 32",
       .steps = 2'000'000,
       .specialists = {{"gandiva", "reset_s"}, {"gavel(packed=true)", ""}}},
      {.name = "partitions",
       .title = "GPUs in slices (MIG)",
       .cluster = "a100=12",
       .workload = "synthetic(rate=0.8,jobs=1000,table=modern,utilization=0.15:1,slo=true)",
       .features = "partitions(reconfig_s=5)",
       .actions = "start,layout",
       .training = "--visible 32 --warmup-jobs 0",
       .no_worse = {"deadline_miss_rate", "missed, share", 1.0},
       .specialists = {{"mig", "gain,enough"}, {"mig_static", ""}}},
      // Whole gangs of four need what parts leave of GPUs; a part does what the table says of the whole.
      {.name = "fractions",
       .title = "Parts of GPUs",
       .workload = "synthetic(rate=1.6,jobs=1000,gangs=1:0.9/4:0.1,parts=300:0.3/400:0.3/600:0.2)",
       .features = "sharing(share_suffices=true)",
       .actions = "start,share",
       .training = "--reward demand+0.5*jct",
       .metric = {"unserved_demand", "GPU demand not served, share", 1.0},
       .no_worse = kMeanJct,
       .specialists = {{"gpu_shares(overtake=true)", ""},
                       {"gpu_shares(fit=fgd,overtake=true)", ""},
                       {"gpu_shares(overtake=true,preemptive=true,order=sjf)", ""},
                       {"gpu_shares(fit=fgd,overtake=true,preemptive=true,order=sjf)", ""},
                       {"gpu_shares(overtake=true,preemptive=true,order=saf)", ""},
                       {"gpu_shares(fit=fgd,overtake=true,preemptive=true,order=saf)", ""}}},
      {.name = "topology",
       .title = "Nodes behind a slow network",
       .features = "topology(network_gb_s=0.125,rack_gb_s=0.125)",
       .actions = "start,gather",
       .specialists = {{"delay_scheduling", "patience,tolerate"},
                       {"defragment", "margin"},
                       {"defragment(inner=srpt)", "margin"}}},
      {.name = "power",
       .title = "A power cap, and electricity by the hour",
       .workload = "synthetic(rate=0.5,jobs=1000,gangs=multi)",
       .features = "power(cap_w=6000,electricity_price=" BERTH_PRICES ")",
       .training = "--reward cost+0.0007*jct --encoder "
                   "observation(blocks=queue:1+sizes:1+ranks:1+prices:1+assignment:1+spending:1+power:1)",
       .steps = 2'000'000,
       .window = "0:1000",
       .tuned_for = "cost+0.0007*jct",
       .metric = {"cost", "cost", 1.0},
       .no_worse = kMeanJct,
       .specialists = {{"energy_efficient", "slowdown"},
                       {"cheap_hours", "margin"},
                       {"power_feedback", "target"}}},
      {.name = "deadlines",
       .title = "Deadlines, and admission",
       .workload = "synthetic(rate=1.2,jobs=1000,gangs=multi,slo=true)",
       .actions = "start,reject",
       .training = "--reward deadline",
       .tuned_for = "deadline",
       .metric = {"deadline_miss_rate", "missed or rejected, share", 1.0},
       .specialists = {{"edf", ""}, {"least_laxity", "slice"}, {"deadline_admission", ""}}},
      {.name = "services",
       .title = "Inference services beside training",
       .workload = "synthetic(rate=0.4,jobs=1000,gangs=multi)",
       .features = "services(rate_per_s=0.1:0.1,pattern=diurnal,base_s=16,item_s=16,max_batch=8,slo_s=80,"
                   "interval_s=1800,replicas=2)",
       .actions = "start,replicas",
       .training = "--on-change false --visible 32 --warmup-jobs 0 --reward jct+200*late",
       .no_worse = {"service_p99_s", "p99 latency s", 1.0},
       .specialists = {{"autoscale", "target"}}},
      {.name = "failures",
       .title = "Spot nodes and failures, with checkpoints",
       .features = "checkpoints(gb=5,interval=young);failures(mtbf_h=200,repair_h=2,spot_types=p100:k80,"
                   "spot_mtbf_h=24,spot_away_h=2,spot_notice_s=600)",
       .specialists = {{"evacuate", "margin"}, {"evacuate(inner=tuned)", "margin"}}},
      {.name = "stages",
       .title = "Jobs that wait for others",
       .features = "stages(depends=0.5)",
       .steps = 2'000'000,
       .specialists = {{"critical_path", ""}, {"johnson", ""}}},
      {.name = "tenants",
       .title = "Tenants, and fairness",
       .workload = "synthetic(rate=0.8,jobs=1000,gangs=multi,tenants=3)",
       .no_worse = {"max_ftf", "worst finish-time fairness", 1.0},
       .specialists = {{"gavel(objective=finish_time_fairness)", ""},
                       {"fair_share", "half_life"},
                       {"drf", ""}}},
  };
  return kRows;
}

std::span<const char* const> ActionRules() {
  return kRules;
}

}  // namespace berth

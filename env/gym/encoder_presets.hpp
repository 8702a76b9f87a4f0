// Lists of blocks that have a name: what shipped policies see. Never edited, since policies were trained on
// them.
#pragma once

namespace berth {

struct EncoderPreset {
  const char* name;     // in a spec; its parameters are those of the block that has some
  const char* blocks;   // in their order
  const char* summary;  // these two: "" = the first block's
  const char* source;
  // Where a part's channels stand in another order than the blocks': its last ones, by name; "" = as the
  // blocks'.
  const char* job = "";
  const char* pair = "";
  const char* type = "";
  const char* global = "";
};

inline constexpr EncoderPreset kEncoderPresets[] = {
    {"ObservationV1", "queue:1", "", ""},
    {"ObservationV2",
     "queue:1+elasticity:1+sharing:1+failures:1+stages:1+topology:1+checkpoints:1+forecast:1+services:1+"
     "power:1+partitions:1+monitoring:1+arrivals:1+latency:1",
     "ObservationV1 and what features add: widths, shares, nodes, failures, power, services, ...", "",
     /*job=*/
     "width,least,most,share,burstable,best_effort,interruptions,behind,spread,leaves,unsaved,saving,"
     "predicted",
     /*pair=*/"",
     /*type=*/"in_service,replicas,power,throttled,parts,sliced,reconfiguring",
     /*global=*/
     "in_service,replicas_wanted,requests_waiting,power,price,fragmentation,utilization,arrivals_ahead,"
     "latency,decision_age,overtaken,jobs_ahead,gpus_ahead"},
    {"ObservationV3", "queue:1+sizes:1+ranks:1+prices:1+assignment:1",
     "ObservationV1 and where each job belongs: prices of GPU types, regret, ranks",
     "Berth; prices: env/gym/blocks/gpu_prices.hpp",
     /*job=*/"size,rank,surplus,members,waited,size_1,size_4,size_16,size_64,surplus_gpu",
     /*pair=*/
     "regret,slowness,keener,regret_load,regret_size,matched,matched_load,regret_gpu,matched_gpu,"
     "matched_gpu_load"},
    {"RLScheduler", "rlscheduler:1", "", ""},
    {"Batch", "batch:1", "", ""},
    {"Lookahead", "batch:1+lookahead:1",
     "Batch, and what it is expected to cost to begin with one job rather than another",
     "rollouts of the least area first over sampled futures (Bertsekas & Castanon, J. Heuristics 1999)"},
};

}  // namespace berth

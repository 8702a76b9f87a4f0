// Memory of shared GPUs: what its bandwidth and its size leave of sharing.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {

RealismResult RealismBandwidth(const RealismOptions& options) {
  RealismResult result;
  result.title = "Memory of shared GPUs, 12 V100 of 16 GB: mean JCT by the bandwidth that job types use";
  result.shows =
      "Every job needs a quarter or a half of the compute, so up to four share a GPU. The more of its "
      "memory's "
      "bandwidth they use the less that is worth; where their memory is large, fewer share one and slow each "
      "other less, but more wait.";
  result.columns = {"GPU memory of a job type", "bandwidth of a job type", "mean JCT h", "95%"};
  result.x_label = "bandwidth that a job type uses at most, share of the GPU's";
  result.y_label = "mean JCT, h";
  for (const char* memory : {"off", "2:8", "4:14"}) {
    const bool limited = std::string(memory) != "off";
    const std::string name = limited ? std::string(memory) + " GB" : "not stated";
    Curve curve{Join("memory ", name)};
    for (const double most : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const RealismRuns runs(options.seeds, "gpu_shares(overtake=true)", {50, 250}, [&](std::uint64_t seed) {
        const std::string needs =
            Join(",parts=250:0.5/500:0.5", most > 0.0 ? Join(",bandwidth=0:", most) : "",
                 limited ? Join(",gpu_memory=", memory) : "");
        return RealismScenario(Join("synthetic(rate=2,jobs=300", needs, ")"), "v100=12", "rounds(360)",
                               "sharing(share_suffices=true)", seed);
      });
      const Interval jct_h = runs.JctHours();
      curve.Add(most, jct_h);
      result.rows.push_back({name, most > 0.0 ? Join("0 to ", Fixed(most, 2)) : "none", Fixed(jct_h.mean, 2),
                             Brackets(jct_h, 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth

// Outages that are announced: maintenance that goes through a cluster node by node, and spot nodes.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr const char* kOutagesWorkload = "synthetic(rate=1.2,jobs=300)";

// A point of the curve and its row.
void Add(double at, const RealismRuns& runs, Curve& curve, RealismResult& into) {
  const Interval jct_h = runs.JctHours();
  curve.Add(at, jct_h);
  into.rows.push_back({curve.name, Fixed(at, 0), Fixed(jct_h.mean, 2), Brackets(jct_h, 2),
                       Fixed(runs.Mean(&Metrics::interruptions_per_job), 2),
                       Fixed(runs.Mean(&Metrics::lost_work_h), 2)});
}

}  // namespace

RealismResult RealismDrains(const RealismOptions& options) {
  RealismResult result;
  result.title = "Maintenance: every 4 h one of 9 nodes of four GPUs is away for 2 h; mean JCT by notice";
  result.shows =
      "A node takes no new job from the notice on. Long notice lets short jobs end and idles GPUs meanwhile. "
      "srpt moves who would not end in time to what the others leave idle at once, evacuate at the last "
      "moment, at which it stops the rest. Both decide once in a round of 360 s, so that a minute's notice "
      "is none: what runs when a node goes is lost, but for what is saved now and then.";
  result.columns = {"scheduler",          "notice s", "mean JCT h", "95%", "interruptions per job",
                    "lost work h per job"};
  result.x_label = "seconds of notice";
  result.y_label = "mean JCT, h";
  result.log_x = true;
  const char* const kTypes[] = {"v100", "p100", "k80"};
  const struct {
    const char *name, *scheduler, *features;
  } kWays[] = {{"srpt", "srpt", ""},
               {"srpt, saved every half hour", "srpt", ";checkpoints(gb=5,interval=1800)"},
               {"evacuate(srpt)", "evacuate(inner=srpt)", ";checkpoints(gb=5)"}};
  for (const auto& way : kWays) {
    Curve curve{way.name};
    for (const double notice : {60.0, 600.0, 3600.0, 14000.0}) {
      std::string events;
      for (int k = 0; k < 240; ++k) {  // 40 days
        const double down = 14400.0 * (k + 1);
        events += Join(events.empty() ? "" : "|", down, ":", down + 7200.0, ":node:", kTypes[k % 3], "/",
                       k / 3 % 3, ":", notice);
      }
      const RealismRuns runs(options.seeds, way.scheduler, {50, 250}, [&](std::uint64_t seed) {
        return RealismScenario(kOutagesWorkload, "v100=12/4,p100=12/4,k80=12/4", "rounds(360)",
                               Join("failures(mtbf_h=0,events=", events, ")", way.features), seed);
      });
      Add(notice, runs, curve, result);
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

RealismResult RealismSpot(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "Spot nodes: 12 V100 of one's own and 24 GPUs that are reclaimed; mean JCT by how long they stay";
  result.shows =
      "GPUs that are taken back cost the work of whoever is on them, without notice perhaps more than they "
      "give; a scheduler that leaves in time keeps what they give. The level line has the 12 V100 alone.";
  result.columns = {"scheduler", "hours until reclaimed", "mean JCT h",
                    "95%",       "interruptions per job", "lost work h per job"};
  result.x_label = "mean hours until a node is reclaimed (away for 1 h)";
  result.y_label = "mean JCT, h";
  result.log_x = result.log_y = true;
  const std::vector<double> hours = {1.0, 3.0, 10.0, 30.0, 100.0};
  const struct {
    const char *name, *scheduler;
    double notice_s;
  } kWays[] = {{"srpt, no notice", "srpt", 0.0},
               {"srpt, two minutes' notice", "srpt", 120.0},
               {"evacuate(srpt), two minutes' notice", "evacuate(inner=srpt)", 120.0}};
  for (const auto& way : kWays) {
    Curve curve{way.name};
    for (const double stay : hours) {
      const RealismRuns runs(options.seeds, way.scheduler, {50, 250}, [&](std::uint64_t seed) {
        return RealismScenario(kOutagesWorkload, "v100=12/4,p100=12/4,k80=12/4", "event",
                               Join("failures(mtbf_h=0,spot_types=p100:k80,spot_mtbf_h=", stay,
                                    ",spot_away_h=1,spot_notice_s=", way.notice_s, ");checkpoints(gb=5)"),
                               seed);
      });
      Add(stay, runs, curve, result);
    }
    result.curves.push_back(std::move(curve));
  }
  const RealismRuns alone(options.seeds, "srpt", {50, 250}, [&](std::uint64_t seed) {
    return RealismScenario(kOutagesWorkload, "v100=12/4", "event", "", seed);
  });
  Curve level{"srpt, 12 V100 alone"};
  Add(hours.front(), alone, level, result);
  result.rows.back()[1] = "-";
  level.Add(hours.back(), alone.JctHours());
  result.curves.push_back(std::move(level));
  return result;
}

}  // namespace berth

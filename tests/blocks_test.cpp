// Observations made of blocks: any set is its blocks side by side, and the lists under a name are theirs.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/score_order.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

constexpr const char* kFeatures =
    "failures(mtbf_h=20,repair_h=0.5);topology(placement=consolidate,cpus_per_node=40);sharing;"
    "elasticity(min_factor=0.5,max_factor=2,resize_s=10);checkpoints(gb=10,interval=600);"
    "power(cap_w=6000,heat=true);services(rate_per_s=2,replicas=1);monitoring(interval_s=300);"
    "latency(seconds=30);forecast(model=exponential,bin_s=600);stages(cpu_core_s=0.5,chain=3)";

Scenario Workload(std::uint64_t seed) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8/4,p100=8/4,k80=8/4");
  settings.features = ParseFeatures(kFeatures);
  return MakeWorkload("synthetic(rate=20,jobs=60,gangs=multi,priorities=true)", settings)
      ->Make(seed, Split::kEvaluate, 0, 0);
}

MdpSpec Process(const std::string& encoder, bool preemptive) {
  MdpSpec mdp;
  mdp.encoder = encoder;
  mdp.preemptive = preemptive;
  mdp.on_change = false;
  return mdp;
}

// Several encoders shown the same simulation, which the first one's random scores drive. After each point
// `look` is called.
template <class Look>
int Watch(std::vector<DecisionPoint>& points, const Scenario& scenario, const Look& look) {
  Simulator sim(scenario);
  Stream random(3, Purpose::kTest);
  ScoreOrder order;
  Decision decision;
  int seen = 0;
  for (DecisionPoint& point : points) point.Begin(sim.View(Knowledge::kOracle));
  for (; sim.AdvanceToDecision() && seen < 120; ++seen) {
    const ClusterView view = sim.View(Knowledge::kOracle);
    decision.Clear();
    if (!points.front().PassesOver(view)) {
      for (DecisionPoint& point : points) {
        point.Start(view);
        point.Gather(view);
        point.Observe(view, /*q=*/0);
      }
      look();
      std::vector<float> scores(U(points.front().done()) + 1);
      for (float& score : scores) score = static_cast<float>(random.Uniform());
      order.Rank(view, points.front(), scores, /*noise=*/nullptr);
      order.Fill(view, points.front(), Reserve::kNone);
      points.front().Close(view, decision);
    }
    REQUIRE(sim.Apply(decision).ok());
  }
  return seen;
}

// The values of a channel in every row of its part, by "jobs.gang" and the like.
using Columns = std::map<std::string, std::vector<float>>;
Columns ColumnsOf(const DecisionPoint& point) {
  Columns columns;
  const ObservationLayout& layout = point.layout();
  const float* at = point.observation().data();
  const auto add = [&](const char* part, const std::vector<ChannelInfo>& channels, int rows) {
    for (int row = 0; row < rows; ++row) {
      for (const ChannelInfo& channel : channels) columns[Join(part, channel.name)].push_back(*at++);
    }
  };
  const EncoderInfo& info = point.encoder();
  add("jobs.", info.job, layout.q);
  add("pairs.", info.pair, layout.q * layout.g);
  add("types.", info.type, layout.g);
  add("global.", info.global, 1);
  REQUIRE(at == point.observation().data() + point.observation().size());
  return columns;
}

std::string SetOf(const std::string& blocks) {
  return Join("observation(blocks=", blocks, ")");
}

}  // namespace

TEST_CASE("blocks: any random set is its single blocks side by side", "[mdp]") {
  const bool preemptive = GENERATE(true, false);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Stream random(seed, Purpose::kTest, Split::kEvaluate, preemptive ? 1 : 0);
    std::vector<const BlockInfo*> set;
    while (set.size() < 3) {
      set.clear();
      for (const BlockInfo& info : Blocks()) {
        const std::string name = info.name;
        const bool rigid = name == "batch" || name == "lookahead";  // of processes that stop nobody
        if (info.alone || (rigid && preemptive) || random.Below(3) > 0) continue;
        set.insert(set.begin() + random.Below(static_cast<std::uint32_t>(set.size() + 1)), &info);
      }
    }
    std::string all;
    std::vector<DecisionPoint> points;
    for (const BlockInfo* info : set) {
      const std::string name = Join(info->name, ":", info->version);
      all += Join(all.empty() ? "" : "+", name);
      points.emplace_back(Process(SetOf(name), preemptive));
    }
    CAPTURE(all, preemptive);
    points.emplace(points.begin(), Process(SetOf(all), preemptive));
    const int seen = Watch(points, Workload(seed), [&] {
      const ObservationLayout& whole = points.front().layout();
      const float* together = points.front().observation().data();
      int job = 1, entity = 0, pair = 0, type = 0, global = 0;  // the first channels and row of the next block
      for (std::size_t b = 0; b < set.size(); ++b) {
        const DecisionPoint& one = points[b + 1];
        const ObservationLayout& layout = one.layout();
        const float* alone = one.observation().data();
        const auto same = [&](int rows, int whole_offset, int whole_stride, int first, int offset, int stride,
                              int skip) {
          for (int row = 0; row < rows; ++row) {
            const float* expected = alone + offset + row * stride;
            if (!std::equal(expected + skip, expected + stride,
                            together + whole_offset + row * whole_stride + first))
              FAIL(set[b]->name << " is another beside others, row " << row);
          }
        };
        const int own = one.encoder().entities, jobs = layout.q - own;
        REQUIRE((jobs == whole.q - points.front().encoder().entities && layout.g == whole.g));
        same(jobs, 0, whole.job_channels, job, 0, layout.job_channels, /*skip=*/1);  // `present`
        // Its entities; of those that have a row nothing names another row but by where it stands here.
        const int cut = layout.edges;
        for (int row = 0; row < own; ++row) {
          const float* expected = alone + (jobs + row) * layout.job_channels;
          const float* found = together + (jobs + entity + row) * whole.job_channels;
          if (found[0] != expected[0] ||
              !std::equal(expected + 1, expected + layout.job_channels - cut, found + job))
            FAIL(set[b]->name << " has another entity beside others, row " << row);
        }
        entity += own;
        same(jobs * layout.g, whole.pairs_offset(), whole.pair_channels, pair, layout.pairs_offset(),
             layout.pair_channels, 0);
        same(layout.g, whole.types_offset(), whole.type_channels, type, layout.types_offset(),
             layout.type_channels, 0);
        same(1, whole.global_offset(), whole.global_channels, global, layout.global_offset(),
             layout.global_channels, 0);
        job += layout.job_channels - 1, pair += layout.pair_channels;
        type += layout.type_channels, global += layout.global_channels;
      }
      REQUIRE((job == whole.job_channels && pair == whole.pair_channels && type == whole.type_channels &&
               global == whole.global_channels));
    });
    CHECK(seen > 50);
  }
}

TEST_CASE("blocks: a list under a name is its blocks, in its order of channels", "[mdp]") {
  for (const EncoderInfo& info : Encoders()) {
    if (info.alone() || std::string(info.name) == "observation") continue;
    CAPTURE(info.name);
    const bool preemptive = info.blocks.front().Name() != "batch:1";
    std::vector<DecisionPoint> points;
    points.emplace_back(Process(info.name, preemptive));
    points.emplace_back(Process(SetOf(info.Blocks()), preemptive));
    const int seen =
        Watch(points, Workload(9), [&] { REQUIRE(ColumnsOf(points[0]) == ColumnsOf(points[1])); });
    CHECK(seen > 50);
    const std::vector<std::string> lines = info.Describe();
    CHECK(lines.size() == info.job.size() + info.pair.size() + info.type.size() + info.global.size());
    CHECK(lines.front() == "jobs encoder present: 1 = this row is a job; 0 to 1");
  }
  const std::vector<std::string> lines = EncoderOf("ObservationV2").Describe();
  CHECK(std::count(lines.begin(), lines.end(),
                   "types sharing:1 parts: thousandths free on devices in partial use, over the type's "
                   "devices; 0 to 1") == 1);
}

TEST_CASE("blocks: a spec is resolved with every version and parameter", "[mdp]") {
  const std::string resolved = ResolveEncoder("observation(blocks=batch+lookahead(samples=4)+power:1)");
  CHECK(resolved ==
        "observation(blocks=batch:1+lookahead:1(samples=4,future=16,tried=16,oldest=0,history=256,hour=0,"
        "backfill=auto)+power:1)");
  CHECK(ResolveEncoder(resolved) == resolved);
  CHECK(ResolveEncoder("observation") == "observation(blocks=queue:1)");
  CHECK(EncoderOf(resolved).Blocks() == "batch:1+lookahead:1+power:1");
}

TEST_CASE("blocks: the richest tells of room where choosing a job blocks the queue", "[mdp]") {
  const auto richest = [](const char* features, Semantics semantics, Knowledge knowledge) {
    return RichestEncoder(ParseFeatures(features), semantics, knowledge);
  };
  CHECK(richest("", Semantics::kRedecide, Knowledge::kOracle) == "ObservationV3");
  CHECK(richest("", Semantics::kCommit, Knowledge::kBlind) == "ObservationV3");
  const std::string v3 = EncoderOf("ObservationV3").Blocks();
  CHECK(richest("", Semantics::kCommit, Knowledge::kEstimate) == SetOf(v3 + "+batch:1"));
  CHECK(richest("power(cap_w=6000)", Semantics::kCommit, Knowledge::kOracle) == SetOf(v3 + "+batch:1+power:1"));
  CHECK(richest("power(cap_w=6000)", Semantics::kRedecide, Knowledge::kOracle) == SetOf(v3 + "+power:1"));
}

TEST_CASE("blocks: what is wrong with a spec is one line", "[mdp]") {
  const auto why = [](const std::string& blocks) -> std::string {
    try {
      MakeEncoder(Process(SetOf(blocks), true));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(why("queue:1+pwer:1") ==
        "blocks: expected names of `berth list blocks`, found 'pwer' (did you mean 'power'?)");
  CHECK(why("power:2") == "block power: expected version 1, found '2'");
  CHECK(why("power:1+queue:1+power") == "blocks: 'power:1' twice");
  CHECK(why("queue:1+rlscheduler:1") == "blocks: expected 'rlscheduler:1' alone, found it beside others");
  CHECK(why("") == "blocks: expected at least one, found none");
  CHECK(why("queue:1(x=1)") == "queue: unknown parameter 'x'; it takes none");
  CHECK(why("batch:1") == "block batch: expected a non-preemptive process, found a preemptive one");
}

}  // namespace berth

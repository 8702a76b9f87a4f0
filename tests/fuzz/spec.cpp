// Texts of options: specs, expressions, levels, axes, clusters, features, clocks, moments, spans, lists of hosts.
#include <algorithm>
#include <vector>

#include "baselines/queue/score_expression.hpp"
#include "data/arrivals.hpp"
#include "data/decisions/decisions.hpp"
#include "data/edit.hpp"
#include "data/sacct/accounting.hpp"
#include "data/sizes.hpp"
#include "data/tables/columns.hpp"
#include "data/tables/times.hpp"
#include "data/workloads.hpp"
#include "env/base/slurm_conf.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"
#include "env/gym/actions/action_set.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/rewards.hpp"
#include "policies/architecture.hpp"
#include "tests/fuzz/targets.hpp"
#include "tools/controller/site_file.hpp"
#include "tools/metric_columns.hpp"
#include "tools/size/levels.hpp"
#include "tools/size/mixes.hpp"
#include "tools/spec_files.hpp"
#include "tools/sweep/grid.hpp"

namespace berth::fuzz {
namespace {

// What is written down is read again, and says the same.
template <class F>
void Settles(const char* what, const std::string& text, const F& resolve) {
  Accepted([&] {
    const std::string once = resolve(text);
    std::string twice;
    try {
      twice = resolve(once);
    } catch (const Error& error) {
      Fail(Join(what, ": '", text, "' becomes '", once, "', which is refused: ", error.what()));
    }
    if (twice != once) Fail(Join(what, ": '", text, "' becomes '", once, "', and that '", twice, "'"));
  });
}

const Scenario& SomeJobs() {
  static const Scenario scenario = [] {
    ScenarioSettings settings;
    settings.cluster = ParseCluster("v100=8/4,p100=4,k80=4");
    return MakeWorkload("synthetic(jobs=12,gangs=multi)", settings)->Make(3, Split::kEvaluate, 0, 0);
  }();
  return scenario;
}

void OneSpec(const TextRow&, const std::string& text) {
  Settles("spec", text, [](const std::string& t) { return ParseSpec(t).ToString(); });
  Accepted([&] { SplitOutsideParentheses(text, ';'); });
  SpecFiles(text);
}

void OneScore(const TextRow&, const std::string& text) {
  Accepted([&] { ParseScore(text); });
}

void OneWorkload(const TextRow&, const std::string& text) {
  Accepted([&] {
    ScenarioSettings settings;
    settings.cluster = ParseCluster("v100=8/4,p100=4,k80=4");
    const auto source = MakeWorkload(text, settings);
    if (!source->fixed()) source->Make(1, Split::kTrain, 0, 0, 8);
  });
}

void OneCluster(const TextRow&, const std::string& text) {
  Accepted([&] { ParseCluster(text); });
}

void SomeFeatures(const TextRow&, const std::string& text) {
  Settles("features", text, [](const std::string& t) { return ToString(ParseFeatures(t)); });
  Accepted([&] {
    ScenarioData data = SomeJobs().data();
    data.features = ParseFeatures(text);
    const Scenario scenario(std::move(data));
    scenario.Hash();
  });
}

void OneClock(const TextRow&, const std::string& text) {
  Settles("clock", text, [](const std::string& t) { return Clock::Parse(t).ToString(); });
  Accepted([&] { ParseKnowledge(text); });
}

void OneProcess(const TextRow&, const std::string& text) {
  Settles("arrivals", text, [](const std::string& t) { return ArrivalModel::Parse(t, 3.0).spec; });
  Settles("sizes", text, [](const std::string& t) { return SizeDistribution::Parse(t, 60.0).spec(); });
  Accepted([&] {
    ArrivalProcess process(ArrivalModel::Parse(text, 3.0), Stream(1, Purpose::kTest));
    double last = 0.0;
    for (int i = 0; i < 4; ++i) {
      const double next = process.Next();
      if (!(next >= last)) Fail(Join("arrivals '", text, "': ", next, " behind ", last));
      last = next;
    }
  });
  Accepted([&] {
    const SizeDistribution sizes = SizeDistribution::Parse(text, 60.0);
    Stream stream(1, Purpose::kTest);
    for (int i = 0; i < 4; ++i) {
      if (const double size = sizes.Draw(stream); !(size > 0.0)) Fail(Join("sizes '", text, "': drew ", size));
    }
  });
}

void SomeLevels(const TextRow&, const std::string& text) {
  Accepted([&] { ParseLevels(text); });
  Accepted([&] { NamedMetric(text); });
  Accepted([&] { MetricColumns(text, {&SomeJobs(), 1}); });
}

void SomeTypes(const TextRow&, const std::string& text) {
  Accepted([&] {
    const std::vector<TypeRange> types = ParseTypes(text);
    const std::vector<Mix> mixes = AllMixes(types);
    if (!mixes.empty()) ParseCluster(MixText(types, mixes.back()));
  });
}

void SomeAxes(const TextRow&, const std::string& text) {
  Settles("axes", text, [](const std::string& t) { return Grid(ParseAxes(t)).ToString(); });
  Accepted([&] {
    const std::vector<Axis> axes = ParseAxes(text);
    const Grid grid(axes);
    const auto known = [&](const std::string& name) { return std::ranges::any_of(axes, [&](const Axis& axis) { return axis.name == name; }); };
    if (std::ranges::all_of(Placeholders(text), known)) grid.Fill(text, grid.size() - 1);  // sweep looks at that before
    grid.Label(0);
  });
  Accepted([&] { Counts(text, "counts"); });
  Placeholders(text);
}

void OneTime(const TextRow&, const std::string& text) {
  LooksLikeDate(text);
  Accepted([&] { ParseMoment(text, "moment"); });
  Accepted([&] { ParseSpan(text, "span"); });
  Accepted([&] { ParseSlurmSpan(text, "limit"); });
}

void SomeHosts(const TextRow&, const std::string& text) {
  Accepted([&] { ExpandHosts(text, "hosts"); });
  Accepted([&] { GpusOf(text, "tres"); });
  Accepted([&] { NumberOfSlurmId(text, "job"); });
}

void OneSubmission(const TextRow&, const std::string& text) {
  SacctRow row;
  Accepted([&] { ReadSubmitLine(text, row); });
  OptionOf(text, "--dependency", "-d");
  WordsOf(text);
}

void SomeConditions(const TextRow&, const std::string& text) {
  Accepted([&] { FilterJobs(SomeJobs(), text); });
}

void SomeColumns(const TextRow&, const std::string& text) {
  const std::size_t bar = text.find('|');
  std::vector<std::string> header = {"Submit", "n_gpu", "duration", "user"};
  if (bar != std::string::npos) header = SplitOutsideParentheses(text.substr(bar + 1), ',');
  Accepted([&] { JobColumns(text.substr(0, bar), header).Describe(); });
}

void SomeActions(const TextRow&, const std::string& text) {
  Settles("actions", text, [](const std::string& t) { return ResolveActions(t); });
}

void OneEncoder(const TextRow&, const std::string& text) {
  Settles("encoder", text, [](const std::string& t) { return ResolveEncoder(t); });
}

void OneNetwork(const TextRow&, const std::string& text) {
  Settles("network", text, [](const std::string& t) { return ResolveArchitecture(t); });
  Accepted([&] {
    const ObservationLayout layout = EncoderOf("ObservationV1").Layout(4, 3);
    LayersOf(text, layout, 13);
  });
}

void OneReward(const TextRow&, const std::string& text) {
  Accepted([&] { Reward{text}; });
}

constexpr auto kRow = [](const char* name, void (*read)(const TextRow&, const std::string&)) { return TextRow{name, read}; };

}  // namespace

bool Run_spec(Bytes bytes) {
  static const std::vector<TextRow> rows = {
      kRow("spec", OneSpec),       kRow("score", OneScore),     kRow("workload", OneWorkload),
      kRow("cluster", OneCluster), kRow("features", SomeFeatures),  kRow("clock", OneClock),     kRow("process", OneProcess),
      kRow("levels", SomeLevels),  kRow("types", SomeTypes),        kRow("axes", SomeAxes),      kRow("time", OneTime),
      kRow("hosts", SomeHosts),    kRow("submit", OneSubmission),   kRow("where", SomeConditions), kRow("columns", SomeColumns),
      kRow("actions", SomeActions), kRow("encoder", OneEncoder),    kRow("network", OneNetwork), kRow("reward", OneReward)};
  return RunRow(rows, bytes.first(static_cast<std::size_t>(std::ranges::find(bytes, 0) - bytes.begin())));  // a word of a command line
}

}  // namespace berth::fuzz

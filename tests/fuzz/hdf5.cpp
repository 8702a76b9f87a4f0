// Files of Berth with datasets and attributes changed, and the content hash of what they then hold: h5::Writer writes them, so that a reader
// comes to what it checks behind the hash. The input is which file, and changes.
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <variant>
#include <vector>

#include "agents/search/cma_es.hpp"
#include "agents/search/search.hpp"
#include "data/hdf5_file.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "policies/inference.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/policies_support.hpp"
#include "tools/verbs.hpp"

namespace berth::fuzz {
namespace {

using Values = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                            std::vector<std::uint8_t>, std::vector<std::uint64_t>>;
using Attribute = std::variant<double, std::int64_t, std::string>;

struct Dataset {
  Values values;
  std::vector<std::int64_t> shape;
};

// What a file holds but for what h5::Writer adds by itself.
struct Content {
  std::string kind;
  int version = 1;
  std::map<std::string, Dataset> sets;
  std::map<std::string, Attribute> attributes;
};

template <class T>
bool Read(const h5::Reader& in, const std::string& name, Dataset& set) {
  try {
    set.values = in.Array<T>(name, -1, &set.shape);
    return true;
  } catch (const Error&) {
    return false;  // another type
  }
}

Attribute ReadAttribute(const h5::Reader& in, const std::string& name) {
  const hid_t file = H5Fopen(in.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), attribute = H5Aopen(file, name.c_str(), H5P_DEFAULT),
              type = H5Aget_type(attribute);
  const H5T_class_t sort = H5Tget_class(type);
  H5Tclose(type), H5Aclose(attribute), H5Fclose(file);
  if (sort == H5T_STRING) return in.Text(name);
  if (sort == H5T_FLOAT) return in.Number(name);
  return in.Integer(name);
}

Content ContentOf(const std::string& path) {
  Content content;
  content.kind = h5::KindOf(path);
  const h5::Reader in(path, content.kind, 1000);
  content.version = in.version();
  for (const std::string& name : in.Datasets()) {
    Dataset& set = content.sets[name];
    if (!(Read<double>(in, name, set) || Read<float>(in, name, set) || Read<std::int32_t>(in, name, set) ||
          Read<std::int64_t>(in, name, set) || Read<std::uint8_t>(in, name, set) || Read<std::uint64_t>(in, name, set)))
      Fail("a dataset of no known type: " + name);
  }
  for (const std::string& name : in.Attributes()) {
    if (name.rfind("berth_", 0) == 0 || name.rfind("source_", 0) == 0 || name == "content_hash") continue;
    content.attributes.emplace(name, ReadAttribute(in, name));
  }
  return content;
}

void Write(const Content& content, const std::string& path) {
  h5::Writer out(path, content.kind, content.version);
  for (const auto& [name, value] : content.attributes) {
    if (const auto* text = std::get_if<std::string>(&value)) out.Text(name, *text);
    if (const auto* number = std::get_if<double>(&value)) out.Number(name, *number);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) out.Integer(name, *whole);
  }
  for (const auto& [name, set] : content.sets) {
    std::visit([&, &name = name, &shape = set.shape](const auto& values) { out.Array(name, values, shape); }, set.values);
  }
  out.Commit();
}

constexpr std::size_t kMostValues = 4096;

template <class T>
void Put(std::vector<T>& values, std::size_t at, Input& in) {
  if constexpr (std::is_floating_point_v<T>) {
    const double number = in.Number();
    values[at] = std::abs(number) <= static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(number)
                 : std::isnan(number)                                                  ? std::numeric_limits<T>::quiet_NaN()
                 : number > 0.0                                                        ? std::numeric_limits<T>::infinity()
                                                                                       : -std::numeric_limits<T>::infinity();
  } else {
    values[at] = static_cast<T>(in.Integer());
  }
}

// One dimension, as many as there are values.
void Flatten(Dataset& set) {
  std::visit([&](const auto& values) { set.shape = {std::ssize(values)}; }, set.values);
}

template <class T>
Values As(const Values& from) {
  std::vector<T> to;
  std::visit(
      [&](const auto& values) {
        for (const auto value : values) {
          const double number = static_cast<double>(value);
          to.push_back(std::abs(number) < 100.0 && (number >= 0.0 || std::is_signed_v<T>) ? static_cast<T>(number) : T{1});
        }
      },
      from);
  return to;
}

void ChangeSet(Dataset& set, Input& in) {
  const int how = in.Below(7);
  const int count = in.Byte();
  if (how == 6) {  // another type
    const Values old = set.values;
    switch (count % 6) {
      case 0: set.values = As<double>(old); break;
      case 1: set.values = As<float>(old); break;
      case 2: set.values = As<std::int32_t>(old); break;
      case 3: set.values = As<std::int64_t>(old); break;
      case 4: set.values = As<std::uint8_t>(old); break;
      default: set.values = As<std::uint64_t>(old); break;
    }
    return;
  }
  std::visit(
      [&](auto& values) {
        switch (how) {
          case 0:
          case 1:  // one value
            if (!values.empty()) Put(values, static_cast<std::size_t>(count) % values.size(), in);
            break;
          case 2:  // all of them
            if (!values.empty()) Put(values, 0, in), std::fill(values.begin(), values.end(), values[0]);
            break;
          case 3:  // fewer, or the first again and again
            values.resize(static_cast<std::size_t>(count), values.empty() ? typename std::decay_t<decltype(values)>::value_type{} : values[0]);
            set.shape.clear();
            break;
          case 4: {  // text, of lists of texts
            values.clear();
            for (const char c : in.Text(200)) values.push_back(static_cast<typename std::decay_t<decltype(values)>::value_type>(c == '|' ? 0 : c));
            if (count % 2 == 0) values.push_back({});
            set.shape.clear();
            break;
          }
          default:  // the same values in another shape
            if (count % 3 == 0) set.shape = {1, std::ssize(values)};
            if (count % 3 == 1) set.shape = {std::ssize(values), 1};
            if (count % 3 == 2) set.shape = {std::ssize(values)};
        }
        if (values.size() > kMostValues) values.resize(kMostValues), set.shape.clear();
      },
      set.values);
  if (set.shape.empty()) Flatten(set);
}

void ChangeAttribute(Attribute& attribute, Input& in) {
  switch (in.Below(4)) {
    case 0: attribute = in.Number(); break;
    case 1: attribute = in.Integer(); break;
    case 2: attribute = in.Text(200); break;
    default:  // a few bytes of a text, or its own sort
      if (auto* text = std::get_if<std::string>(&attribute)) {
        const std::size_t at = text->empty() ? 0 : in.Byte() % text->size();
        const std::size_t length = in.Byte() % 16;
        text->replace(at, length, in.Text(40));
      } else if (auto* number = std::get_if<double>(&attribute)) {
        *number = in.Number();
      } else {
        attribute = in.Integer();
      }
  }
}

template <class Map>
auto At(Map& map, int index) {
  auto it = map.begin();
  std::advance(it, index % static_cast<int>(map.size()));
  return it;
}

void Change(Content& content, Input& in) {
  const int what = in.Below(12), which = in.Byte();
  if (what < 6) {
    if (!content.sets.empty()) ChangeSet(At(content.sets, which)->second, in);
  } else if (what < 8) {
    if (!content.attributes.empty()) ChangeAttribute(At(content.attributes, which)->second, in);
  } else if (what == 8) {
    if (!content.sets.empty()) content.sets.erase(At(content.sets, which));
  } else if (what == 9) {
    if (!content.attributes.empty()) content.attributes.erase(At(content.attributes, which));
  } else if (what == 10) {
    if (!content.sets.empty()) content.sets[At(content.sets, which)->first] = At(content.sets, in.Byte())->second;
  } else {
    content.version = which % 4;
  }
}

// Every optional column, pairs, two tenants.
Scenario EveryColumn() {
  ScenarioData data;
  data.name = "every column";
  data.cluster = ParseCluster("a100=8/4,h100=2");
  data.throughputs = {{"one", "b"}, {1, 2, 4}, {1, 2, 1, 2, 1.1, 2, 1, 2, 1, 2, 1, 2}, {}, {}};
  data.throughputs.unconsolidated = data.throughputs.alone;
  data.throughputs.pairs = {0.5, 0.5, 0.6, 0.6, 0.3, 0.4, 0.1, 0.2, 0.4, 0.3, 0.2, 0.1, 0.7, 0.7, 0.8, 0.8};
  data.believed.alone = data.throughputs.alone, data.believed.pairs = data.throughputs.pairs;
  data.jobs.id = {5, 3, 4};
  data.jobs.arrival = {1.0, 100, 200};
  data.jobs.job_type = {0, 1, 0}, data.jobs.gang = {1, 4, 2};
  data.jobs.gang_min = {1, 2, 2}, data.jobs.gang_max = {1, 4, 4};
  data.jobs.total_steps = {1e-3, 1e9, 0.5};
  data.jobs.weight = {1, 1, 1}, data.jobs.deadline = {kNever, 250, kNever};
  data.jobs.requested_s = {std::nan(""), 3600, 60}, data.jobs.tenant = {1, 0, 1};
  data.jobs.allowed = {~std::uint64_t{0}, 1, 3}, data.jobs.gpu_milli = {250, 1000, 1000}, data.jobs.qos = {1, 0, 2};
  data.jobs.batch_size = {0, 64, 0};
  data.jobs.demand = {4, 16.5, 1, 0, 2, 8};
  data.traits.checkpoint_gb = {1, 2}, data.traits.gradient_gb = {0.1, 0.2}, data.traits.memory_gb = {10, 0};
  data.traits.utilization = {0.5, 1}, data.traits.bandwidth = {0, 0.5}, data.traits.traffic_gb = {0.3, 0};
  data.tenants = {{"ann", 2.5, "fairness"}, {"bob", 1, "fifo"}};
  data.knowledge = Knowledge::kEstimate, data.estimate_sigma = 0.3, data.seed = 9;
  return Scenario(std::move(data));
}

Scenario WithEveryFeature() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8/4,p100=4/2");
  settings.features = ParseFeatures("topology;elasticity;checkpoints(gb=5);failures;power(cap_w=9000);stages(depends=0.3);monitoring");
  return MakeWorkload("synthetic(rate=6,jobs=8,slo=true)", settings)->Make(1, Split::kEvaluate, 0, 0);
}

search::CmaEs Optimiser() {
  return search::CmaEs({{1.0, 2.0}, {0.5, 0.5}}, 3);
}

search::Costs SomeCosts(const std::vector<std::vector<double>>& points, int) {
  search::Costs costs;
  costs.reference = {1.0};
  for (const std::vector<double>& point : points) costs.of.push_back({1.0 + point[0] * point[0] + point[1] * point[1]});
  return costs;
}

void Search(const std::string& path, int generations, bool resume) {
  search::CmaEs optimiser = Optimiser();
  search::Settings settings;
  settings.budget.generations = generations;
  settings.file = path;
  settings.definition = "a search";
  settings.resume = resume;
  Run(optimiser, {1.0, 2.0}, SomeCosts, settings);
}

std::vector<Content> MakeFiles() {
  std::vector<Content> files;
  const std::string path = Path("seed.h5");
  for (const Scenario& scenario : {EveryColumn(), WithEveryFeature()}) {
    WriteScenario(scenario, path);
    files.push_back(ContentOf(path));
  }
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=4)", EncoderOf("ObservationV1").Layout(3, 2), 3 * 2 + 1, 12);
  bundle.gpu_types = {"a", "b"};
  SaveBundle(bundle, path);
  files.push_back(ContentOf(path));
  Search(path, 3, false);
  files.push_back(ContentOf(path));
  RunResult result;
  result.events = {{0.0, EventKind::kArrive, -1, 0, -1}, {1.0, EventKind::kStart, 0, 0, 0}, {9.0, EventKind::kComplete, 0, 0, 0}};
  WriteEvents(result, EveryColumn(), "fcfs", "", path);
  files.push_back(ContentOf(path));
  return files;
}

// `inspect` costs as much as all else together.
void ReadBack(const std::string& kind, const std::string& path, bool inspected) {
  if (kind == "scenario") {
    Accepted([&] {
      const Scenario scenario = ReadScenario(path);
      const std::string again = Path("again.h5");
      WriteScenario(scenario, again);
      if (ReadScenario(again).Hash() != scenario.Hash()) Fail("a scenario is another one once it is written and read");
    });
  } else if (kind == "policy") {
    Accepted([&] { Freeze(LoadBundle(path)); });
  } else if (kind == "search") {
    Accepted([&] { Search(path, 4, true); });
  }
  if (inspected || kind == "events") Accepted([&] { RunInspect({path}); });
}

}  // namespace

bool Run_hdf5(Bytes bytes) {
  static const std::vector<Content> files = MakeFiles();
  static const std::string path = Path("changed.h5");
  Input in(bytes);
  Content content = files[static_cast<std::size_t>(in.Below(static_cast<int>(files.size())))];
  const std::string kind = content.kind;
  for (int changes = 0; changes < 8 && !in.empty(); ++changes) Change(content, in);
  Write(content, path);
  std::streambuf* const shown = std::cout.rdbuf(nullptr);  // of `inspect`
  try {
    ReadBack(kind, path, bytes.size() % 4 == 1);
  } catch (...) {
    std::cout.rdbuf(shown);
    throw;
  }
  std::cout.rdbuf(shown);
  std::cout.clear();
  return true;
}

}  // namespace berth::fuzz

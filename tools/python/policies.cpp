// berth._berth.Policy: a frozen policy in Python's hands.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "data/hdf5_file.hpp"
#include "policies/architecture.hpp"
#include "policies/policy_scheduler.hpp"
#include "tools/explanation.hpp"
#include "tools/python/keywords.hpp"
#include "tools/python/learning.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

// `called`: the name that errors give it, where that is not the file's.
HeldPolicy Load(const std::string& file, const std::string& called) {
  const nb::gil_scoped_release release;
  return {std::make_shared<const PolicyBundle>(LoadBundle(file)), called.empty() ? file : called};
}

// "name=value" a line.
Json ConfigOf(const std::string& text) {
  Json config = Json::object();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && line.front() != '#')
      config[line.substr(0, equals)] = line.substr(equals + 1);
    begin = end + 1;
  }
  return config;
}

int Memory(const PolicyBundle& bundle) {
  return MemoryOf(bundle.network, bundle.layout, bundle.num_actions);
}

std::string Card(const HeldPolicy& policy) {
  const PolicyBundle& bundle = *policy.bundle;
  const MdpSpec& mdp = bundle.mdp;
  const Provenance& from = bundle.provenance;
  const Json card = {{"agent", from.agent},
                     {"network", bundle.network},
                     {"parameters", bundle.parameters()},
                     {"memory", Memory(bundle)},
                     {"steps", from.steps},
                     {"seed", from.seed},
                     {"workload", from.workload},
                     {"gpu_types", bundle.gpu_types},
                     {"knowledge", ToString(mdp.knowledge)},
                     {"reward", mdp.reward},
                     {"encoder", mdp.encoder},
                     {"actions", mdp.actions},
                     {"visible", mdp.visible},
                     {"order", ToString(mdp.order)},
                     {"semantics", ToString(mdp.semantics)},
                     {"preemptive", mdp.preemptive},
                     {"on_change", mdp.on_change},
                     {"work_conserving", mdp.work_conserving},
                     {"commit_backfill", mdp.commit_backfill},
                     {"reread", mdp.reread},
                     {"reserve", ToString(bundle.reserve)},
                     {"tau_s", mdp.tau_s},
                     {"commit", from.commit},
                     {"config", ConfigOf(from.config)}};
  return card.dump();
}

void Save(const HeldPolicy& policy, const std::string& path) {
  const nb::gil_scoped_release release;
  SaveBundle(*policy.bundle, path);
}

std::string ExplainView(const HeldPolicy& policy, nb::handle object) {
  const ClusterView& view = ViewOf(object);
  const PolicyBundle& bundle = *policy.bundle;
  CheckExplained(bundle, "policy", policy.file);
  if (view.granted() != bundle.mdp.knowledge) {
    throw Error(Join("view: expected one of a scheduler with knowledge '", ToString(bundle.mdp.knowledge),
                     "', as the policy has, found '", ToString(view.granted()), "'"));
  }
  if (Memory(bundle) > 0)
    throw Error(Join("view: expected a policy without memory, found ", bundle.network,
                     ", which must have decided until then: give a scenario and at="));
  const bool preemptive = bundle.mdp.preemptive;
  if ((preemptive ? view.active() : view.waiting()).empty()) {
    Explanation nothing;
    nothing.time_s = view.now();
    nothing.running = static_cast<int>(view.running().size());
    nothing.decision = "leave everything as it is";
    return ExplanationJson(nothing, policy.file).dump();
  }
  PolicyScheduler(bundle, policy.file, /*sample=*/false).Reset(view);  // refuses a cluster that it is not for
  return ExplanationJson(Explain(bundle, view, {}), policy.file).dump();
}

std::string ExplainAt(const HeldPolicy& policy, const Keywords& keywords) {
  const auto calls = std::make_shared<PythonCalls>();
  std::string said;
  RunInterruptibly(*calls, [&] {
    Options options("explain", "", "", OptionNames::kKeywords);
    AddMomentOptions(options);
    AddScenarioOptions(options);
    options.Value("seed", "1000", "of the generated workload, where no scenario is given");
    Give(options, keywords);
    CheckExplained(*policy.bundle, "policy", policy.file);
    const auto seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
    const Scenario scenario = EvaluationScenario(*ResolveWorkload(options).source, seed);
    const Explanation found = ExplainMoment(options, scenario, *policy.bundle, "policy", policy.file);
    Json json = ExplanationJson(found, policy.file);
    json["config"] = ConfigJson(options);
    said = json.dump();
  });
  return said;
}

}  // namespace

void AddPolicies(nb::module_& module) {
  nb::class_<HeldPolicy>(module, "Policy", "A frozen policy; see berth.Policy.")
      .def("card", Card, "What it was trained on, as JSON.")
      .def("save", Save, nb::arg("path"), "As a policy file (.h5).")
      .def("explain_view", ExplainView, nb::arg("view"), "As JSON; see berth.Policy.explain.")
      .def("explain_at", ExplainAt, nb::arg("keywords"), "As JSON; see berth.Policy.explain.");
  module.def("load_policy", Load, nb::arg("path"), nb::arg("called") = "", "berth.Error where it is none.");
}

}  // namespace berth

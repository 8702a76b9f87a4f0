// `berth serve --extender`: what it answers to requests in the published schema (k8s.io/kube-scheduler/extender/v1).
#include "tools/serve/extender.hpp"

#include <cmath>
#include <fstream>

#include "env/sim/metrics.hpp"
#include "policies/schedulers.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/extender_support.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::Slurp;
using test::TemporaryFolder;
using test::serve::Bundle;
using test::serve::kFiles;
using test::serve::kNow;
using test::serve::MakeExtender;
using test::serve::Preference;

}  // namespace

TEST_CASE("extender: filter answers with the nodes on which the pod can run, and why not the others") {
  Extender extender = MakeExtender();
  const std::string request = Slurp(kFiles + "nodes.json");
  const ExtenderReply reply = extender.Filter(request, kNow);
  CHECK(reply.status == 200);
  CHECK(reply.nodes_passed == 3);
  CHECK(reply.nodes_failed == 3);
  const Json found = Json::parse(reply.body), sent = Json::parse(request);
  // The members of ExtenderFilterResult.
  std::vector<std::string> members;
  for (const auto& [key, value] : found.items()) members.push_back(key);
  CHECK(members ==
        std::vector<std::string>{"Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error"});
  // Two GPUs: node-v has 4, node-p 2, node-k 8. Nodes come back whole.
  const Json& items = sent["Nodes"]["items"];
  CHECK(found["Nodes"]["items"] == Json::array({items[0], items[1], items[3]}));
  CHECK(found["NodeNames"].is_null());
  CHECK(found["Error"] == "");
  const Json& failed = found["FailedAndUnresolvableNodes"];
  CHECK(failed["node-small"] == "has 1 GPU, the pod needs 2");
  CHECK(failed["node-new"] == "its nvidia.com/gpu.product 'NVIDIA-H100-80GB-HBM3' is not in Berth's table");
  CHECK(failed["node-cpu"] == "has no GPU that Berth knows (no label nvidia.com/gpu.product)");
  CHECK(failed.size() == 3);
}

TEST_CASE("extender: by name the table says what a node is; members in any case, as Go reads them") {
  Extender extender = MakeExtender();
  std::string request = Slurp(kFiles + "names.json");
  const bool lower = GENERATE(false, true);
  if (lower) {
    for (const auto& [from, to] : {std::pair<std::string, std::string>("\"Pod\"", "\"pod\""),
                                   std::pair<std::string, std::string>("\"NodeNames\"", "\"nodenames\"")}) {
      request.replace(request.find(from), from.size(), to);
    }
  }
  const Json found = Json::parse(extender.Filter(request, kNow).body);
  CHECK(found["NodeNames"] == Json::array({"gpu-b", "gpu-a"}));
  CHECK(found["Nodes"].is_null());
  CHECK(found["FailedAndUnresolvableNodes"].size() == 1);
  // The pod has no annotations: the default job type and 7,200 s of it on its fastest type; one minute old.
  const ExtenderTable& table = extender.table();
  const std::vector<double> rates = table.RatesOf("ResNet-50 (batch size 32)", 1);
  ForeignJob job;
  job.remaining_steps = 7200.0 * *std::max_element(rates.begin(), rates.end());
  const std::vector<std::int64_t> preference = Preference(job, rates, 60.0);
  const Json list = Json::parse(extender.Prioritize(request, kNow).body);
  CHECK(list == Json::array({{{"Host", "gpu-b"}, {"Score", preference[2]}},
                             {{"Host", "gpu-a"}, {"Score", preference[0]}},
                             {{"Host", "cpu-a"}, {"Score", 0}}}));
}

TEST_CASE("extender: prioritize is the policy's preference, 0 to 10") {
  Extender extender = MakeExtender();
  const ExtenderReply reply = extender.Prioritize(Slurp(kFiles + "nodes.json"), kNow);
  CHECK(reply.status == 200);
  const std::vector<double> rates = extender.table().RatesOf("ResNet-18 (batch size 64)", 2);
  ForeignJob job;
  job.gang = 2;
  job.weight = 2.0;
  job.remaining_steps = 5400.0 * *std::max_element(rates.begin(), rates.end());
  const std::vector<std::int64_t> preference = Preference(job, rates, 1800.0);
  CHECK(*std::max_element(preference.begin(), preference.end()) == 10);
  CHECK(*std::min_element(preference.begin(), preference.end()) < 10);
  const Json list = Json::parse(reply.body);
  const std::vector<std::pair<std::string, std::int64_t>> expected = {
      {"node-v", preference[0]}, {"node-p", preference[1]}, {"node-small", 0},
      {"node-k", preference[2]}, {"node-new", 0},           {"node-cpu", 0}};
  REQUIRE(list.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(list[i] == Json({{"Host", expected[i].first}, {"Score", expected[i].second}}));
  }
}

// Asked about one pod a policy sees what it sees in a simulation of that job alone, at its arrival: the type
// on which it starts the job there gets all ten points.
TEST_CASE("extender: a policy of ObservationV3 prefers the type on which Berth's simulator starts the job") {
  const PolicyBundle bundle = Bundle("ObservationV3");
  const TemporaryFolder folder;
  const Json table_file = {
      {"gpu_types", {{"v100", {{"count", 8}}}, {"p100", {{"count", 8}}}, {"k80", {{"count", 8}}}}},
      {"nodes", {{"v", "v100"}, {"p", "p100"}, {"k", "k80"}}}};
  std::ofstream(folder / "t.json") << table_file;
  const ExtenderTable table = ReadExtenderTable(folder / "t.json");
  Extender extender(table, bundle, "p.h5");
  int below = 0;
  for (const char* name :
       {"ResNet-50 (batch size 32)", "LM (batch size 20)", "Transformer (batch size 64)"}) {
    for (const int gang : {1, 2}) {
      for (const double steps : {1e3, 1e6}) {
        CAPTURE(name, gang, steps);
        const std::vector<double> rates = table.RatesOf(name, gang);
        std::vector<std::pair<std::string, int>> types;
        for (const GpuType& type : table.types) types.emplace_back(type.name, type.count);
        const Scenario scenario = test::Tiny(types, {rates}, {{0.0, steps, 0, gang}});
        RunOptions options;
        options.keep_events = true;
        const RunResult run = Run(scenario, *MakePolicyScheduler(bundle, "p.h5", false), "policy", options);
        const auto start = std::find_if(run.events.begin(), run.events.end(),
                                        [](const Event& event) { return event.kind == EventKind::kStart; });
        REQUIRE(start != run.events.end());
        Json request = {{"NodeNames", Json::array()}};
        for (const GpuType& type : table.types) request["NodeNames"].push_back(type.name.substr(0, 1));
        request["Pod"]["metadata"] = {
            {"name", "x"},
            {"annotations", {{"berth/job-type", name}, {"berth/remaining-steps", Join(steps)}}}};
        request["Pod"]["spec"]["containers"] =
            Json::array({{{"resources", {{"limits", {{"nvidia.com/gpu", gang}}}}}}});
        const Json list = Json::parse(extender.Prioritize(request.dump(), kNow).body);
        REQUIRE(list.size() == 3);
        CHECK(list[static_cast<std::size_t>(start->type)]["Score"] == 10);
        for (const Json& row : list) below += row["Score"] < 10;
      }
    }
  }
  CHECK(below >= 12);
}

TEST_CASE("extender: a pod without GPUs goes anywhere; one that no type can hold goes nowhere") {
  Extender extender = MakeExtender();
  Json request = Json::parse(Slurp(kFiles + "nodes.json"));
  Json& containers = request["Pod"]["spec"]["containers"];
  SECTION("none") {
    containers.erase(0);
    CHECK(extender.Filter(request.dump(), kNow).nodes_passed == 6);
    for (const Json& host : Json::parse(extender.Prioritize(request.dump(), kNow).body)) {
      CHECK(host["Score"] == 0);
    }
  }
  SECTION("nine of one type with eight") {
    containers[0]["resources"]["limits"]["nvidia.com/gpu"] = "9";
    CHECK(extender.Filter(request.dump(), kNow).nodes_passed == 0);
    CHECK(extender.Prioritize(request.dump(), kNow).status == 200);
  }
  SECTION("containers add up, and an init container may need more than they") {
    containers.push_back(containers[0]);
    CHECK(extender.Filter(request.dump(), kNow).nodes_passed == 2);  // 4 GPUs: node-v, node-k
    request["Pod"]["spec"]["initContainers"] = Json::array({containers[0]});
    request["Pod"]["spec"]["initContainers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "8";
    CHECK(extender.Filter(request.dump(), kNow).nodes_passed == 1);
  }
  SECTION("sidecars add up with the containers, and with the init containers behind them") {
    Json sidecar = containers[0], four = containers[0], eight = containers[0];  // 2 GPUs, as the container
    sidecar["restartPolicy"] = "Always";
    four["resources"]["limits"]["nvidia.com/gpu"] = "4";
    eight["resources"]["limits"]["nvidia.com/gpu"] = "8";
    const auto passed = [&](const Json& first) {
      request["Pod"]["spec"]["initContainers"] = first;
      return extender.Filter(request.dump(), kNow).nodes_passed;
    };
    // Nodes of known types have 1, 2, 4 and 8 GPUs; jobs of 1, 2, 4 and 8 are known.
    CHECK(passed(Json::array({sidecar})) == 2);                    // 2 + 2
    CHECK(passed(Json::array({four, sidecar})) == 2);              // 4, before the sidecar is there
    CHECK(passed(Json::array({sidecar, sidecar, sidecar})) == 1);  // 6 + 2
    CHECK(passed(Json::array({sidecar, sidecar, four})) == 1);     // 4 + 4
    CHECK(passed(Json::array({sidecar, eight})) == 0);             // 2 + 8
    sidecar["restartPolicy"] = 1;
    request["Pod"]["spec"]["initContainers"] = Json::array({sidecar});
    CHECK(extender.Filter(request.dump(), kNow).status == 400);
  }
  SECTION("a job type that the table restricts to one GPU type") {
    request["Pod"]["metadata"]["annotations"]["berth/job-type"] = "only-old";
    const Json found = Json::parse(extender.Filter(request.dump(), kNow).body);
    REQUIRE(found["Nodes"]["items"].size() == 1);
    CHECK(found["Nodes"]["items"][0]["metadata"]["name"] == "node-k");
    CHECK(found["FailedAndUnresolvableNodes"]["node-v"] == "the job type cannot run on 2 x v100");
  }
}

}  // namespace berth

// `berth serve --extender`: requests in the published schema (k8s.io/kube-scheduler/extender/v1), requests
// that are not, and the server that survives them.
#include "tools/serve/extender.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "policies/schedulers.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/extender_support.hpp"
#include "tests/http_client.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/serve/serve_metrics.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Body;
using test::Connect;
using test::Exchange;
using test::Post;
using test::Slurp;
using test::TemporaryFolder;
using test::serve::Bundle;
using test::serve::kFiles;
using test::serve::kNow;
using test::serve::MakeExtender;
using test::serve::Preference;

std::string TableError(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "t.json") << text;
  try {
    ReadExtenderTable(folder / "t.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

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
  CHECK(failed["node-small"] == "has 1 GPUs, the pod needs 2");
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

TEST_CASE("extender: what is not the published schema gets 4xx and a reason") {
  Extender extender = MakeExtender();
  const std::string gpu = R"("spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]})";
  const std::string pod = R"({"Pod":{"metadata":{"name":"p"},)" + gpu + "},";
  const auto annotated = [&](const std::string& annotation) {
    return R"({"Pod":{"metadata":{"name":"p","annotations":{)" + annotation + "}}," + gpu +
           R"(},"NodeNames":["gpu-a"]})";
  };
  const auto asking = [](const std::string& gpus) {
    return R"({"Pod":{"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":)" +
           gpus + R"(}}}]}},"NodeNames":["gpu-a"]})";
  };
  const auto created = [&](const std::string& time) {
    return R"({"Pod":{"metadata":{"name":"p","creationTimestamp":)" + time + "}," + gpu +
           R"(},"NodeNames":["gpu-a"]})";
  };
  const auto wanting = [](const std::string& resources) {
    return R"({"Pod":{"metadata":{"name":"p"},"spec":{"containers":[{"resources":)" + resources +
           R"(}]}},"NodeNames":["gpu-a"]})";
  };
  const auto node = [&](const std::string& status) {
    return pod + R"("Nodes":{"items":[{"metadata":{"name":"n"},"status":)" + status + "}]}}";
  };
  // Kubernetes has no longer ones, and some are kept.
  const auto named = [&](const std::string& metadata) {
    return R"({"Pod":{"metadata":{)" + metadata + "}," + gpu + R"(},"NodeNames":["gpu-a"]})";
  };
  const std::string long_name(254, 'n'), long_label(64, 'l');
  const std::string group = R"("name":"p","labels":{"scheduling.x-k8s.io/pod-group":"g"},)";
  const auto whole = [&](const std::string& metadata) {
    return pod + R"("Nodes":{"items":[{"metadata":{)" + metadata + "}}]}}";
  };
  struct Case {
    std::string body;
    int status;
    std::string why;
  };
  const Case cases[] = {
      {named(R"("name":")" + long_name + '"'), 400, "Pod.metadata.name: expected at most 253 bytes, found 254"},
      {named(R"("name":"p","labels":{"scheduling.x-k8s.io/pod-group":")" + long_label + "\"}"), 400,
       "pod-group: expected at most 63 bytes, found 64"},
      {named(R"("name":"p","annotations":{"scheduling.x-k8s.io/pod-group":")" + long_name + "\"}"), 400,
       "pod-group: expected at most 253 bytes, found 254"},
      {named(group + R"("namespace":")" + long_name + '"'), 400, "Pod.metadata.namespace: expected at most 253 bytes"},
      {named(group + R"("ownerReferences":[{"uid":")" + long_name + R"(","controller":true}])"), 400,
       "ownerReferences: uid: expected at most 253 bytes"},
      {whole(R"("name":")" + long_name + '"'), 400, "Nodes.items: metadata.name: expected at most 253 bytes"},
      {whole(R"("name":"n","labels":{"nvidia.com/gpu.product":")" + long_label + "\"}"), 400,
       "nvidia.com/gpu.product: expected at most 63 bytes, found 64"},
      {"[\"" + std::string(100000, 'x') + '\n', 400, "expected JSON"},
      {"", 400, "expected JSON"},
      {"{", 400, "expected JSON"},
      {"nonsense", 400, "expected JSON"},
      {std::string("\0\0\0", 3), 400, "expected JSON"},
      {"{\"Pod\":\"\xff\xfe\"}", 400, "expected JSON"},
      {pod + R"("NodeNames":["gpu-a"]}{})", 400, "expected JSON"},
      {std::string(100000, '['), 400, "nested"},
      {"{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}", 400, "nested at most 64"},
      {R"({"a":"\"","b":)" + std::string(64, '[') + std::string(64, ']') + "}", 400, "nested at most 64"},
      {R"({"a":"\\","b":)" + std::string(63, '[') + std::string(63, ']') + "}", 400, "expected a Pod"},
      {R"({"a":")" + std::string(100, '[') + "\"}", 400, "expected a Pod"},
      {"[" + std::string(100, '}') + std::string(170, '['), 400, "expected JSON"},
      {"null", 400, "ExtenderArgs: expected an object, found null"},
      {"[]", 400, "expected an object, found array"},
      {"{}", 400, "expected a Pod, found none"},
      {R"({"Pod":null,"NodeNames":[]})", 400, "expected a Pod, found none"},
      {R"({"Pod":"p","NodeNames":[]})", 400, "Pod: expected an object, found string"},
      {R"({"Pod":{},"NodeNames":[]})", 400, "Pod.metadata.name"},
      {R"({"Pod":{"metadata":[]},"NodeNames":[]})", 400, "Pod.metadata: expected an object"},
      {R"({"Pod":{"metadata":{"name":7}},"NodeNames":[]})", 400, "Pod.metadata.name: expected a text"},
      {R"({"Pod":{"metadata":{"name":"p"},"spec":{"containers":{}}},"NodeNames":[]})", 400,
       "expected a list"},
      {R"({"Pod":{"metadata":{"name":"p"},"spec":{"containers":[1]}},"NodeNames":[]})", 400,
       "expected objects"},
      {pod + R"("Other":1})", 400, "found neither"},
      {pod + R"("NodeNames":[],"Nodes":{"items":[]}})", 400, "found both"},
      {pod + R"("NodeNames":{}})", 400, "NodeNames: expected a list"},
      {pod + R"("NodeNames":[1]})", 400, "NodeNames: expected a text"},
      {pod + R"("Nodes":[]})", 400, "Nodes: expected an object"},
      {pod + R"("Nodes":{"items":{}}})", 400, "Nodes.items: expected a list"},
      {pod + R"("Nodes":{"items":["n"]}})", 400, "Nodes.items: expected objects"},
      {pod + R"("Nodes":{"items":[{}]}})", 400, "metadata.name: expected a name"},
      {pod + R"("Nodes":{"items":[{"metadata":{"name":"n","labels":[]}}]}})", 400,
       "labels: expected an object"},
      {pod + R"("Nodes":{"items":[{"metadata":{"name":"n","labels":{"nvidia.com/gpu.product":1}}}]}})", 400,
       "nvidia.com/gpu.product: expected a text"},
      {pod +
           R"("Nodes":{"items":[{"metadata":{"name":"n"},"status":{"allocatable":{"nvidia.com/gpu":"many"}}}]}})",
       400, "status.allocatable: nvidia.com/gpu: expected a whole number"},
      {pod + R"("NodeNames":["gpu-a","gpu-z"]})", 404, "unknown node 'gpu-z'"},
      {node("\"bad\""), 400, "Nodes.items: status: expected an object, found string"},
      {node(R"({"allocatable":[8]})"), 400,
       "Nodes.items: status: allocatable: expected an object, found array"},
      {wanting("\"x\""), 400, "Pod.spec.containers: resources: expected an object, found string"},
      {wanting(R"({"limits":[1]})"), 400, "resources: limits: expected an object, found array"},
      {wanting(R"({"requests":"1"})"), 400, "resources: requests: expected an object, found string"},
      {wanting(R"({"limits":{"nvidia.com/gpu":1},"requests":7})"), 400, "requests: expected an object"},
      {asking("\"1.5\""), 400, "expected a whole number of GPUs"},
      {asking("-1"), 400, "expected a whole number of GPUs"},
      {asking("\"99999999999\""), 400, "expected a whole number of GPUs"},
      {asking("{}"), 400, "expected a whole number of GPUs"},
      {created("\"yesterday\""), 400, "expected a time such as"},
      {created("17"), 400, "creationTimestamp: expected a text"},
      {annotated(R"j("berth/job-type":"ResNet-51 (batch size 64)")j"), 400, "did you mean"},
      {annotated(R"("berth/job-type":3)"), 400, "berth/job-type: expected a text"},
      {annotated(R"("berth/weight":"heavy")"), 400, "berth/weight: expected a number > 0, found 'heavy'"},
      {annotated(R"("berth/weight":"0")"), 400, "expected a number > 0"},
      {annotated(R"("berth/remaining-steps":"nan")"), 400, "expected a number > 0"},
      {annotated(R"("berth/remaining-seconds":"-5")"), 400, "expected a number > 0"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.body.substr(0, 200));
    for (const ExtenderReply& reply : {extender.Filter(c.body, kNow), extender.Prioritize(c.body, kNow)}) {
      CHECK(reply.status == c.status);
      CHECK_THAT(Json::parse(reply.body)["Error"].get<std::string>(), Contains(c.why));
      CHECK(reply.body.size() < 1100);
    }
  }
  CHECK(extender.Filter(pod + R"("NodeNames":["gpu-a"]})", kNow).status == 200);
}

// At a time for each pair of objects, this would not end.
TEST_CASE("extender: a list of a million objects is read once") {
  Extender extender = MakeExtender();
  std::string body = "[";
  for (int i = 0; i < 1000000; ++i) body += "{},";
  CHECK_THAT(extender.Filter(body + "{}]", kNow).body, Contains("expected an object, found array"));
}

TEST_CASE("extender: the room of all nodes together is more than an int holds") {
  Extender extender = MakeExtender({{"gang_room", "gpus"}});
  Json request = Json::parse(Slurp(kFiles + "nodes.json"));
  request["Pod"]["spec"]["containers"] = Json::array({{{"resources", {{"limits", {{"nvidia.com/gpu", 1}}}}}}});
  request["Pod"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "g";
  request["Pod"]["metadata"]["annotations"]["berth/min-member"] = "2";
  Json items = Json::array();
  for (int i = 0; i < 3000; ++i) {
    items.push_back({{"metadata", {{"name", Join("n", i)}, {"labels", {{"nvidia.com/gpu.product", "Tesla-V100-SXM2-16GB"}}}}},
                     {"status", {{"allocatable", {{"nvidia.com/gpu", 999999}}}}}});
  }
  request["Nodes"]["items"] = items;
  const ExtenderReply reply = extender.Filter(request.dump(), kNow);
  CAPTURE(reply.body.substr(0, 500));
  CHECK(reply.nodes_passed == 3000);
}

TEST_CASE("extender: damaged requests are answered, whatever the damage") {
  Extender extender = MakeExtender();
  const std::string good = Slurp(kFiles + "nodes.json");
  Stream stream(3, Purpose::kTest);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string body = good;
    for (std::uint32_t edits = 1 + stream.Below(3); edits > 0; --edits) {
      const std::size_t at = stream.Below(static_cast<std::uint32_t>(body.size()));
      switch (stream.Below(3)) {
        case 0:
          body[at] = static_cast<char>(stream.Below(256));
          break;
        case 1:
          body.erase(at, 1 + stream.Below(20));
          break;
        default:
          body.insert(at, 1, "{}[],:\"0-e"[stream.Below(10)]);
          break;
      }
    }
    CAPTURE(body);
    for (const ExtenderReply& reply : {extender.Filter(body, kNow), extender.Prioritize(body, kNow)}) {
      CHECK((reply.status == 200 || reply.status == 400));
      CHECK(Json::accept(reply.body));
      refused += reply.status == 400;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("extender: a table that is wrong is refused with its key") {
  const std::string types = R"({"gpu_types":{"v100":{"count":4,"labels":["V"]},"k80":{"count":2}})";
  CHECK(TableError(types + "}") == "");
  CHECK_THAT(TableError("{"), Contains("t.json:1: expected JSON, found its end"));
  CHECK_THAT(TableError("hello"), Contains("t.json:1: expected JSON, found 'hello'"));
  CHECK_THAT(TableError("{\n \"gpu_types\": oops}\n"),
             Contains("t.json:2: expected JSON, found '\"gpu_types\": oops}'"));
  CHECK_THAT(TableError(""), Contains("t.json:1: expected JSON, found its end"));
  CHECK_THAT(TableError(R"({"gpu_types":{"v100":{"count":1e999}}})"),
             Contains("t.json: expected JSON that can be read: ") && Contains("1e999"));
  CHECK_THAT(TableError("[]"), Contains("expected an object, found array"));
  CHECK_THAT(TableError("{}"), Contains("expected a key 'gpu_types'"));
  CHECK_THAT(TableError(R"({"gpu_types":{}})"), Contains("expected 1 to 64 GPU types, found 0"));
  CHECK_THAT(TableError(types + R"(,"node":{}})"),
             Contains("unknown key 'node'") && Contains("did you mean"));
  CHECK_THAT(TableError(R"({"gpu_types":{"v100":{"count":0}}})"),
             Contains("v100: count: expected a number >= 1"));
  CHECK_THAT(TableError(R"({"gpu_types":{"v100":{"count":1.5}}})"),
             Contains("a whole number of GPUs, found 1.5"));
  CHECK_THAT(TableError(R"({"gpu_types":{"v100":{"count":1,"labels":["V","V"]}}})"),
             Contains("'V' is the label of two"));
  CHECK_THAT(TableError(types + R"(,"nodes":{"n":"v10"}})"),
             Contains("nodes: n") && Contains("did you mean 'v100'"));
  CHECK_THAT(TableError(types + R"(,"node_label":1})"), Contains("node_label: expected a text, found 1"));
  CHECK_THAT(TableError(types + R"(,"job_types":{"x":{"v100":-1}}})"),
             Contains("job_types: x: v100: expected a number >= 0"));
  CHECK_THAT(TableError(types + R"(,"defaults":{"job_type":"ResNet-51"}})"),
             Contains("defaults: job_type: unknown job type"));
  CHECK_THAT(TableError(types + R"(,"defaults":{"weight":0}})"), Contains("defaults: weight"));
  CHECK_THAT(TableError(types + R"(,"gang_timeout_s":0})"), Contains("gang_timeout_s: expected a number >="));
  CHECK_THAT(TableError(types + R"(,"gang_room":"nodes"})"),
             Contains("gang_room: expected 'node' or 'gpus', found \"nodes\""));
  CHECK_THAT(TableError(types + R"(,"evict_unsaved_from_priority":1.5})"), Contains("as PriorityClasses have"));
  CHECK_THAT(TableError(types + R"(,"annotations":{"minmember":"x"}})"), Contains("did you mean 'min_member'"));
  CHECK_THROWS_WITH(ReadExtenderTable("/nowhere/t.json"), Contains("/nowhere/t.json"));
  // A network that is bound to its cluster says so at once.
  ExtenderTable table = ReadExtenderTable(kFiles + "table.json");
  PolicyBundle bound = test::RandomBundle("mlp(hidden=4)", ObservationV1::Layout(2, 2), 5, 1);
  CHECK_THROWS_WITH(Extender(table, bound, "p.h5"), Contains("p.h5") && Contains("2 GPU types"));
}

TEST_CASE("extender: the server answers over HTTP, survives what is not, and ends with Ctrl-C") {
  const TemporaryFolder folder;
  SaveBundle(Bundle(), folder / "p.h5");
  const pid_t child = test::Start(
      folder, {"serve", "--extender", "--policy", "p.h5", "--table", kFiles + "table.json",
               "--port", "0", "--limit", "20000", "--json", "serve.json"});
  REQUIRE(child > 0);
  for (int tenths = 0; tenths < 300 && Slurp(folder / "out.txt").empty() && !test::Ended(child); ++tenths) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CAPTURE(Slurp(folder / "out.txt"), Slurp(folder / "error.txt"));
  const std::string said = Slurp(folder / "serve.json");
  const int port = Json::accept(said) ? Json::parse(said).value("port", 0) : 0;
  if (port == 0) kill(child, SIGKILL);
  REQUIRE(port > 0);

  const std::string request = Slurp(kFiles + "names.json");
  const auto status = [&](const std::string& sent, bool finish = false) {
    return Exchange(port, sent, finish).substr(0, 12);
  };
  Extender extender = MakeExtender();
  CHECK(Body(Exchange(port, Post("/filter", request))) == extender.Filter(request, kNow).body);
  CHECK(status(Post("/prioritize", request)) == "HTTP/1.1 200");
  CHECK(status(Post("/filter", "{")) == "HTTP/1.1 400");
  CHECK(status(Post("/prioritize", R"({"Pod":{"metadata":{"name":"p"}},"NodeNames":["x"]})")) ==
        "HTTP/1.1 404");
  const std::string refused = Exchange(port, Post("/filter", std::string(20001, ' ')));
  CHECK(refused.substr(0, 12) == "HTTP/1.1 413");
  CHECK_THAT(Body(refused), Contains("at most 20000 bytes"));
  CHECK(status(Post("/filter", std::string(20000, ' '))) == "HTTP/1.1 400");
  // A length that is never kept, after the server's patience of 5 s; one that is a lie; pieces without end.
  const std::string head = "POST /filter HTTP/1.1\r\nHost: localhost\r\n";
  CHECK(status(head + "Content-Length: 100\r\n\r\n{") == "HTTP/1.1 400");
  CHECK(status(head + "Content-Length: 99999999999999999999\r\n\r\n{") == "HTTP/1.1 413");
  std::string pieces = head + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 30; ++i) pieces += "3e8\r\n" + std::string(1000, ' ') + "\r\n";
  CHECK(status(pieces) == "HTTP/1.1 413");
  CHECK(status("GET /filter HTTP/1.1\r\nHost: localhost\r\n\r\n") == "HTTP/1.1 404");
  CHECK_THAT(Exchange(port, "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"), Contains("no GET /nowhere"));
  (void)Exchange(port, std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8), true);  // TLS to a plain port
  (void)Exchange(port, "\r\n\r\n\r\n", true);
  (void)Exchange(port, std::string(20000, 'A'), true);
  (void)Exchange(port, "", true);
  // Twelve who say nothing, and stay: nobody else waits for them. One more try, should they be dropped for
  // their silence before a slow machine comes to it.
  bool answered = false;
  for (int tries = 0; tries < 5 && !answered; ++tries) {
    std::vector<int> silent(12);
    for (int& file : silent) file = Connect(port);
    CHECK(Body(Exchange(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")) == "ok\n");
    answered = true;
    char byte;
    for (int file : silent) {
      // Still open: nothing to read, and not the end either.
      answered = answered && recv(file, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
      close(file);
    }
  }
  CHECK(answered);
  CHECK(Body(Exchange(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")) == "ok\n");
  CHECK(Body(Exchange(port, Post("/filter", request))) == extender.Filter(request, kNow).body);

  const std::string answer = Exchange(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(answer, Contains("Content-Type: text/plain; version=0.0.4"));
  const std::string metrics = Body(answer);
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"filter\",code=\"200\"} 2\n"));
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"prioritize\",code=\"200\"} 1\n"));
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"prioritize\",code=\"404\"} 1\n"));
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"filter\",code=\"413\"} 3\n"));
  CHECK_THAT(metrics, Contains("\nberth_filter_nodes_total{result=\"passed\"} 4\n"));
  CHECK_THAT(metrics, Contains("\nberth_filter_nodes_total{result=\"failed\"} 2\n"));
  // The format's own rules: a metric's HELP and TYPE before its samples, buckets that only grow to the count.
  std::istringstream lines(metrics);
  std::int64_t bucket = 0;
  for (std::string line, typed; std::getline(lines, line);) {
    CAPTURE(line);
    if (line.rfind("# TYPE ", 0) == 0) typed = line.substr(7, line.find(' ', 7) - 7);
    if (line[0] == '#') continue;
    CHECK(line.rfind(typed, 0) == 0);
    const double value = std::stod(line.substr(line.rfind(' ')));
    if (line.find("_bucket{verb=\"filter\"") != std::string::npos) {
      CHECK(value >= static_cast<double>(bucket));
      bucket = static_cast<std::int64_t>(value);
    }
    if (line.find("_seconds_count{verb=\"filter\"}") != std::string::npos)
      CHECK(value == static_cast<double>(bucket));
  }
  CHECK(bucket >= 7);

  const auto refused_start = [&](const std::string& more, const std::string& expected) {
    test::CheckOneLine(test::Berth(folder, Join("serve --extender --policy p.h5 --table '", kFiles, "table.json' ", more)),
                       expected);
  };
  refused_start("--tls-cert none.pem --tls-key none.pem", "--tls-cert none.pem: expected a file in PEM");
  refused_start("--tls-cert p.h5 --tls-key p.h5", "--tls-cert p.h5: expected a certificate in PEM, found none");
  refused_start("--socket p.h5", "--socket p.h5: expected a socket or nothing, found another file");
  refused_start("--token-file none", "--token-file none: expected a file");
  // The address is taken: another server says so and ends.
  test::CheckOneLine(test::Berth(folder, Join("serve --extender --policy p.h5 --table '", kFiles,
                                              "table.json' --port ", port)),
                     "expected an address of this machine that is free");
  kill(child, SIGINT);
  CHECK(test::Wait(child) == 0);
}

TEST_CASE("metrics: the sum of a histogram goes on growing, however large it is") {
  ServeMetrics metrics;
  metrics.Count("filter", 200, 200000.0);
  metrics.Count("filter", 200, 0.25);
  CHECK_THAT(metrics.Text(""), Contains("\nberth_request_seconds_sum{verb=\"filter\"} 200000.25\n"));
}

}  // namespace berth

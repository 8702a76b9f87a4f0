// `berth serve --extender`: requests and tables that are not in the published schema, damaged ones and enormous ones.
#include <fstream>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/extender_support.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/serve/extender.hpp"
#include "tools/serve/many_members.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Slurp;
using test::TemporaryFolder;
using test::serve::kFiles;
using test::serve::kNow;
using test::serve::MakeExtender;

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

TEST_CASE("extender: objects of many members are read once, and answered once") {
  Extender extender = MakeExtender();
  std::string body = "{";
  for (int i = 0; i < 200000; ++i) body += Join("\"k", i, "\":0,");
  CHECK_THAT(extender.Filter(body + "\"Pod\":3}", kNow).body, Contains("Pod: expected an object, found number"));
  Json request = Json::parse(Slurp(kFiles + "nodes.json"));
  Json items = Json::array();
  for (int i = 0; i < 100000; ++i) items.push_back({{"metadata", {{"name", Join("n", i)}}}});
  request["Nodes"]["items"] = items;
  const ExtenderReply reply = extender.Filter(request.dump(), kNow);
  CHECK(reply.status == 200);
  CHECK(reply.nodes_failed == 100000);
}

TEST_CASE("extender: of members of one name the last counts, in the place of the first") {
  std::string body = "{";
  for (int i = 0; i < 40; ++i) body += Join("\"k", (i * 7) % 25, "\":[", i, ",{\"x\":null}],");
  body += "\"z\":{}}";
  CHECK(LinearParser::Parse(body).dump() == Json::parse(body).dump());
}

// An object that grows copies what its members hold, unless it is filled once: 60 times here.
TEST_CASE("extender: objects within objects are read once") {
  std::string body = "[";
  for (int i = 0; i < 200000; ++i) body += "\"\",";
  body += "0]";
  for (int level = 0; level < 60; ++level) {
    std::string around = "{\"a\":" + body;
    for (int i = 0; i < 32; ++i) around += Join(",\"k", i, "\":0");
    body = around + "}";
  }
  CHECK((LinearParser::Parse(body).dump() == body));
}

TEST_CASE("extender: keys of annotations, labels and resources are as they are written") {
  Extender extender = MakeExtender();
  Json request = Json::parse(Slurp(kFiles + "nodes.json"));
  request["Pod"]["metadata"]["annotations"]["Berth/Weight"] = "heavy";  // somebody else's
  CHECK(extender.Filter(request.dump(), kNow).status == 200);
  request["Pod"]["metadata"]["annotations"]["berth/weight"] = "heavy";
  CHECK(extender.Filter(request.dump(), kNow).status == 400);
}

TEST_CASE("extender: quantities and priorities are read as far as Kubernetes has them") {
  Extender extender = MakeExtender();
  Json request = Json::parse(Slurp(kFiles + "nodes.json"));
  request["Nodes"]["items"][0]["status"]["allocatable"]["nvidia.com/gpu"] = "1k";
  for (const std::int64_t priority : {-2147483648LL, 2147483647LL}) {
    request["Pod"]["spec"]["priority"] = priority;
    CHECK(extender.Filter(request.dump(), kNow).nodes_passed == 3);
  }
  for (const std::int64_t priority : {-2147483649LL, 2147483648LL}) {
    request["Pod"]["spec"]["priority"] = priority;
    CHECK_THAT(extender.Filter(request.dump(), kNow).body, Contains("priority: expected a whole number"));
  }
  request["Pod"]["spec"]["priority"] = 0;
  for (const char* wrong : {"k", "1kk", "1000k", "-1k"}) {
    request["Nodes"]["items"][0]["status"]["allocatable"]["nvidia.com/gpu"] = wrong;
    CHECK_THAT(extender.Filter(request.dump(), kNow).body, Contains("expected a whole number of GPUs"));
  }
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

}  // namespace berth

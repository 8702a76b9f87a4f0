// The `preempt` verb of `berth serve --extender`: whom it evicts, in the published schema
// (k8s.io/kube-scheduler/extender/v1, types.go; its JSON as types_test.go there has it).
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/extender_support.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::serve::kNow;
using test::serve::MakeExtender;

// A pod that runs since so many seconds before 20:30:00, in the form of v1.Pod.
Json Running(const std::string& uid, int gpus, const std::string& started,
             const Json& annotations = Json::object(), int priority = 0) {
  Json pod = {{"metadata", {{"name", "v" + uid}, {"uid", uid}, {"annotations", annotations}}}};
  pod["spec"] = {{"priority", priority},
                 {"containers", Json::array({{{"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}}})}};
  pod["status"] = {{"startTime", "2026-11-21T" + started + "Z"}};
  return pod;
}

Json Saving(int seconds) {
  return {{"berth/checkpoint-seconds", std::to_string(seconds)}};
}

Json Asking(int gpus = 1, int priority = 100) {
  Json pod = {{"metadata", {{"name", "urgent"}}}};
  pod["spec"] = {{"priority", priority},
                 {"containers", Json::array({{{"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}}})}};
  return pod;
}

Json On(const Json& pods, int violations = 0) {
  return {{"Pods", pods}, {"NumPDBViolations", violations}};
}

// The nodes of the answer, of which a table says what they are.
Json Answer(Extender& extender, const Json& request) {
  const ExtenderReply reply = extender.Preempt(request.dump(), kNow);
  REQUIRE(reply.status == 200);
  const Json json = Json::parse(reply.body);
  REQUIRE(json.size() == 1);
  return json.at("NodeNameToMetaVictims");
}

// k80s alone, so that the policy likes all nodes alike.
Json Alike() {
  return {{"nodes", {{"a", "k80"}, {"b", "k80"}, {"c", "k80"}, {"v", "v100"}, {"cpu", nullptr}}}};
}

}  // namespace

TEST_CASE("preempt: the answer is in the published schema, whichever case the question is in") {
  Extender extender = MakeExtender(Alike());
  const Json request = {
      {"Pod", Asking()},
      {"NodeNameToVictims", {{"a", On(Json::array({Running("u1", 1, "20:00:00", Saving(60))}), 1)}}},
      {"NodeNameToMetaVictims", nullptr}};
  CHECK(extender.Preempt(request.dump(), kNow).body ==
        R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u1"}],"NumPDBViolations":1}}})");
  // Go's decoder takes members in any case.
  std::string lower = request.dump();
  for (const char* name : {"\"Pod\"", "\"NodeNameToVictims\"", "\"Pods\"", "\"NumPDBViolations\""}) {
    const std::string from = name;
    std::string to = from;
    std::transform(to.begin(), to.end(), to.begin(), [](unsigned char c) { return std::tolower(c); });
    REQUIRE(lower.find(from) != std::string::npos);
    lower.replace(lower.find(from), from.size(), to);
  }
  CHECK(extender.Preempt(lower, kNow).body == extender.Preempt(request.dump(), kNow).body);
}

TEST_CASE("preempt: who has no checkpoints is not evicted, unless the priority says so") {
  const Json unsaved = Running("u1", 1, "20:00:00"), saved = Running("u2", 1, "20:00:00", Saving(60)),
             web = Running("u3", 0, "20:00:00");
  const Json both = {{"Pod", Asking(1, 999)},
                     {"NodeNameToVictims",
                      {{"a", On(Json::array({unsaved}))},
                       {"b", On(Json::array({saved, unsaved}))},
                       {"c", On(Json::array({saved, web}))}}}};
  Extender never = MakeExtender(Alike());
  Json found = Answer(never, both);
  CHECK(found == Json({{"c", On(Json::array({{{"UID", "u2"}}, {{"UID", "u3"}}}))}}));
  Json only = both;
  only["NodeNameToVictims"] = {{"a", both["NodeNameToVictims"]["a"]}};
  CHECK(Answer(never, only).empty());
  Json over = Alike();
  over["evict_unsaved_from_priority"] = 1000;
  Extender from_1000 = MakeExtender(over);
  CHECK(Answer(from_1000, only).empty());  // 999
  only["Pod"]["spec"]["priority"] = 1000;
  CHECK(Answer(from_1000, only).size() == 1);
  // An annotation that cannot be read is none.
  only["Pod"]["spec"]["priority"] = 0;
  for (const char* said : {"often", "0", "-5", "nan"}) {
    CAPTURE(said);
    only["NodeNameToVictims"]["a"]["Pods"][0]["metadata"]["annotations"]["berth/checkpoint-seconds"] = said;
    CHECK(Answer(from_1000, only).empty());
  }
}

TEST_CASE("preempt: nodes on which the pod cannot run, or that nobody told us of, are not cleared") {
  Extender extender = MakeExtender(Alike());
  const Json pods = Json::array({Running("u1", 4, "20:00:00", Saving(60))});
  Json request = {{"Pod", Asking(2)},
                  {"NodeNameToVictims", {{"cpu", On(pods)}, {"new", On(pods)}, {"a", On(Json::array())}}}};
  CHECK(Answer(extender, request).empty());
  request["NodeNameToVictims"] = Json::object();
  CHECK(Answer(extender, request).empty());
  request["NodeNameToVictims"]["v"] = On(pods);
  CHECK(Answer(extender, request).size() == 1);
  // A job type that runs on k80s alone.
  request["Pod"]["metadata"]["annotations"] = {{"berth/job-type", "only-old"}};
  CHECK(Answer(extender, request).empty());
  // What filter was shown is known afterwards: "new" has two K80s.
  request["NodeNameToVictims"] = {{"new", On(pods)}};
  const Json node = {{"metadata", {{"name", "new"}, {"labels", {{"nvidia.com/gpu.product", "Tesla-K80"}}}}},
                     {"status", {{"allocatable", {{"nvidia.com/gpu", 2}}}}}};
  CHECK(extender.Filter(Json{{"Pod", Asking(1)}, {"Nodes", {{"items", Json::array({node})}}}}.dump(), kNow)
            .status == 200);
  CHECK(Answer(extender, request).size() == 1);
  request["Pod"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 3;
  CHECK(Answer(extender, request).empty());
}

// The order of what decides, each against all that follows it.
TEST_CASE(
    "preempt: fewest budgets broken, lowest priorities, the policy's type, least work lost, fewest pods") {
  Extender extender = MakeExtender(Alike());
  const auto chosen = [&](const Json& a, const Json& b) {
    const Json found = Answer(extender, {{"Pod", Asking(1)}, {"NodeNameToVictims", {{"a", a}, {"b", b}}}});
    REQUIRE(found.size() == 1);
    return found.begin().key();
  };
  const Json cheap = Running("u1", 1, "20:29:00", Saving(60)),
             dear = Running("u2", 1, "12:00:00", Saving(36000));
  CHECK(chosen(On(Json::array({cheap}), 1), On(Json::array({dear}), 0)) == "b");
  CHECK(chosen(On(Json::array({cheap}), 1), On(Json::array({dear}), 1)) == "a");
  const Json higher = Running("u1", 1, "20:29:00", Saving(60), 7),
             lower = Running("u2", 1, "12:00:00", Saving(36000), -7);
  CHECK(chosen(On(Json::array({higher})), On(Json::array({lower, lower}))) == "b");
  // Lost since the last checkpoint at worst: 60 s of 4 GPUs = 240, against 300 of one.
  const Json sixty = Running("u1", 4, "12:00:00", Saving(60)),
             three_hundred = Running("u2", 1, "12:00:00", Saving(300));
  CHECK(chosen(On(Json::array({sixty})), On(Json::array({three_hundred}))) == "a");
  CHECK(chosen(On(Json::array({sixty, sixty})), On(Json::array({three_hundred}))) == "b");  // 480
  // It cannot lose more than it has done: 20 s.
  const Json young = Running("u3", 10, "20:29:40", Saving(300));  // 200
  CHECK(chosen(On(Json::array({sixty})), On(Json::array({young}))) == "b");
  // Weights count: 240 twice.
  Json heavy = sixty;
  heavy["metadata"]["annotations"]["berth/weight"] = "2";
  CHECK(chosen(On(Json::array({heavy})), On(Json::array({three_hundred}))) == "b");
  // A pod of a group of three takes the work of the group: 720.
  Json grouped = sixty;
  grouped["metadata"]["labels"] = {{"scheduling.x-k8s.io/pod-group", "g"}};
  grouped["metadata"]["annotations"]["berth/min-member"] = "3";
  CHECK(chosen(On(Json::array({grouped})), On(Json::array({sixty, sixty}))) == "b");
  // Alike but for their number, and in all: by name, so that the answer is the same each time.
  const Json web = Running("u9", 0, "20:00:00");
  CHECK(chosen(On(Json::array({sixty, web})), On(Json::array({sixty}))) == "b");
  CHECK(chosen(On(Json::array({sixty})), On(Json::array({sixty}))) == "a");

  // The policy's favourite of two types, whatever is lost there.
  const Json nodes = {{"Pod", Asking(1)}, {"NodeNames", {"a", "v"}}};
  const Json points = Json::parse(extender.Prioritize(nodes.dump(), kNow).body);
  REQUIRE(points[0]["Score"] != points[1]["Score"]);
  const std::string best = points[0]["Score"] > points[1]["Score"] ? "a" : "v",
                    other = best == "a" ? "v" : "a";
  const Json found =
      Answer(extender,
             {{"Pod", Asking(1)},
              {"NodeNameToVictims", {{best, On(Json::array({dear}))}, {other, On(Json::array({cheap}))}}}});
  REQUIRE(found.size() == 1);
  CHECK(found.begin().key() == best);
}

TEST_CASE("preempt: of victims that are mere UIDs nothing is known, so only the priority can say so") {
  Json over = Alike();
  over["evict_unsaved_from_priority"] = 1000;
  Extender extender = MakeExtender(over);
  const Json one = On(Json::array({{{"UID", "u1"}}}), 2),
             two = On(Json::array({{{"UID", "u2"}}, {{"UID", "u3"}}}), 1);
  Json request = {{"Pod", Asking(1, 999)}, {"NodeNameToMetaVictims", {{"a", one}, {"b", two}}}};
  CHECK(Answer(extender, request).empty());
  request["Pod"]["spec"]["priority"] = 1000;
  CHECK(Answer(extender, request) == Json({{"b", two}}));
}

TEST_CASE("preempt: a member of a pod group evicts nobody, a pod without GPUs is none of our business") {
  Extender extender = MakeExtender(Alike());
  const Json pods = Json::array({Running("u1", 1, "20:00:00", Saving(60))});
  Json request = {{"Pod", Asking(1)}, {"NodeNameToVictims", {{"a", On(pods)}, {"cpu", On(pods)}}}};
  request["Pod"]["metadata"]["labels"] = {{"scheduling.x-k8s.io/pod-group", "g"}};
  request["Pod"]["metadata"]["annotations"] = {{"berth/min-member", "2"}};
  CHECK(Answer(extender, request).empty());
  request["Pod"]["spec"]["containers"] = Json::array();
  CHECK(Answer(extender, request).size() == 2);
}

TEST_CASE("preempt: what is not the published schema gets 400 and a reason") {
  Extender extender = MakeExtender(Alike());
  const std::string pod = R"({"Pod":)" + Asking().dump() + ",";
  const std::pair<std::string, std::string> cases[] = {
      {"", "expected JSON"},
      {"[]", "ExtenderPreemptionArgs: expected an object, found array"},
      {"{}", "ExtenderPreemptionArgs: expected a Pod, found none"},
      {pod + R"("Other":1})", "found neither"},
      {pod + R"("NodeNameToVictims":{},"NodeNameToMetaVictims":{}})", "found both"},
      {pod + R"("NodeNameToVictims":[]})", "NodeNameToVictims: expected an object, found array"},
      {pod + R"("NodeNameToVictims":{"a":[]}})", "NodeNameToVictims: expected objects"},
      {pod + R"("NodeNameToVictims":{"a":{"Pods":{}}}})", "Pods: expected a list, found object"},
      {pod + R"("NodeNameToVictims":{"a":{"Pods":[7]}}})", "Pods: expected objects"},
      {pod + R"("NodeNameToVictims":{"a":{"Pods":[{}]}}})", "Pods: expected a UID, found none"},
      {pod +
           R"("NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":"u"},"status":{"startTime":"noon"}}]}}})",
       "startTime: expected a time such as"},
      {pod + R"("NodeNameToVictims":{"a":{"Pods":[],"NumPDBViolations":"1"}}})",
       "expected a whole number, found \"1\""},
      {pod + R"("NodeNameToMetaVictims":{"a":{"Pods":["u"]}}})", "Pods: expected objects"},
      {pod + R"("NodeNameToMetaVictims":{"a":{"Pods":[{"Uid":7}]}}})", "UID: expected a text, found number"},
      {R"({"Pod":{"metadata":{"name":"p"},"spec":{"priority":"high",)"
       R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}]}},)"
       R"("NodeNameToVictims":{}})",
       "Pod.spec.priority: expected a whole number"},
  };
  for (const auto& [body, why] : cases) {
    CAPTURE(body);
    const ExtenderReply reply = extender.Preempt(body, kNow);
    CHECK(reply.status == 400);
    CHECK_THAT(Json::parse(reply.body)["Error"].get<std::string>(), Contains(why));
  }
  // No victims at all, as Go writes nil.
  CHECK(Answer(extender, Json::parse(pod + R"("NodeNameToVictims":{"a":null,"b":{"Pods":null}}})")).empty());
}

TEST_CASE("preempt: damaged requests are answered, whatever the damage") {
  Extender extender = MakeExtender(Alike());
  const std::string good =
      Json{{"Pod", Asking()},
           {"NodeNameToVictims", {{"a", On(Json::array({Running("u1", 1, "20:00:00", Saving(60))}), 1)}}}}
          .dump();
  Stream stream(4, Purpose::kTest);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string body = good;
    const std::size_t at = stream.Below(static_cast<std::uint32_t>(body.size()));
    if (stream.Below(2) == 0) {
      body.erase(at, 1 + stream.Below(10));
    } else {
      body[at] = "{}[],:\"0-e"[stream.Below(10)];
    }
    CAPTURE(body);
    const ExtenderReply reply = extender.Preempt(body, kNow);
    CHECK((reply.status == 200 || reply.status == 400));
    CHECK(Json::accept(reply.body));
    refused += reply.status == 400;
  }
  CHECK(refused > 1000);
}

}  // namespace berth

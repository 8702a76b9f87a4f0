// Pod groups under `berth serve --extender`: all or none, by hand and over drawn arrivals.
#include "tools/serve/gangs.hpp"

#include <algorithm>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/extender_support.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::serve::kNow;
using test::serve::MakeExtender;
using test::serve::Preference;

constexpr float kNoScore = -std::numeric_limits<float>::infinity();

// A pod of a group of so many members, each of four GPUs.
ExtenderPod Member(const std::string& group, int members, int index, int gpus = 4, bool owned = false) {
  ExtenderPod pod;
  pod.name = Join(group, '-', index);
  pod.gpus = gpus;
  pod.group = PodGroup{"ns/" + group, owned, members};
  return pod;
}

// The book with the scores of two types, the first liked best.
struct TwoTypes {
  GangBook book{100.0, true};
  GangBook::Verdict Ask(const ExtenderPod& pod, int first, int second, double now) {
    const std::vector<float> scores = {1.0F, 0.0F};
    const std::vector<std::int64_t> slots = {first, second};
    return book.Admit(pod, scores, slots, now);
  }
};

// A pod of a group on `nodes` nodes of one type with one slot each, of which so many are taken.
struct OneType {
  GangBook book{100.0, true};
  bool Ask(const ExtenderPod& pod, int free, double now) {
    const std::vector<float> scores = {0.0F};
    const std::vector<std::int64_t> slots = {free};
    return book.Admit(pod, scores, slots, now).type == 0;
  }
};

Json PodOf(const std::string& name, int gpus, const Json& labels, const Json& annotations) {
  Json pod = {
      {"metadata", {{"name", name}, {"namespace", "ns"}, {"labels", labels}, {"annotations", annotations}}}};
  pod["spec"]["containers"] = Json::array({{{"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}}});
  return pod;
}

// Nodes by name of the types: "v0", "v1", ... have the table's v100s.
Json NodesOf(int v100, int k80, int gpus = 8) {
  Json items = Json::array();
  for (int i = 0; i < v100 + k80; ++i) {
    const bool first = i < v100;
    items.push_back(
        {{"metadata",
          {{"name", Join(first ? "v" : "k", first ? i : i - v100)},
           {"labels", {{"nvidia.com/gpu.product", first ? "Tesla-V100-SXM2-16GB" : "Tesla-K80"}}}}},
         {"status", {{"allocatable", {{"nvidia.com/gpu", gpus}}}}}});
  }
  return {{"items", items}};
}

Json Filtered(Extender& extender, const Json& pod, const Json& nodes, double now) {
  return Json::parse(extender.Filter(Json{{"Pod", pod}, {"Nodes", nodes}}.dump(), now).body);
}

}  // namespace

TEST_CASE("gangs: a group starts on the type liked best that holds all of it, and on no other") {
  TwoTypes two;
  CHECK(two.Ask(Member("a", 3, 0), 2, 3, 0.0).type == 1);  // two slots of the first are too few
  CHECK(two.book.Held(0, 4, 0.0) == 0);
  CHECK(two.book.Held(1, 4, 0.0) == 2);  // for the other two
  CHECK(two.Ask(Member("b", 3, 0), 3, 3, 0.0).type == 0);
  const GangBook::Verdict none = two.Ask(Member("c", 3, 0), 2, 2, 0.0);
  CHECK(none.type == -1);
  // Of its own, nothing is held: two slots of each, and a and b wait for two there each.
  CHECK(none.why == "the pod group ns/c needs room for 3 pods of 4 GPUs on one type, there is for 0");
  CHECK(two.book.Held(0, 4, 0.0) == 2);
  // It stays where it began, also should the other type be free by now.
  CHECK(two.Ask(Member("a", 3, 1), 9, 2, 1.0).type == 1);
  // Not where it cannot run.
  GangBook book(100.0, true);
  const std::vector<float> scores = {kNoScore, 0.0F};
  const std::vector<std::int64_t> slots = {5, 1};
  CHECK(book.Admit(Member("d", 2, 0), scores, slots, 0.0).type == -1);
  const std::vector<std::int64_t> few = {9, 2};
  CHECK(book.Admit(Member("f", 3, 0), scores, few, 0.0).why ==
        "the pod group ns/f needs room for 3 pods of 4 GPUs on one type, there is for 2");
  const std::vector<float> nowhere = {kNoScore, kNoScore};
  CHECK(book.Admit(Member("n", 3, 0), nowhere, few, 0.0).why == "no type of the table runs the pod group ns/n: 3 pods of 4 GPUs");
}

TEST_CASE("gangs: two groups never wait for each other's half") {
  // Four nodes. a needs three, b two.
  OneType one;
  CHECK(one.Ask(Member("a", 3, 0), 4, 0.0));        // holds two of the three that are left
  CHECK_FALSE(one.Ask(Member("b", 2, 0), 3, 1.0));  // 3 - 2 = 1
  CHECK(one.Ask(Member("a", 3, 1), 3, 2.0));
  CHECK_FALSE(one.Ask(Member("b", 2, 1), 2, 3.0));  // 2 - 1 = 1
  CHECK(one.Ask(Member("a", 3, 2), 2, 4.0));        // whole
  CHECK_FALSE(one.Ask(Member("b", 2, 0), 1, 5.0));  // one node is left
  CHECK(one.book.Held(0, 4, 5.0) == 0);
  CHECK(one.Ask(Member("b", 2, 0), 4, 6.0));  // a has ended
  CHECK(one.Ask(Member("b", 2, 1), 3, 7.0));
}

TEST_CASE("gangs: groups that fit beside each other gather side by side") {
  // Six nodes, two groups of three.
  OneType one;
  CHECK(one.Ask(Member("a", 3, 0), 6, 0.0));
  CHECK(one.Ask(Member("b", 3, 0), 5, 1.0));        // 5 - 2 = 3
  CHECK_FALSE(one.Ask(Member("c", 1, 0), 4, 2.0));  // 4 - 2 - 2 = 0
  CHECK(one.book.Held(0, 4, 2.0) == 4);
  SECTION("to the end") {
    CHECK(one.Ask(Member("a", 3, 1), 4, 3.0));
    CHECK(one.Ask(Member("b", 3, 1), 3, 4.0));
    CHECK(one.Ask(Member("b", 3, 2), 2, 5.0));
    CHECK(one.Ask(Member("a", 3, 2), 1, 6.0));
    CHECK(one.book.Held(0, 4, 6.0) == 0);
  }
  SECTION("and where two nodes fail meanwhile the first is the first") {
    CHECK_FALSE(one.Ask(Member("b", 3, 1), 2, 3.0));  // a waits for two
    CHECK(one.Ask(Member("a", 3, 1), 2, 4.0));
    CHECK_FALSE(one.Ask(Member("b", 3, 1), 1, 5.0));
    CHECK(one.Ask(Member("a", 3, 2), 1, 6.0));
    CHECK_FALSE(one.Ask(Member("b", 3, 1), 0, 7.0));
    CHECK(one.Ask(Member("b", 3, 1), 2, 8.0));  // the nodes are back
  }
}

TEST_CASE("gangs: time is over at the time-out, others go first, then the group starts anew") {
  OneType one;
  CHECK(one.Ask(Member("a", 2, 0), 2, 0.0));
  CHECK(one.book.Held(0, 4, 99.9) == 1);
  CHECK(one.book.Held(0, 4, 100.0) == 0);
  CHECK_FALSE(one.Ask(Member("a", 2, 1), 9, 100.0));
  const std::vector<float> scores = {0.0F};
  const std::vector<std::int64_t> slots = {9};
  CHECK(one.book.Admit(Member("a", 2, 1), scores, slots, 150.5).why ==
        "the pod group ns/a was not whole in time: it may start anew in 50 s");
  CHECK(one.Ask(Member("b", 1, 0), 1, 100.0));
  CHECK_FALSE(one.Ask(Member("a", 2, 1), 1, 200.0));  // anew is as a whole
  CHECK(one.Ask(Member("a", 2, 1), 2, 200.0));
  CHECK(one.book.Held(0, 4, 200.0) == 1);
  CHECK(one.Ask(Member("a", 2, 0), 1, 299.0));
}

TEST_CASE("gangs: a member that is deleted is waited for under its name, or until the time-out") {
  OneType one;
  CHECK(one.Ask(Member("a", 2, 0), 2, 0.0));
  // Its successor has its name, so it is no second member.
  CHECK(one.Ask(Member("a", 2, 0), 2, 10.0));
  CHECK(one.book.Held(0, 4, 10.0) == 1);
  // kube-scheduler asks again after a failure of its own: what the group holds is for the others.
  CHECK_FALSE(one.Ask(Member("c", 1, 0), 1, 11.0));
  CHECK(one.Ask(Member("a", 2, 1), 1, 12.0));
  CHECK(one.book.Held(0, 4, 12.0) == 0);
  // Deleted for good: nothing is held for b-1 from 120 on.
  CHECK(one.Ask(Member("b", 2, 0), 2, 20.0));
  CHECK(one.book.Held(0, 4, 119.0) == 1);
  CHECK(one.book.Held(0, 4, 120.0) == 0);
}

TEST_CASE("gangs: a pod in place of a lost one starts alone where the group's controller is known") {
  OneType one;
  for (const bool owned : {true, false}) {
    CAPTURE(owned);
    const std::string name = owned ? "owned" : "free";
    CHECK(one.Ask(Member(name, 2, 0, 4, owned), 2, 0.0));
    CHECK(one.Ask(Member(name, 2, 1, 4, owned), 1, 0.0));
    CHECK(one.Ask(Member(name, 2, 2, 4, owned), 1, 50.0));
    // Later a group of the same name may be another one, unless its controller says that it is not.
    CHECK(one.Ask(Member(name, 2, 3, 4, owned), 1, 5000.0) == owned);
  }
}

TEST_CASE("gangs: members of other sizes are refused, and slots are of whoever asks") {
  GangBook book(100.0, false);  // counted in GPUs
  const std::vector<float> scores = {0.0F};
  const auto ask = [&](const ExtenderPod& pod, int slots) {
    const std::vector<std::int64_t> free = {slots};
    return book.Admit(pod, scores, free, 0.0);
  };
  CHECK(ask(Member("a", 4, 0, 1), 4).type == 0);  // one node of four GPUs holds four members
  CHECK(ask(Member("a", 4, 1, 2), 2).why == "asks for 2 GPUs, the others of the pod group ns/a for 1");
  CHECK(book.Held(0, 1, 0.0) == 3);
  CHECK(book.Held(0, 4, 0.0) == 3);  // each may stand in another node
  CHECK(ask(Member("b", 1, 0, 8), 3).type == -1);
  CHECK(ask(Member("b", 1, 0, 8), 4).type == 0);
  CHECK(ask(Member("c", 2, 0, 8), 5).type == 0);  // 5 - 3 = 2
  CHECK(book.Held(0, 2, 0.0) == 3 + 4);           // 8 GPUs where four pods of 2 could stand
}

TEST_CASE("gangs: what is kept of pods, and what is held, is bounded") {
  GangBook book(100.0, false);
  const std::vector<float> scores = {0.0F};
  const std::vector<std::int64_t> slots = {2000000000};
  const auto ask = [&](const ExtenderPod& pod) { return book.Admit(pod, scores, slots, 0.0); };
  int through = 0;
  GangBook::Verdict last;
  while (through < 200000 && (last = ask(Member("a", 999999, through, 1))).type == 0) ++through;
  CHECK(through == 100000);
  CHECK(last.why == "more than 100000 pods of pod groups that start are known");
  CHECK(ask(Member("b", 2, 0, 1)).why == last.why);
  CHECK(ask(Member("a", 999999, 0, 1)).type == 0);  // who is known, and who waits for nobody
  CHECK(ask(Member("c", 1, 0, 1)).type == 0);
  // Groups that are whole are asked for more pods by their controllers all their life.
  GangBook whole(100.0, true);
  for (int i = 0; i < 200000; ++i) REQUIRE(whole.Admit(Member("w", 1, i, 1, true), scores, slots, 1.0).type == 0);
}

TEST_CASE("gangs: groups hold more than an int") {
  GangBook book(100.0, false);
  const std::vector<float> scores = {0.0F};
  for (int i = 0; i < 5000; ++i) {
    const std::vector<std::int64_t> slots = {2000000000};
    REQUIRE(book.Admit(Member(Join("g", i), 2, 0, 499999), scores, slots, 0.0).type == 0);
  }
  CHECK(book.Held(0, 1, 0.0) == std::int64_t{5000} * 499999);
}

// What is promised, over drawn arrivals: nodes that only the book fills, groups of one to four pods and
// single pods that ask until they run, in any order. Whoever has started is whole at the first ask of each
// member, nobody waits for good.
TEST_CASE("gangs: a group that has started gets every member, whoever asks between") {
  Stream stream(28, Purpose::kTest);
  int started = 0, waited = 0;
  for (int round = 0; round < 40; ++round) {
    GangBook book(1e6, true);
    const int nodes = 4 + static_cast<int>(stream.Below(5));
    int used = 0;
    double now = 0.0;
    struct Group {
      std::string name;
      int members, through = 0;
      double ends = 0.0;
    };
    std::vector<Group> groups;
    for (int i = 0; i < 12; ++i) groups.push_back({Join("g", i), 1 + static_cast<int>(stream.Below(4))});
    std::vector<double> singles;
    for (int asks = 0; asks < 3000; ++asks) {
      now += 1.0;
      for (Group& group : groups) {
        if (group.ends > 0.0 && group.ends <= now) used -= group.members, group.ends = -1.0;
      }
      while (!singles.empty() && singles.front() <= now) singles.erase(singles.begin()), --used;
      if (asks < 1500 && stream.Below(4) == 0) {
        if (nodes - used > book.Held(0, 4, now)) singles.push_back(now + 20.0), ++used;
        continue;
      }
      Group& group = groups[stream.Below(static_cast<std::uint32_t>(groups.size()))];
      if (group.through == group.members || used == nodes)
        continue;  // kube-scheduler asks with a node to show
      const std::vector<float> scores = {0.0F};
      const std::vector<std::int64_t> slots = {nodes - used};
      const bool may =
          book.Admit(Member(group.name, group.members, group.through), scores, slots, now).type == 0;
      if (group.through > 0) REQUIRE(may);
      waited += may ? 0 : 1;
      if (!may) continue;
      ++used;
      REQUIRE(used <= nodes);
      if (++group.through == group.members) group.ends = now + 30.0, ++started;
    }
    for (const Group& group : groups) REQUIRE(group.through == group.members);
  }
  CHECK(started == 40 * 12);
  CHECK(waited > 100);
}

TEST_CASE("extender: filter lets a pod group through whole, and holds its room against others") {
  Extender extender = MakeExtender(Json{{"gang_timeout_s", 60}});
  const Json label = {{"scheduling.x-k8s.io/pod-group", "g"}}, three = {{"berth/min-member", "3"}};
  const auto member = [&](int index) { return PodOf(Join("g-", index), 2, label, three); };
  // Two nodes of each type: none holds three of them (a node that is shown is room for one).
  Json found = Filtered(extender, member(0), NodesOf(2, 2), kNow);
  CHECK(found["Nodes"]["items"].empty());
  CHECK(found["FailedNodes"].empty());
  CHECK(found["FailedAndUnresolvableNodes"]["v0"] ==
        "the pod group ns/g needs room for 3 pods of 2 GPUs on one type, there is for 2");
  // Three k80 nodes.
  found = Filtered(extender, member(0), NodesOf(2, 3), kNow);
  REQUIRE(found["Nodes"]["items"].size() == 3);
  CHECK(found["Nodes"]["items"][0]["metadata"]["name"] == "k0");
  CHECK(found["FailedAndUnresolvableNodes"]["v1"] == "its pod group runs on k80");
  // Somebody else's pod: two k80 nodes are left and held; v100 is free.
  const Json other = PodOf("other", 2, Json::object(), Json::object());
  found = Filtered(extender, other, NodesOf(2, 2), kNow + 1);
  CHECK(found["Nodes"]["items"].size() == 2);
  CHECK(found["FailedAndUnresolvableNodes"]["k0"] == "its room is held for a pod group that is starting");
  CHECK(Filtered(extender, other, NodesOf(0, 3), kNow + 1)["Nodes"]["items"].size() == 3);
  // Without GPUs it is none of our business.
  CHECK(Filtered(extender, PodOf("web", 0, label, Json::object()), NodesOf(0, 2), kNow)["Nodes"]["items"]
            .size() == 2);
  CHECK(Filtered(extender, member(1), NodesOf(2, 2), kNow + 2)["Nodes"]["items"].size() == 2);
  // Its time is over before the third comes.
  CHECK(Filtered(extender, other, NodesOf(0, 1), kNow + 59)["Nodes"]["items"].empty());
  CHECK(Filtered(extender, other, NodesOf(0, 1), kNow + 60)["Nodes"]["items"].size() == 1);
  CHECK(Filtered(extender, member(2), NodesOf(3, 3), kNow + 60)["Nodes"]["items"].empty());
  CHECK(Filtered(extender, member(2), NodesOf(0, 3), kNow + 120)["Nodes"]["items"].size() == 3);
}

TEST_CASE("extender: gang_room gpus counts what nodes have, names of labels are the table's") {
  Extender extender =
      MakeExtender(Json{{"gang_room", "gpus"},
                        {"annotations", {{"pod_group", "volcano/group"}, {"min_member", "volcano/min"}}}});
  // By annotation as well as by label. Four pods of two GPUs in one node of eight.
  const Json pod = PodOf("p", 2, Json::object(), {{"volcano/group", "g"}, {"volcano/min", "4"}});
  CHECK(Filtered(extender, pod, NodesOf(0, 1, 7), kNow)["Nodes"]["items"].empty());
  CHECK(Filtered(extender, pod, NodesOf(0, 1, 8), kNow)["Nodes"]["items"].size() == 1);
}

TEST_CASE("extender: where the table names no label there are no pod groups") {
  Extender extender = MakeExtender(Json{{"annotations", {{"pod_group", ""}}}});
  const Json pod = PodOf("p", 2, {{"scheduling.x-k8s.io/pod-group", "g"}}, Json::object());
  CHECK(Filtered(extender, pod, NodesOf(1, 1), kNow)["Nodes"]["items"].size() == 2);
}

TEST_CASE("extender: the policy sees a pod group as the one job that it is") {
  Extender extender = MakeExtender();
  const Json pod = PodOf("p", 2, {{"scheduling.x-k8s.io/pod-group", "g"}}, {{"berth/min-member", "4"}});
  const Json list =
      Json::parse(extender.Prioritize(Json{{"Pod", pod}, {"Nodes", NodesOf(1, 1)}}.dump(), kNow).body);
  // Eight GPUs of the default job type for the default two hours.
  const std::vector<double> rates = extender.table().RatesOf("ResNet-50 (batch size 32)", 8);
  ForeignJob job;
  job.gang = 8;
  job.remaining_steps = 7200.0 * *std::max_element(rates.begin(), rates.end());
  const std::vector<std::int64_t> preference = Preference(job, rates, 0.0);
  CHECK(list[0] == Json({{"Host", "v0"}, {"Score", preference[0]}}));
  CHECK(list[1] == Json({{"Host", "k0"}, {"Score", preference[2]}}));
}

TEST_CASE("extender: a pod group that says no number, or one that cannot be, gets 400") {
  Extender extender = MakeExtender();
  const Json label = {{"scheduling.x-k8s.io/pod-group", "g"}};
  for (const char* said : {"", "0", "-1", "two", "1e9", "99999999999999999999"}) {
    CAPTURE(said);
    const Json pod = PodOf("p", 1, label, {{"berth/min-member", said}});
    CHECK_THAT(Filtered(extender, pod, NodesOf(1, 1), kNow)["Error"].get<std::string>(),
               Contains("berth/min-member: expected how many pods of the group must run together"));
  }
  const Json many = PodOf("p", 8, label, {{"berth/min-member", "999999"}});
  CHECK_THAT(Filtered(extender, many, NodesOf(1, 1), kNow)["Error"].get<std::string>(),
             Contains("expected at most 999999 GPUs of the pod's group"));
}

}  // namespace berth

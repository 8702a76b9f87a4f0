#include "tools/serve/extender.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/portable_math.hpp"
#include "tools/serve/error_json.hpp"
#include "tools/serve/many_members.hpp"

namespace berth {
namespace {

constexpr double kMostPriority = 10.0;  // MaxExtenderPriority
constexpr std::size_t kMostShown = 100000;
constexpr float kNowhere = -std::numeric_limits<float>::infinity();

ExtenderReply ErrorReply(int status, const std::string& why) {
  return {status, ErrorJson(why)};
}

}  // namespace

Extender::Extender(ExtenderTable table, PolicyBundle bundle, const std::string& policy_path)
    : table_(std::move(table)),
      decider_(std::move(bundle), policy_path),
      gangs_(table_.gang_timeout_s, table_.whole_nodes) {
  // A policy that is not for this cluster says so now, not at the first pod.
  const std::vector<ForeignJob> probe(1);
  const std::vector<double> rates(table_.types.size(), 1.0);
  std::vector<float> scores(table_.types.size());
  decider_.Score({0.0, table_.types, probe, rates, true}, scores);
}

template <class F>
ExtenderReply Extender::Answered(const F& answer) {
  try {
    return answer();
  } catch (const RefusedRequest& refused) {
    return ErrorReply(refused.status, refused.why);
  } catch (const Error& error) {
    return ErrorReply(400, error.what());
  }
}

std::string Extender::WhyNot(const ExtenderPod& pod, const ExtenderNode& node) const {
  if (pod.gpus == 0) return "";
  if (node.type < 0) {
    if (node.label.empty()) return Join("has no GPU that Berth knows (no label ", table_.node_label, ")");
    return Join("its ", table_.node_label, " '", node.label, "' is not in Berth's table");
  }
  const GpuType& type = table_.types[static_cast<std::size_t>(node.type)];
  if (pod.rates[static_cast<std::size_t>(node.type)] <= 0.0) {
    return Join("the job type cannot run on ", pod.job.gang, " x ", type.name);
  }
  const int gpus = node.gpus < 0 ? type.count : node.gpus;
  if (pod.gpus > gpus) return Join("has ", Counted(gpus, "GPU"), ", the pod needs ", pod.gpus);
  return "";
}

std::vector<std::string> Extender::WhyNotNow(const FilterRequest& request, double now) {
  const ExtenderPod& pod = request.pod;
  std::vector<std::string> why;
  std::vector<std::int64_t> slots(table_.types.size(), 0);
  for (const ExtenderNode& node : request.nodes) {
    why.push_back(WhyNot(pod, node));
    if (pod.gpus == 0 || !why.back().empty()) continue;
    slots[static_cast<std::size_t>(node.type)] +=
        table_.whole_nodes || node.gpus < 0 ? 1 : node.gpus / pod.gpus;
  }
  if (pod.gpus == 0) return why;
  std::vector<std::string> why_type(table_.types.size());
  if (pod.group) {
    const GangBook::Verdict verdict = gangs_.Admit(pod, Scores(pod), slots, now);
    for (std::size_t g = 0; g < why_type.size(); ++g) {
      if (verdict.type < 0) why_type[g] = verdict.why;
      if (verdict.type >= 0 && verdict.type != static_cast<int>(g)) {
        why_type[g] =
            Join("its pod group runs on ", table_.types[static_cast<std::size_t>(verdict.type)].name);
      }
    }
  } else {
    for (std::size_t g = 0; g < why_type.size(); ++g) {
      if (slots[g] > 0 && slots[g] <= gangs_.Held(static_cast<int>(g), pod.gpus, now)) {
        why_type[g] = Join("its room is held for a pod group that is starting");
      }
    }
  }
  for (std::size_t i = 0; i < why.size(); ++i) {
    if (why[i].empty()) why[i] = why_type[static_cast<std::size_t>(request.nodes[i].type)];
  }
  return why;
}

void Extender::Remember(const FilterRequest& request) {
  if (request.by_name) return;                                            // the table has them
  if (shown_.size() + request.nodes.size() > kMostShown) shown_.clear();  // names of nodes that are long gone
  for (const ExtenderNode& node : request.nodes) {
    if (shown_.size() >= kMostShown) return;
    shown_[node.name] = node;
  }
}

ExtenderReply Extender::Filter(const std::string& body, double now) {
  return Answered([&] {
    FilterRequest request = ReadFilterRequest(table_, body, now);
    Remember(request);
    const std::vector<std::string> why = WhyNotNow(request, now);
    Json passed_names = Json::array(), passed_nodes = Json::array();
    ManyMembers reasons;
    for (std::size_t i = 0; i < request.nodes.size(); ++i) {
      if (!why[i].empty()) {
        reasons[request.nodes[i].name] = why[i];
      } else if (request.by_name) {
        passed_names.push_back(request.nodes[i].name);
      } else {
        passed_nodes.push_back(std::move(request.raw_nodes[i]));
      }
    }
    Json failed = reasons.Take();
    ExtenderReply reply;
    reply.nodes_failed = static_cast<std::int64_t>(failed.size());
    reply.nodes_passed = static_cast<std::int64_t>(request.nodes.size()) - reply.nodes_failed;
    // Nothing that a preemption on the node could change.
    Json json = {{"Nodes", nullptr},
                 {"NodeNames", nullptr},
                 {"FailedNodes", Json::object()},
                 {"FailedAndUnresolvableNodes", std::move(failed)},
                 {"Error", ""}};
    if (request.by_name) {
      json["NodeNames"] = passed_names;
    } else {
      json["Nodes"]["metadata"] = Json::object();
      json["Nodes"]["items"] = std::move(passed_nodes);
    }
    reply.body = json.dump();
    return reply;
  });
}

std::vector<float> Extender::Scores(const ExtenderPod& pod) {
  std::vector<float> scores(table_.types.size(), kNowhere);
  bool somewhere = false;
  for (std::size_t g = 0; g < scores.size() && pod.gpus > 0; ++g) {
    somewhere = somewhere || (pod.rates[g] > 0.0 && pod.job.gang <= table_.types[g].count);
  }
  if (somewhere) decider_.Score({pod.age_s, table_.types, {&pod.job, 1}, pod.rates, true}, scores);
  return scores;
}

std::vector<std::int64_t> Extender::Points(const ExtenderPod& pod) {
  const std::vector<float> scores = Scores(pod);
  const float best = *std::max_element(scores.begin(), scores.end());
  std::vector<std::int64_t> points(scores.size(), 0);
  for (std::size_t g = 0; g < scores.size() && best > kNowhere; ++g) {
    // The policy's odds of the type, against its favourite's.
    points[g] = std::llround(kMostPriority * Exp(static_cast<double>(scores[g] - best)));
  }
  return points;
}

ExtenderReply Extender::Prioritize(const std::string& body, double now) {
  return Answered([&]() -> ExtenderReply {
    const FilterRequest request = ReadFilterRequest(table_, body, now);
    const std::vector<std::int64_t> points = Points(request.pod);
    Json list = Json::array();
    for (const ExtenderNode& node : request.nodes) {
      const bool can = request.pod.gpus > 0 && WhyNot(request.pod, node).empty();
      list.push_back({{"Host", node.name}, {"Score", can ? points[static_cast<std::size_t>(node.type)] : 0}});
    }
    return {200, list.dump()};
  });
}

bool Extender::MayEvict(const ExtenderPod& pod, const NodeVictims& on) const {
  if (on.pods.empty()) return false;  // which kube-scheduler takes for an error
  if (pod.gpus == 0) return true;
  if (table_.evict_unsaved_from && pod.priority >= *table_.evict_unsaved_from) return true;
  return std::all_of(on.pods.begin(), on.pods.end(), [](const VictimPod& victim) {
    return victim.known && (victim.gpus == 0 || victim.saves);
  });
}

ExtenderReply Extender::Preempt(const std::string& body, double now) {
  return Answered([&]() -> ExtenderReply {
    PreemptionRequest request = ReadPreemptionRequest(table_, body, now);
    const ExtenderPod& pod = request.pod;
    const std::vector<std::int64_t> points = Points(pod);
    // kube-scheduler's own first two questions; then the policy's, then what is lost. It evicts on whichever
    // node is left, so one is.
    using Rank = std::tuple<std::int64_t, int, std::int64_t, double, std::size_t, std::string>;
    std::vector<std::pair<Rank, const NodeVictims*>> ranked;
    for (NodeVictims& on : request.nodes) {
      const auto named = table_.nodes.find(on.node.name);
      const auto shown = shown_.find(on.node.name);
      if (named != table_.nodes.end()) on.node.type = named->second;
      if (shown != shown_.end()) on.node = shown->second;
      // Half a group would gain nothing by what it evicts.
      if (pod.group || !WhyNot(pod, on.node).empty() || !MayEvict(pod, on)) continue;
      int highest = std::numeric_limits<int>::min();
      double lost = 0.0;
      for (const VictimPod& victim : on.pods) {
        highest = std::max(highest, victim.priority);
        lost += victim.lost_gpu_s;
      }
      const std::int64_t liked = pod.gpus > 0 ? points[static_cast<std::size_t>(on.node.type)] : 0;
      ranked.push_back({Rank(on.pdb_violations, highest, -liked, lost, on.pods.size(), on.node.name), &on});
    }
    std::sort(ranked.begin(), ranked.end());
    if (pod.gpus > 0 && ranked.size() > 1) ranked.resize(1);
    ManyMembers nodes;
    for (const auto& [rank, on] : ranked) {
      Json pods = Json::array();
      for (const VictimPod& victim : on->pods) pods.push_back({{"UID", victim.uid}});
      nodes[on->node.name] = {{"Pods", pods}, {"NumPDBViolations", on->pdb_violations}};
    }
    return {200, Json{{"NodeNameToMetaVictims", nodes.Take()}}.dump()};
  });
}

}  // namespace berth

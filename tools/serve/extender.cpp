#include "tools/serve/extender.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr int kMostNesting = 64;  // so that no request makes a recursion deep
constexpr int kMostGpus = 999999;
constexpr double kMostPriority = 10.0;  // MaxExtenderPriority

// A request that gets `status` and a reason.
struct Refused {
  int status;
  std::string why;
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The member, as Go's decoder finds it: by its name, else whatever the case. Null where there is none.
const Json* Member(const Json& object, const std::string& name) {
  if (!object.is_object()) return nullptr;
  const auto exact = object.find(name);
  if (exact != object.end()) return exact->is_null() ? nullptr : &*exact;
  for (const auto& [key, value] : object.items()) {
    if (Lower(key) == Lower(name)) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

const Json* MemberOf(const Json* object, const std::string& name) {
  return object == nullptr ? nullptr : Member(*object, name);
}

const Json* Typed(const Json* json, const std::string& where, Json::value_t type, const char* expected) {
  if (json != nullptr && json->type() != type) {
    throw Refused{400, Join(where, ": expected ", expected, ", found ", json->type_name())};
  }
  return json;
}

// The member, which is an object where it is there.
const Json* ObjectOf(const Json* json, const std::string& name, const std::string& where) {
  return Typed(MemberOf(json, name), Join(where, ": ", name), Json::value_t::object, "an object");
}

std::string TextOf(const Json* json, const std::string& where) {
  Typed(json, where, Json::value_t::string, "a text");
  return json == nullptr ? "" : json->get<std::string>();
}

// A quantity of whole things: "2" or 2.
int WholeNumber(const Json& json, const std::string& where) {
  if (json.is_string()) {
    const std::string text = json.get<std::string>();
    if (!text.empty() && text.size() <= 6 && text.find_first_not_of("0123456789") == std::string::npos) {
      return std::stoi(text);
    }
  } else if (json.is_number_unsigned() && json.get<std::uint64_t>() <= kMostGpus) {
    return static_cast<int>(json.get<std::uint64_t>());
  }
  throw Refused{400,
                Join(where, ": expected a whole number of GPUs up to ", kMostGpus, ", found ", json.dump())};
}

// The GPUs of containers[]: limits, which for devices equal the requests.
std::vector<int> GpusOf(const Json* containers, const std::string& resource, const std::string& where) {
  std::vector<int> gpus;
  if (Typed(containers, where, Json::value_t::array, "a list") == nullptr) return gpus;
  for (const Json& container : *containers) {
    Typed(&container, where, Json::value_t::object, "objects");
    const Json* resources = ObjectOf(&container, "resources", where);
    const Json* asked = MemberOf(ObjectOf(resources, "limits", where + ": resources"), resource);
    const Json* requests = ObjectOf(resources, "requests", where + ": resources");
    if (asked == nullptr) asked = MemberOf(requests, resource);
    gpus.push_back(asked == nullptr ? 0 : WholeNumber(*asked, Join(where, ": ", resource)));
  }
  return gpus;
}

double AgeOf(const Json* created, double now) {
  if (created == nullptr) return 0.0;
  const std::string text = TextOf(created, "Pod.metadata.creationTimestamp");
  struct tm parts {};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || std::string(end) != "Z") {
    throw Refused{400, Join("Pod.metadata.creationTimestamp: expected a time such as 2026-11-21T20:00:00Z, "
                            "found '",
                            text, "'")};
  }
  return std::max(0.0, now - static_cast<double>(timegm(&parts)));
}

ExtenderReply ErrorReply(int status, const std::string& why) {
  return {status, Json{{"Error", why}}.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace

struct Extender::Pod {
  std::string name;
  int gang = 0;               // 0 = it asks for no GPU: none of our business
  double age_s = 0.0;         // since its creation
  ForeignJob job;             // arrived at 0, so that now is its age
  std::vector<double> rates;  // [G]
};

struct Extender::Node {
  std::string name;
  int type = -1;      // -1 = no GPUs
  int gpus = -1;      // allocatable; -1 = not said
  std::string label;  // the value of the node's label, where it is in no row of the table
};

struct Extender::Request {
  Pod pod;
  std::vector<Node> nodes;
  Json raw_nodes;        // [] of v1.Node beside `nodes`; empty where names were sent
  bool by_name = false;  // NodeNames, nodeCacheCapable
};

Extender::Extender(ExtenderTable table, PolicyBundle bundle, const std::string& policy_path)
    : table_(std::move(table)), decider_(std::move(bundle), policy_path) {
  // A policy that is not for this cluster says so now, not at the first pod.
  const std::vector<ForeignJob> probe(1);
  const std::vector<double> rates(table_.types.size(), 1.0);
  std::vector<float> scores(table_.types.size());
  decider_.Score({0.0, table_.types, probe, rates, true}, scores);
}

Extender::Pod Extender::ReadPod(const Json& json, double now) const {
  Typed(&json, "Pod", Json::value_t::object, "an object");
  const Json* metadata = Typed(Member(json, "metadata"), "Pod.metadata", Json::value_t::object, "an object");
  const Json* spec = Typed(Member(json, "spec"), "Pod.spec", Json::value_t::object, "an object");
  Pod pod;
  pod.name = TextOf(MemberOf(metadata, "name"), "Pod.metadata.name");
  if (pod.name.empty()) throw Refused{400, "Pod.metadata.name: expected a name, found none"};
  // As Kubernetes counts: containers run together, init containers one before the other.
  for (int gpus : GpusOf(MemberOf(spec, "containers"), table_.resource, "Pod.spec.containers")) {
    if ((pod.gang += gpus) > kMostGpus) {
      throw Refused{400, Join("Pod.spec.containers: expected at most ", kMostGpus, " GPUs in all")};
    }
  }
  for (int gpus : GpusOf(MemberOf(spec, "initContainers"), table_.resource, "Pod.spec.initContainers")) {
    pod.gang = std::max(pod.gang, gpus);
  }
  if (pod.gang == 0) return pod;
  const Json* annotations = Typed(MemberOf(metadata, "annotations"), "Pod.metadata.annotations",
                                  Json::value_t::object, "an object");
  const auto annotation = [&](const std::string& name) {
    return TextOf(MemberOf(annotations, name), Join("Pod.metadata.annotations: ", name));
  };
  const auto positive = [&](const std::string& name) -> std::optional<double> {
    const std::string text = annotation(name);
    if (text.empty()) return std::nullopt;
    double value = std::nan("");
    try {
      value = ParseNumber(text, name);
    } catch (const Error&) {
    }
    if (!(value > 0.0) || std::isinf(value)) {
      throw Refused{400,
                    Join("Pod.metadata.annotations: ", name, ": expected a number > 0, found '", text, "'")};
    }
    return value;
  };
  std::string job_type = annotation(table_.job_type_annotation);
  if (job_type.empty()) job_type = table_.default_job_type;
  if (job_type.empty()) {
    throw Refused{400, Join("Pod.metadata.annotations: expected '", table_.job_type_annotation,
                            "', found none, and the table has no default job type")};
  }
  try {
    pod.rates = table_.RatesOf(job_type, pod.gang);
  } catch (const Error& error) {
    throw Refused{400, Join("Pod.metadata.annotations: ", table_.job_type_annotation, ": ", error.what())};
  }
  const double best = *std::max_element(pod.rates.begin(), pod.rates.end());
  pod.job.gang = pod.gang;
  pod.job.weight = positive(table_.weight_annotation).value_or(table_.default_weight);
  const double seconds = positive(table_.remaining_s_annotation).value_or(table_.default_remaining_s);
  pod.job.remaining_steps = positive(table_.remaining_steps_annotation)
                                .value_or(best > 0.0 ? std::min(seconds * best, 1e300) : seconds);
  pod.age_s = AgeOf(MemberOf(metadata, "creationTimestamp"), now);
  return pod;
}

Extender::Node Extender::ReadNode(const Json& json) const {
  Typed(&json, "Nodes.items", Json::value_t::object, "objects");
  const Json* metadata = ObjectOf(&json, "metadata", "Nodes.items");
  const Json* labels = ObjectOf(metadata, "labels", "Nodes.items: metadata");
  Node node;
  node.name = TextOf(MemberOf(metadata, "name"), "Nodes.items: metadata.name");
  if (node.name.empty()) throw Refused{400, "Nodes.items: metadata.name: expected a name, found none"};
  const auto named = table_.nodes.find(node.name);
  const std::string label =
      TextOf(MemberOf(labels, table_.node_label), Join("Nodes.items: ", table_.node_label));
  const auto labelled = table_.label_values.find(label);
  if (named != table_.nodes.end()) {
    node.type = named->second;
  } else if (labelled != table_.label_values.end()) {
    node.type = labelled->second;
  } else {
    node.label = label;
  }
  const Json* status = ObjectOf(&json, "status", "Nodes.items");
  const Json* gpus = MemberOf(ObjectOf(status, "allocatable", "Nodes.items: status"), table_.resource);
  if (gpus != nullptr)
    node.gpus = WholeNumber(*gpus, Join("Nodes.items: status.allocatable: ", table_.resource));
  return node;
}

Extender::Request Extender::Parse(const std::string& body, double now) const {
  Json json;
  try {
    json = Json::parse(body, [](int depth, Json::parse_event_t, Json&) {
      if (depth > kMostNesting)
        throw Refused{400, Join("expected JSON nested at most ", kMostNesting, " deep")};
      return true;
    });
  } catch (const Json::exception& error) {
    throw Refused{400, Join("expected JSON: ", error.what())};
  }
  Typed(&json, "ExtenderArgs", Json::value_t::object, "an object");
  Request request;
  const Json* pod = Member(json, "Pod");
  if (pod == nullptr) throw Refused{400, "ExtenderArgs: expected a Pod, found none"};
  request.pod = ReadPod(*pod, now);
  const Json* names = Typed(Member(json, "NodeNames"), "NodeNames", Json::value_t::array, "a list");
  const Json* nodes = Typed(Member(json, "Nodes"), "Nodes", Json::value_t::object, "an object");
  if ((names == nullptr) == (nodes == nullptr)) {
    throw Refused{400, Join("ExtenderArgs: expected Nodes or NodeNames, found ",
                            names == nullptr ? "neither" : "both")};
  }
  request.by_name = names != nullptr;
  if (request.by_name) {
    for (const Json& name : *names) {
      Node node;
      node.name = TextOf(&name, "NodeNames");
      const auto known = table_.nodes.find(node.name);
      if (known == table_.nodes.end()) {
        throw Refused{
            404, Join("NodeNames: unknown node '", node.name, "': the table's 'nodes' has no such name")};
      }
      node.type = known->second;
      request.nodes.push_back(node);
    }
    return request;
  }
  request.raw_nodes = Json::array();
  const Json* items = Typed(Member(*nodes, "items"), "Nodes.items", Json::value_t::array, "a list");
  if (items == nullptr) return request;
  for (const Json& item : *items) {
    request.nodes.push_back(ReadNode(item));
    request.raw_nodes.push_back(item);
  }
  return request;
}

std::string Extender::WhyNot(const Pod& pod, const Node& node) const {
  if (pod.gang == 0) return "";
  if (node.type < 0) {
    if (node.label.empty()) return Join("has no GPU that Berth knows (no label ", table_.node_label, ")");
    return Join("its ", table_.node_label, " '", node.label, "' is not in Berth's table");
  }
  const GpuType& type = table_.types[static_cast<std::size_t>(node.type)];
  if (pod.rates[static_cast<std::size_t>(node.type)] <= 0.0) {
    return Join("the job type cannot run on ", pod.gang, " x ", type.name);
  }
  const int gpus = node.gpus < 0 ? type.count : node.gpus;
  if (pod.gang > gpus) return Join("has ", gpus, " GPUs, the pod needs ", pod.gang);
  return "";
}

ExtenderReply Extender::Filter(const std::string& body, double now) {
  try {
    const Request request = Parse(body, now);
    Json passed_names = Json::array(), passed_nodes = Json::array(), failed = Json::object();
    for (std::size_t i = 0; i < request.nodes.size(); ++i) {
      const std::string why = WhyNot(request.pod, request.nodes[i]);
      if (!why.empty()) {
        failed[request.nodes[i].name] = why;
      } else if (request.by_name) {
        passed_names.push_back(request.nodes[i].name);
      } else {
        passed_nodes.push_back(request.raw_nodes[i]);
      }
    }
    ExtenderReply reply;
    reply.nodes_failed = static_cast<std::int64_t>(failed.size());
    reply.nodes_passed = static_cast<std::int64_t>(request.nodes.size()) - reply.nodes_failed;
    // Nothing that a preemption on the node could change.
    Json json = {{"Nodes", nullptr},
                 {"NodeNames", nullptr},
                 {"FailedNodes", Json::object()},
                 {"FailedAndUnresolvableNodes", failed},
                 {"Error", ""}};
    if (request.by_name) {
      json["NodeNames"] = passed_names;
    } else {
      json["Nodes"] = {{"metadata", Json::object()}, {"items", passed_nodes}};
    }
    reply.body = json.dump();
    return reply;
  } catch (const Refused& refused) {
    return ErrorReply(refused.status, refused.why);
  }
}

ExtenderReply Extender::Prioritize(const std::string& body, double now) {
  try {
    const Request request = Parse(body, now);
    const std::size_t types = table_.types.size();
    std::vector<float> scores(types, -std::numeric_limits<float>::infinity());
    const Pod& pod = request.pod;
    bool somewhere = false;
    for (std::size_t g = 0; g < types && pod.gang > 0; ++g) {
      somewhere = somewhere || (pod.rates[g] > 0.0 && pod.gang <= table_.types[g].count);
    }
    if (somewhere) {
      decider_.Score({pod.age_s, table_.types, {&pod.job, 1}, pod.rates, true}, scores);
    }
    const float best = *std::max_element(scores.begin(), scores.end());
    Json list = Json::array();
    for (const Node& node : request.nodes) {
      std::int64_t priority = 0;
      if (somewhere && WhyNot(pod, node).empty()) {
        // The policy's odds of the type, against its favourite's.
        const float score = scores[static_cast<std::size_t>(node.type)];
        priority = std::llround(kMostPriority * Exp(static_cast<double>(score - best)));
      }
      list.push_back({{"Host", node.name}, {"Score", priority}});
    }
    return {200, list.dump()};
  } catch (const Refused& refused) {
    return ErrorReply(refused.status, refused.why);
  } catch (const Error& error) {
    return ErrorReply(400, error.what());
  }
}

}  // namespace berth

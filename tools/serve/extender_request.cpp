#include "tools/serve/extender_request.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/spec.hpp"
#include "tools/serve/many_members.hpp"

namespace berth {
namespace {

constexpr int kMostNesting = 64;  // so that no request makes a recursion deep
constexpr int kMostGpus = 999999;
constexpr std::size_t kMostName = 253, kMostLabel = 63;  // bytes

// The member, as Go's decoder finds it: by its name, else whatever the case. Null where there is none.
const Json* Member(const Json& object, const std::string& name) {
  if (!object.is_object()) return nullptr;
  const auto exact = object.find(name);
  if (exact != object.end()) return exact->is_null() ? nullptr : &*exact;
  for (const auto& [key, value] : object.items()) {
    if (SameWord(key, name)) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

const Json* MemberOf(const Json* object, const std::string& name) {
  return object == nullptr ? nullptr : Member(*object, name);
}

// The value of a key of labels, annotations or resources: those are maps, whose keys are as they are written.
const Json* Entry(const Json* map, const std::string& key) {
  if (map == nullptr || !map->is_object()) return nullptr;
  const auto found = map->find(key);
  return found == map->end() || found->is_null() ? nullptr : &*found;
}

const Json* Typed(const Json* json, const std::string& where, Json::value_t type, const char* expected) {
  if (json != nullptr && json->type() != type) {
    throw RefusedRequest{400, Join(where, ": expected ", expected, ", found ", json->type_name())};
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

// A name or a label: some are kept from one request to the next, so their length is Kubernetes' own at most.
std::string ShortText(const Json* json, const std::string& where, std::size_t most = kMostName) {
  std::string text = TextOf(json, where);
  if (text.size() <= most) return text;
  throw RefusedRequest{400, Join(where, ": expected at most ", most, " bytes, found ", text.size())};
}

// A quantity of whole things: "2", 2, or "3k", as Kubernetes itself writes 3000.
int WholeNumber(const Json& json, const std::string& where) {
  if (json.is_string()) {
    std::string text = json.get<std::string>();
    if (text.size() > 1 && text.back() == 'k') text.replace(text.size() - 1, 1, "000");
    if (!text.empty() && text.size() <= 6 && text.find_first_not_of("0123456789") == std::string::npos) {
      return std::stoi(text);
    }
  } else if (json.is_number_unsigned() && json.get<std::uint64_t>() <= kMostGpus) {
    return static_cast<int>(json.get<std::uint64_t>());
  }
  throw RefusedRequest{
      400, Join(where, ": expected a whole number of GPUs up to ", kMostGpus, ", found ", json.dump())};
}

// The GPUs of containers[]: limits, which for devices equal the requests.
std::vector<int> GpusOf(const Json* containers, const std::string& resource, const std::string& where) {
  std::vector<int> gpus;
  if (Typed(containers, where, Json::value_t::array, "a list") == nullptr) return gpus;
  for (const Json& container : *containers) {
    Typed(&container, where, Json::value_t::object, "objects");
    const Json* resources = ObjectOf(&container, "resources", where);
    const Json* asked = Entry(ObjectOf(resources, "limits", where + ": resources"), resource);
    const Json* requests = ObjectOf(resources, "requests", where + ": resources");
    if (asked == nullptr) asked = Entry(requests, resource);
    gpus.push_back(asked == nullptr ? 0 : WholeNumber(*asked, Join(where, ": ", resource)));
  }
  return gpus;
}

// Seconds since a time of Kubernetes, not below 0; 0 where there is none.
double SecondsSince(const Json* time, const std::string& where, double now) {
  if (time == nullptr) return 0.0;
  const std::string text = TextOf(time, where);
  struct tm parts {};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || std::string(end) != "Z") {
    throw RefusedRequest{400,
                         Join(where, ": expected a time such as 2026-11-21T20:00:00Z, found '", text, "'")};
  }
  return std::max(0.0, now - static_cast<double>(timegm(&parts)));
}

// As Kubernetes counts (KEP-753): the most that is held at once. Init containers run one after the other, and
// before containers[], which run together. Sidecars, init containers that are always restarted, run on
// beside all that stand behind them.
int GpusOfPod(const ExtenderTable& table, const Json* spec, const std::string& where) {
  const auto sum = [&](int a, int b, const char* list) {
    if (a + b <= kMostGpus) return a + b;
    throw RefusedRequest{400, Join(where, list, ": expected at most ", kMostGpus, " GPUs in all")};
  };
  int sidecars = 0, most = 0;
  const Json* const inits = MemberOf(spec, "initContainers");
  const std::string init_where = where + ".initContainers";
  const std::vector<int> of_inits = GpusOf(inits, table.resource, init_where);
  for (std::size_t i = 0; i < of_inits.size(); ++i) {
    const int gpus = sum(sidecars, of_inits[i], ".initContainers");
    most = std::max(most, gpus);
    const Json* const restarts = MemberOf(&(*inits)[i], "restartPolicy");
    if (TextOf(restarts, init_where + ": restartPolicy") == "Always") sidecars = gpus;
  }
  int gpus = sidecars;
  for (const int more : GpusOf(MemberOf(spec, "containers"), table.resource, where + ".containers"))
    gpus = sum(gpus, more, ".containers");
  return std::max(gpus, most);
}

int PriorityOf(const Json* spec, const std::string& where) {
  const Json* const priority = MemberOf(spec, "priority");
  if (priority == nullptr) return 0;
  if (priority->is_number_integer()) {
    using Int32 = std::numeric_limits<std::int32_t>;
    const double value = priority->get<double>();
    if (value >= Int32::min() && value <= Int32::max()) return static_cast<int>(value);
  }
  throw RefusedRequest{400, Join(where, ".priority: expected a whole number, found ", priority->dump())};
}

// What a pod says beside its containers, by the table's names.
class Annotations {
 public:
  Annotations(const Json* metadata, const std::string& where)
      : json_(Typed(MemberOf(metadata, "annotations"), where + ".annotations", Json::value_t::object,
                    "an object")),
        where_(where + ".annotations: ") {}

  std::string Text(const std::string& name) const { return TextOf(Entry(json_, name), where_ + name); }
  std::string Short(const std::string& name) const { return ShortText(Entry(json_, name), where_ + name); }
  std::optional<double> Positive(const std::string& name) const {
    const std::string text = Text(name);
    if (text.empty()) return std::nullopt;
    double value = std::nan("");
    try {
      value = ParseNumber(text, name);
    } catch (const Error&) {
    }
    if (!(value > 0.0) || std::isinf(value)) throw Wrong(name, "a number > 0", text);
    return value;
  }
  RefusedRequest Wrong(const std::string& name, const std::string& expected, const std::string& found) const {
    return {400, Join(where_, name, ": expected ", expected, ", found '", found, "'")};
  }

 private:
  const Json* json_;
  std::string where_;
};

std::optional<PodGroup> GroupOf(const ExtenderTable& table, const Json* metadata,
                                const Annotations& annotations, const std::string& where) {
  const Json* const labels = ObjectOf(metadata, "labels", where);
  const auto said = [&](const std::string& name) {
    const std::string label = ShortText(Entry(labels, name), Join(where, ".labels: ", name), kMostLabel);
    return label.empty() ? annotations.Short(name) : label;
  };
  const std::string name = said(table.pod_group_label);
  if (name.empty()) return std::nullopt;
  PodGroup group;
  group.key = Join(ShortText(MemberOf(metadata, "namespace"), where + ".namespace"), '/', name);
  const Json* const owners = Typed(MemberOf(metadata, "ownerReferences"), where + ".ownerReferences",
                                   Json::value_t::array, "a list");
  for (std::size_t i = 0; owners != nullptr && i < owners->size() && !group.owned; ++i) {
    const std::string uid = ShortText(MemberOf(&(*owners)[i], "uid"), where + ".ownerReferences: uid");
    const Json* const controls = MemberOf(&(*owners)[i], "controller");
    if (controls == nullptr || *controls != true || uid.empty()) continue;
    group.key += '/' + uid;
    group.owned = true;
  }
  const std::string members = said(table.min_member_annotation);
  try {
    const long long count = ParseInteger(members, "members");
    group.members = count >= 1 && count <= kMostGpus ? static_cast<int>(count) : 0;
  } catch (const Error&) {
  }
  if (group.members > 0) return group;
  throw annotations.Wrong(table.min_member_annotation, "how many pods of the group must run together",
                          members);
}

ExtenderPod ReadPod(const ExtenderTable& table, const Json& json, double now) {
  Typed(&json, "Pod", Json::value_t::object, "an object");
  const Json* metadata = Typed(Member(json, "metadata"), "Pod.metadata", Json::value_t::object, "an object");
  const Json* spec = Typed(Member(json, "spec"), "Pod.spec", Json::value_t::object, "an object");
  ExtenderPod pod;
  pod.name = ShortText(MemberOf(metadata, "name"), "Pod.metadata.name");
  if (pod.name.empty()) throw RefusedRequest{400, "Pod.metadata.name: expected a name, found none"};
  pod.gpus = GpusOfPod(table, spec, "Pod.spec");
  if (pod.gpus == 0) return pod;
  pod.priority = PriorityOf(spec, "Pod.spec");
  const Annotations annotations(metadata, "Pod.metadata");
  pod.group = GroupOf(table, metadata, annotations, "Pod.metadata");
  std::string job_type = annotations.Text(table.job_type_annotation);
  if (job_type.empty()) job_type = table.default_job_type;
  if (job_type.empty()) {
    throw RefusedRequest{400, Join("Pod.metadata.annotations: expected '", table.job_type_annotation,
                                   "', found none, and the table has no default job type")};
  }
  const double in_all = static_cast<double>(pod.gpus) * (pod.group ? pod.group->members : 1);
  if (in_all > kMostGpus) {
    throw RefusedRequest{400, Join("Pod.metadata: expected at most ", kMostGpus, " GPUs of the pod's group")};
  }
  pod.job.gang = static_cast<int>(in_all);
  const auto rates_of = [&](int gang) {
    try {
      return table.RatesOf(job_type, gang);
    } catch (const Error& error) {
      throw RefusedRequest{400,
                           Join("Pod.metadata.annotations: ", table.job_type_annotation, ": ", error.what())};
    }
  };
  pod.rates = rates_of(pod.job.gang);
  double best = *std::max_element(pod.rates.begin(), pod.rates.end());
  // A group of a size that was never measured has the proportions of one of its pods.
  if (pod.group && best <= 0.0) {
    pod.rates = rates_of(pod.gpus);
    best = *std::max_element(pod.rates.begin(), pod.rates.end());
  }
  pod.job.weight = annotations.Positive(table.weight_annotation).value_or(table.default_weight);
  const double seconds =
      annotations.Positive(table.remaining_s_annotation).value_or(table.default_remaining_s);
  pod.job.remaining_steps = annotations.Positive(table.remaining_steps_annotation)
                                .value_or(best > 0.0 ? std::min(seconds * best, 1e300) : seconds);
  pod.age_s = SecondsSince(MemberOf(metadata, "creationTimestamp"), "Pod.metadata.creationTimestamp", now);
  return pod;
}

ExtenderNode ReadNode(const ExtenderTable& table, const Json& json) {
  Typed(&json, "Nodes.items", Json::value_t::object, "objects");
  const Json* metadata = ObjectOf(&json, "metadata", "Nodes.items");
  const Json* labels = ObjectOf(metadata, "labels", "Nodes.items: metadata");
  ExtenderNode node;
  node.name = ShortText(MemberOf(metadata, "name"), "Nodes.items: metadata.name");
  if (node.name.empty()) throw RefusedRequest{400, "Nodes.items: metadata.name: expected a name, found none"};
  const auto named = table.nodes.find(node.name);
  const std::string label =
      ShortText(Entry(labels, table.node_label), Join("Nodes.items: ", table.node_label), kMostLabel);
  const auto labelled = table.label_values.find(label);
  if (named != table.nodes.end()) {
    node.type = named->second;
  } else if (labelled != table.label_values.end()) {
    node.type = labelled->second;
  } else {
    node.label = label;
  }
  const Json* status = ObjectOf(&json, "status", "Nodes.items");
  const Json* gpus = Entry(ObjectOf(status, "allocatable", "Nodes.items: status"), table.resource);
  if (gpus != nullptr)
    node.gpus = WholeNumber(*gpus, Join("Nodes.items: status.allocatable: ", table.resource));
  return node;
}

// Whether brackets outside of texts are open in one another deeper than kMostNesting. Json::parse can ask the
// same while it parses, but goes then through all that a list has so far at each object in it.
bool TooDeep(const std::string& body) {
  std::int64_t depth = 0;
  bool text = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (c == '"') text = !text;
    if (text && c == '\\') ++i;
    if (text) continue;
    if ((c == '[' || c == '{') && ++depth > kMostNesting) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

Json Parsed(const std::string& body) {
  if (TooDeep(body)) throw RefusedRequest{400, Join("expected JSON nested at most ", kMostNesting, " deep")};
  try {
    return LinearParser::Parse(body);
  } catch (const Json::exception& error) {
    throw RefusedRequest{400, Join("expected JSON: ", error.what())};
  }
}

// Whose annotations are wrong is taken to have none: it must not be in the way of the pod that asks.
VictimPod ReadVictim(const ExtenderTable& table, const Json& json, double now) {
  const std::string where = "NodeNameToVictims: Pods";
  Typed(&json, where, Json::value_t::object, "objects");
  const Json* const metadata = ObjectOf(&json, "metadata", where);
  const Json* const spec = ObjectOf(&json, "spec", where);
  VictimPod victim;
  victim.known = true;
  victim.uid = ShortText(MemberOf(metadata, "uid"), where + ": metadata.uid");
  victim.priority = PriorityOf(spec, where + ": spec");
  victim.gpus = GpusOfPod(table, spec, where + ": spec");
  const Json* const status = ObjectOf(&json, "status", where);
  const Json* const started = MemberOf(status, "startTime");
  double lost_s = SecondsSince(started, where + ": status.startTime", now);
  const Annotations annotations(metadata, where + ": metadata");
  const auto lenient = [](const auto& read) -> decltype(read()) {
    try {
      return read();
    } catch (const RefusedRequest&) {
      return std::nullopt;
    }
  };
  const std::optional<double> interval =
      lenient([&] { return annotations.Positive(table.checkpoint_annotation); });
  victim.saves = interval.has_value();
  if (victim.saves) lost_s = std::min(lost_s, *interval);
  const double weight =
      lenient([&] { return annotations.Positive(table.weight_annotation); }).value_or(table.default_weight);
  // Who takes one pod of a group takes the work of all.
  const std::optional<PodGroup> group =
      lenient([&] { return GroupOf(table, metadata, annotations, where + ": metadata"); });
  victim.lost_gpu_s = lost_s * victim.gpus * weight * (group ? group->members : 1);
  return victim;
}

}  // namespace

FilterRequest ReadFilterRequest(const ExtenderTable& table, const std::string& body, double now) {
  Json json = Parsed(body);
  Typed(&json, "ExtenderArgs", Json::value_t::object, "an object");
  FilterRequest request;
  const Json* pod = Member(json, "Pod");
  if (pod == nullptr) throw RefusedRequest{400, "ExtenderArgs: expected a Pod, found none"};
  request.pod = ReadPod(table, *pod, now);
  const Json* names = Typed(Member(json, "NodeNames"), "NodeNames", Json::value_t::array, "a list");
  const Json* nodes = Typed(Member(json, "Nodes"), "Nodes", Json::value_t::object, "an object");
  if ((names == nullptr) == (nodes == nullptr)) {
    throw RefusedRequest{400, Join("ExtenderArgs: expected Nodes or NodeNames, found ",
                                   names == nullptr ? "neither" : "both")};
  }
  request.by_name = names != nullptr;
  if (request.by_name) {
    for (const Json& name : *names) {
      ExtenderNode node;
      node.name = ShortText(&name, "NodeNames");
      const auto known = table.nodes.find(node.name);
      if (known == table.nodes.end()) {
        throw RefusedRequest{
            404, Join("NodeNames: unknown node '", node.name, "': the table's 'nodes' has no such name")};
      }
      node.type = known->second;
      request.nodes.push_back(node);
    }
    return request;
  }
  request.raw_nodes = Json::array();
  const Json* const items = Typed(Member(*nodes, "items"), "Nodes.items", Json::value_t::array, "a list");
  if (items == nullptr) return request;
  for (const Json& item : *items) request.nodes.push_back(ReadNode(table, item));
  request.raw_nodes = std::move(const_cast<Json&>(*items));  // of `json`, and many times as large as the body
  return request;
}

PreemptionRequest ReadPreemptionRequest(const ExtenderTable& table, const std::string& body, double now) {
  const Json json = Parsed(body);
  Typed(&json, "ExtenderPreemptionArgs", Json::value_t::object, "an object");
  PreemptionRequest request;
  const Json* pod = Member(json, "Pod");
  if (pod == nullptr) throw RefusedRequest{400, "ExtenderPreemptionArgs: expected a Pod, found none"};
  request.pod = ReadPod(table, *pod, now);
  const std::string pods_name = "NodeNameToVictims", uids_name = "NodeNameToMetaVictims";
  const Json* const pods = Typed(Member(json, pods_name), pods_name, Json::value_t::object, "an object");
  const Json* const uids = Typed(Member(json, uids_name), uids_name, Json::value_t::object, "an object");
  if ((pods == nullptr) == (uids == nullptr)) {
    throw RefusedRequest{
        400, Join("ExtenderPreemptionArgs: expected NodeNameToVictims or NodeNameToMetaVictims, found ",
                  pods == nullptr ? "neither" : "both")};
  }
  const std::string& where = pods == nullptr ? uids_name : pods_name;
  for (const auto& [name, victims] : (pods == nullptr ? *uids : *pods).items()) {
    NodeVictims on;
    on.node.name = name;
    if (!victims.is_null()) Typed(&victims, where, Json::value_t::object, "objects");
    const Json* const list =
        Typed(MemberOf(&victims, "Pods"), where + ": Pods", Json::value_t::array, "a list");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Json& victim = (*list)[i];
      on.pods.emplace_back();
      if (pods != nullptr) {
        on.pods.back() = ReadVictim(table, victim, now);
      } else {
        Typed(&victim, where + ": Pods", Json::value_t::object, "objects");
        on.pods.back().uid = ShortText(Member(victim, "UID"), where + ": Pods: UID");
      }
      if (on.pods.back().uid.empty()) {
        throw RefusedRequest{400, Join(where, ": Pods: expected a UID, found none")};
      }
    }
    const Json* const violations = MemberOf(&victims, "NumPDBViolations");
    if (violations != nullptr) {
      if (!violations->is_number_integer()) {
        throw RefusedRequest{
            400, Join(where, ": NumPDBViolations: expected a whole number, found ", violations->dump())};
      }
      on.pdb_violations = violations->get<std::int64_t>();
    }
    request.nodes.push_back(std::move(on));
  }
  return request;
}

}  // namespace berth

// What the controller writes down of what it sees.
#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/controller/controller.hpp"
#include "tools/controller/kept.hpp"

namespace berth {

Json Controller::ClassesJson() const {
  Json classes = Json::array();
  for (std::size_t c = 0; c < site_.classes.size(); ++c) {
    Json speeds = Json::object();
    for (std::size_t g = 0; g < live_.types().size(); ++g)
      speeds[live_.types()[g].name] = live_.Speed(static_cast<int>(c), static_cast<int>(g));
    classes.push_back({{"name", site_.classes[c].name}, {"steps_per_s", speeds}});
  }
  return classes;
}

void Controller::NoteBegin() {
  if (!log_) return;
  Json types = Json::array();
  for (std::size_t g = 0; g < live_.types().size(); ++g) {
    const GpuType& type = live_.types()[g];
    Json nodes = Json::array();
    for (std::size_t n = 0; n < live_.nodes().size(); ++n) {
      if (U(live_.TypeOfNode(static_cast<int>(n))) == g) nodes.push_back(live_.nodes()[n].name);
    }
    types.push_back({{"name", type.name},
                     {"gpu_type", live_.gpu_types()[g]},
                     {"gpus", type.count},
                     {"gpus_per_node", type.gpus_per_node},
                     {"nodes", nodes}});
  }
  log_->Add(now_s_, "begin",
            {{"scheduler", options_.scheduler},
             {"mode", ToString(options_.mode)},
             {"clock", options_.clock.ToString()},
             {"slurm", state_.version},
             {"types", types},
             {"classes", ClassesJson()}});
}

// Said once of each, for as long as it is there.
void Controller::NoteLeft() {
  std::set<std::string> left;
  left_jobs_ = left_nodes_ = 0;
  const auto note = [&](const std::string& id, const std::string& why) {
    left.insert(why);
    if (left_.contains(why)) return;
    Refused(id, "read", why);
    if (log_) log_->Add(now_s_, "left", {{"id", id}, {"why", why}});
  };
  for (const SlurmJob& job : state_.jobs) {
    if (!job.unread.empty()) note(job.id, job.unread), ++left_jobs_;
  }
  for (const SlurmGpuNode& node : state_.nodes) {
    if (!node.unread.empty() && live_.InPartitions(node)) note(node.name, node.unread), ++left_nodes_;
  }
  left_ = std::move(left);
}

// What a dry run would have asked of Slurm: said once, until Slurm does something of the kind.
void Controller::Would(const std::string& kind, const std::string& id, const std::string& where) {
  if (!open_.insert(kind + id).second) return;
  Keep<Json>(would_, {{"at_s", now_s_}, {"id", id}, {"what", kind + where}, {"slurm", nullptr}}, kShown);
}

// What Slurm did, beside it. False: nothing of the kind was said.
bool Controller::Did(const std::string& kind, const std::string& id, const std::string& did) {
  if (open_.erase(kind + id) == 0) return false;
  for (Json& said : would_) {
    if (said["id"] == id && said["slurm"].is_null() && said["what"].get<std::string>().starts_with(kind))
      said["slurm"] =
          Join(did, " after ", std::lround(std::max(0.0, now_s_ - said["at_s"].get<double>())), " s");
  }
  return true;
}

void Controller::Note(const std::vector<LiveChange>& changes) {
  for (const LiveChange& change : changes) {
    if (change.kind == LiveChange::Kind::kNode) {
      const SlurmGpuNode& node = live_.nodes()[U(change.index)];
      if (log_)
        log_->Add(
            now_s_, "node",
            {{"name", node.name}, {"in_service", node.usable}, {"state", node.state}, {"why", node.reason}});
      continue;
    }
    const LiveJob& job = live_.job(change.index);
    const SlurmJob& from = job.slurm;
    if (change.kind == LiveChange::Kind::kStarted) {
      if (job.ordered_s > 0.0 && options_.mode == ControlMode::kControl)
        Keep(release_to_start_, now_s_ - job.ordered_s, kKept);
      if (!Did("start", from.id, "started on " + Joined(from.nodes)) &&
          options_.mode == ControlMode::kDryRun && job.attained_s == 0.0 && job.offered) {
        Keep<Json>(would_,
                   {{"at_s", now_s_},
                    {"id", from.id},
                    {"what", "not start it yet"},
                    {"slurm", Join("started on ", Joined(from.nodes))}},
                   kShown);
      }
    }
    if (change.kind == LiveChange::Kind::kStopped) (void)Did("requeue", from.id, "stopped");
    if (change.kind == LiveChange::Kind::kEnded)
      (void)Did("start", from.id, "ended"), (void)Did("requeue", from.id, "ended");
    if (!log_) continue;
    switch (change.kind) {
      case LiveChange::Kind::kArrived: {
        Json line = {{"id", from.id},
                     {"name", from.name},
                     {"user", from.user},
                     {"partition", from.partition},
                     {"gpus", from.gpus},
                     {"class", site_.classes[U(job.job_class)].name},
                     {"submitted", from.submit_s},
                     {"restarts", from.restarts}};
        if (!from.gpu_type.empty()) line["type"] = from.gpu_type;
        if (std::isfinite(from.limit_s)) line["limit_s"] = from.limit_s;
        if (job.words.steps > 0.0) line["steps"] = job.words.steps;
        if (job.words.checkpoint) line["checkpoint"] = true;
        log_->Add(now_s_, "job", std::move(line));
        break;
      }
      case LiveChange::Kind::kStarted:
        log_->Add(
            now_s_, "start",
            {{"id", from.id}, {"nodes", from.nodes}, {"devices", job.devices}, {"since", job.run_start_s}});
        break;
      case LiveChange::Kind::kStopped:
        log_->Add(now_s_, "stop", {{"id", from.id}, {"steps", job.steps_done}});
        break;
      default:
        log_->Add(now_s_, "end", {{"id", from.id}, {"state", change.state}, {"steps", job.steps_done}});
    }
  }
}

}  // namespace berth

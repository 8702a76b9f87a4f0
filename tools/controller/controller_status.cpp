// What the controller says of itself to the page for operators: the status document
// (tools/operators/README.md).
#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "tools/controller/controller.hpp"

namespace berth {
namespace {

double QuantileOf(const std::deque<double>& values, double q) {
  if (values.empty()) return 0.0;
  std::vector<double> sorted(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at), sorted.end());
  return sorted[at];
}

template <class T>
Json Newest(const std::deque<T>& values) {
  Json all = Json::array();
  for (auto it = values.rbegin(); it != values.rend(); ++it) all.push_back(*it);
  return all;
}

}  // namespace

Json Controller::StatusOf(const std::string& problem) const {
  const std::map<std::string, StartForecasts::Interval> forecasts = forecasts_.Latest();
  const std::vector<int> free = live_.FreeGpus();
  Json queue = Json::array(), running = Json::array(), nodes = Json::array();
  for (int index = 0; index < live_.num_jobs(); ++index) {
    const LiveJob& job = live_.job(index);
    if (job.phase == LivePhase::kGone) continue;
    const SlurmJob& from = job.slurm;
    Json row = {{"id", from.id},     {"name", from.name},
                {"user", from.user}, {"partition", from.partition},
                {"gpus", from.gpus}, {"class", site_.classes[U(job.job_class)].name}};
    if (job.phase == LivePhase::kRunning) {
      row["type"] = job.type < 0 ? Json() : Json(live_.types()[U(job.type)].name);
      row["nodes"] = from.nodes, row["started_s"] = job.run_start_s;
      const double speed = job.type < 0 ? 0.0 : live_.Speed(job.job_class, job.type);
      const double left = job.total_steps - live_.Steps(job, now_s_);
      row["expected_end_s"] = speed > 0.0 && left > 0.0 ? Json(now_s_ + left / speed) : Json();
      running.push_back(std::move(row));
      continue;
    }
    row["submitted_s"] = from.submit_s;
    row["reason"] = job.phase == LivePhase::kOrdered ? "released, starts any moment"
                    : !job.why.empty()               ? job.why
                    : live_.HasRoom(job, free)
                        ? "others go first"
                        : Join("waits for ", Counted(from.gpus, "GPU"),
                               from.gpu_type.empty() ? "" : " of type ", from.gpu_type);
    row["forecast_s"] = nullptr;
    if (const auto made = forecasts.find(from.id); made != forecasts.end()) {
      const auto from_now = [&](double at) {
        return std::isinf(at) ? Json() : Json(std::max(0.0, at - now_s_));
      };
      row["forecast_s"] = {{"low", from_now(made->second.low)},
                           {"median", from_now(made->second.median)},
                           {"high", from_now(made->second.high)}};
    }
    queue.push_back(std::move(row));
  }
  for (std::size_t n = 0; n < live_.nodes().size(); ++n) {
    const SlurmGpuNode& node = live_.nodes()[n];
    nodes.push_back({{"name", node.name},
                     {"type", live_.types()[U(live_.TypeOfNode(static_cast<int>(n)))].name},
                     {"gpus", node.gpus},
                     {"used", node.used},
                     {"state", node.state},
                     {"reason", node.reason}});
  }
  const bool policy = !options_.card.is_null();
  Json status = {{"now_s", now_s_},
                 {"mode", ToString(options_.mode)},
                 {"may_write", board_.writable()},
                 {"scheduler", options_.scheduler},
                 {"clock", options_.clock.ToString()},
                 {"only", options_.partitions},
                 {"slurm", {{"version", state_.version}, {"cluster", cluster_}}},
                 {"healthy", problem.empty()},
                 {"problem", problem}};
  status["watchdog"] = {{"fresh", options_.mode != ControlMode::kControl || Watched()},
                        {"dead_after_s", options_.dead_s}};
  status["cycle"] = {
      {"count", counts_.cycles},
      {"median_s", QuantileOf(cycles_, 0.5)},
      {"p99_s", QuantileOf(cycles_, 0.99)},
      {"last_s", cycle_s_[0]},
      {"read_s", cycle_s_[1]},
      {"decide_s", cycle_s_[2]},
      {"act_s", cycle_s_[3]},
      {"release_to_start_s", release_to_start_.empty() ? Json() : Json(QuantileOf(release_to_start_, 0.5))}};
  status["counts"] = {{"decisions", counts_.decisions},
                      {"released", counts_.released},
                      {"requeued", counts_.requeued},
                      {"refused", counts_.refused},
                      {"errors", counts_.errors}};
  status["left"] = {{"jobs", left_jobs_}, {"nodes", left_nodes_}};
  status["queue"] = std::move(queue), status["running"] = std::move(running),
  status["nodes"] = std::move(nodes);
  status["would"] = Newest(would_), status["refusals"] = Newest(refusals_);
  status["policy"] = policy ? Json{{"name", options_.scheduler}, {"card", options_.card}} : Json();
  return status;
}

void Controller::Publish(const std::string& problem) {
  board_.Publish(StatusOf(problem));
}

}  // namespace berth

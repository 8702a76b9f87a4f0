#include "tools/serve/serve_metrics.hpp"

#include <sstream>

#include "env/base/shortest.hpp"

namespace berth {

void ServeMetrics::Count(const std::string& verb, int code, double seconds) {
  const std::lock_guard<std::mutex> guard(mutex_);
  ++requests_[{verb, code}];
  Durations& durations = durations_[verb];
  for (std::size_t i = 0; i < kBounds.size(); ++i) durations.at_most[i] += seconds <= kBounds[i] ? 1 : 0;
  ++durations.count;
  durations.sum += seconds;
}

void ServeMetrics::CountNodes(std::int64_t passed, std::int64_t failed) {
  const std::lock_guard<std::mutex> guard(mutex_);
  nodes_passed_ += passed;
  nodes_failed_ += failed;
}

std::string ServeMetrics::Text(const std::string& labels) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::ostringstream out;
  const auto head = [&](const char* name, const char* type, const char* help) {
    out << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
  };
  head("berth_build_info", "gauge", "What answers; always 1.");
  out << "berth_build_info{" << labels << "} 1\n";
  head("berth_requests_total", "counter", "Requests by verb and HTTP status.");
  for (const auto& [key, count] : requests_) {
    out << "berth_requests_total{verb=\"" << key.first << "\",code=\"" << key.second << "\"} " << count
        << '\n';
  }
  head("berth_filter_nodes_total", "counter", "Nodes that filter let pass, and that it did not.");
  out << "berth_filter_nodes_total{result=\"passed\"} " << nodes_passed_ << '\n';
  out << "berth_filter_nodes_total{result=\"failed\"} " << nodes_failed_ << '\n';
  head("berth_request_seconds", "histogram", "Time from a request's body to its answer.");
  for (const auto& [verb, durations] : durations_) {
    const std::string label = "verb=\"" + verb + "\"";
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      out << "berth_request_seconds_bucket{" << label << ",le=\"" << kBounds[i] << "\"} "
          << durations.at_most[i] << '\n';
    }
    out << "berth_request_seconds_bucket{" << label << ",le=\"+Inf\"} " << durations.count << '\n';
    out << "berth_request_seconds_sum{" << label << "} " << Shortest(durations.sum) << '\n';
    out << "berth_request_seconds_count{" << label << "} " << durations.count << '\n';
  }
  return out.str();
}

}  // namespace berth

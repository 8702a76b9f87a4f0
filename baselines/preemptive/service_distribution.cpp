#include "baselines/preemptive/service_distribution.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth {

std::vector<double> ParsePositiveList(const std::string& text, const std::string& what) {
  std::vector<double> values;
  for (const std::string& part : SplitOutsideParentheses(text, ':')) {
    values.push_back(ParseNumber(part, what));
    if (!(values.back() > 0.0)) throw Error(Join(what, ": expected numbers above 0, found '", part, "'"));
  }
  if (values.empty()) throw Error(Join(what, ": expected numbers between colons, found '", text, "'"));
  return values;
}

ServiceDistribution ServiceDistribution::Parse(const std::string& text, const std::string& what) {
  ServiceDistribution distribution;
  for (double size : ParsePositiveList(text, what)) distribution.Add(size);
  return distribution;
}

void ServiceDistribution::Add(double size) {
  sizes_.insert(std::upper_bound(sizes_.begin(), sizes_.end(), size), size);
}

double ServiceDistribution::GittinsIndex(double attained, double delta) const {
  const double more = 1.0 + kServiceRounding;  // a size just ahead by rounding is one that was reached
  const auto first = std::upper_bound(sizes_.begin(), sizes_.end(), attained * more);
  const auto left = static_cast<double>(sizes_.end() - first);  // values that are still possible
  double best = 0.0, ended = 0.0, served = 0.0;                 // of those that end within D
  for (auto it = first; it != sizes_.end(); ++it) {
    if (delta > 0.0 && *it > (attained + delta) * more) break;
    ended += 1.0;
    served += *it - attained;
    const double expected =
        served + (left - ended) * (*it - attained);  // times the number left, as is `ended`
    if (delta <= 0.0) best = std::max(best, ended / expected);
  }
  if (delta > 0.0 && ended > 0.0) best = ended / (served + (left - ended) * delta);
  return best;
}

LearnedServices::LearnedServices(Params& params) {
  const std::string services = params.Text(kServicesParam.name);
  learns_ = services == "learned";
  if (!learns_)
    given_ = ServiceDistribution::Parse(services, "parameter 'services' (learned, or 600:600:7200)");
  delta_ = params.Number(kDeltaParam.name, 0.0, 1e15);
  now_ = given_;
}

void LearnedServices::Reset() {
  now_ = given_;
}

void LearnedServices::Learn(const ClusterView& view) {
  if (!learns_) return;
  for (int job : view.completed()) now_.Add(AttainedGpuSeconds(view, job));
}

}  // namespace berth

#include "tools/controller/learned_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/predict/estimation/low_rank.hpp"
#include "tools/output_file.hpp"

namespace berth {
namespace {

constexpr double kMemory = 20.0;  // as many of the latest measurement's lengths count

}  // namespace

LearnedSpeeds::LearnedSpeeds(const SiteFile& site, std::string path) : site_(site), path_(std::move(path)) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  const Json json = ReadJson(path_);
  if (!json.is_object()) throw Error(Join(path_, ": expected an object, found ", json.type_name()));
  for (const auto& [job_class, types] : json.items()) {
    if (!types.is_object())
      throw Error(Join(path_, ": ", job_class, ": expected an object, found ", types.type_name()));
    for (const auto& [type, pair] : types.items()) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number() ||
          !(pair[0].get<double>() > 0.0) || !(pair[1].get<double>() > 0.0))
        throw Error(
            Join(path_, ": ", job_class, ": ", type, ": expected [steps, seconds], found ", pair.dump()));
      measured_[job_class][type] = {pair[0].get<double>(), pair[1].get<double>()};
    }
  }
}

void LearnedSpeeds::Add(int job_class, const std::string& type, double steps, double seconds) {
  if (!(steps > 0.0) || !(seconds > 0.0)) return;
  Measured& at = measured_[site_.classes[U(job_class)].name][type];
  const double keep = std::min(1.0, kMemory * seconds / (at.seconds + seconds));
  at.steps = keep * at.steps + steps, at.seconds = keep * at.seconds + seconds;
  changed_ = true;
}

std::vector<std::vector<double>> LearnedSpeeds::Table(const std::vector<std::string>& types) const {
  const std::size_t classes = site_.classes.size();
  std::vector<std::vector<double>> table(classes, std::vector<double>(types.size(), 1.0));  // nothing known
  PartialMatrix known;
  known.rows = static_cast<int>(classes), known.columns = static_cast<int>(types.size());
  known.value.assign(classes * types.size(), 0.0), known.known.assign(classes * types.size(), 0);
  std::vector<std::vector<bool>> cannot(classes, std::vector<bool>(types.size(), false));
  bool any = false;
  for (std::size_t c = 0; c < classes; ++c) {
    const JobClass& one = site_.classes[c];
    for (std::size_t g = 0; g < types.size(); ++g) {
      double speed = 0.0;
      if (const auto said = one.speeds.find(types[g]); said != one.speeds.end()) {
        speed = said->second;
        cannot[c][g] = speed == 0.0;
        if (cannot[c][g]) table[c][g] = 0.0;
      } else if (const auto of_class = measured_.find(one.name); of_class != measured_.end()) {
        const auto of_type = of_class->second.find(types[g]);
        if (of_type != of_class->second.end()) speed = of_type->second.steps / of_type->second.seconds;
      }
      if (!(speed > 0.0)) continue;
      const std::size_t at = c * types.size() + g;
      known.value[at] = std::log(speed), known.known[at] = 1, any = true;
      table[c][g] = speed;
    }
  }
  if (!any) return table;
  const std::vector<double> all = CompleteLowRank(known, {});
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t g = 0; g < types.size(); ++g) {
      const std::size_t at = c * types.size() + g;
      if (known.known[at] == 0 && !cannot[c][g]) table[c][g] = std::exp(all[at]);
    }
  }
  return table;
}

void LearnedSpeeds::Save() {
  changed_ = false;
  if (path_.empty()) return;
  Json json = Json::object();
  for (const auto& [job_class, types] : measured_) {
    for (const auto& [type, at] : types) json[job_class][type] = {at.steps, at.seconds};
  }
  WriteTextFile(path_, json.dump(1) + "\n");
}

Reported ReadReported(const std::string& path) {
  Reported found;
  std::ifstream file(path);
  double at = 0.0, steps = 0.0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (!(words >> at >> steps) || !std::isfinite(at) || !(steps >= 0.0) || std::isinf(steps))
      continue;  // half a line
    if (at < found.at_s + 1.0) {
      if (found.at_s > 0.0) found.steps = std::max(found.steps, steps);
      if (found.at_s > 0.0) continue;
    }
    found.before_s = found.at_s, found.before_steps = found.steps;
    found.at_s = at, found.steps = steps;
  }
  return found;
}

}  // namespace berth

#include "tools/controller/site_file.hpp"

#include <fnmatch.h>

#include <cmath>
#include <cstdlib>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

void CheckKeys(const Json& object, const std::vector<std::string>& known, const std::string& where) {
  if (!object.is_object()) throw Error(Join(where, ": expected an object, found ", object.type_name()));
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error(Join(where, ": unknown key '", key, "'", DidYouMean(key, known)));
  }
}

std::string TextAt(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string() || found->get<std::string>().empty())
    throw Error(
        Join(where, ": ", key, ": expected a text, found ", found == object.end() ? "none" : found->dump()));
  return found->get<std::string>();
}

JobClass ClassFrom(const Json& from, const std::string& where) {
  CheckKeys(from, {"name", "pattern", "steps_per_s"}, where);
  JobClass made{TextAt(from, "name", where), "", {}};
  if (from.contains("pattern")) made.pattern = TextAt(from, "pattern", where);
  if (!from.contains("steps_per_s")) return made;
  const Json& speeds = from.at("steps_per_s");
  if (!speeds.is_object())
    throw Error(Join(where, ": steps_per_s: expected an object, found ", speeds.type_name()));
  bool any = false;
  for (const auto& [type, speed] : speeds.items()) {
    if (!speed.is_number() || !(speed.get<double>() >= 0.0) || std::isinf(speed.get<double>()))
      throw Error(Join(where, ": steps_per_s: ", type, ": expected steps/s >= 0, found ", speed.dump()));
    made.speeds[type] = speed.get<double>();
    any = any || speed.get<double>() > 0.0;
  }
  if (!any) throw Error(Join(where, ": steps_per_s: expected a type with more than 0 steps/s, found none"));
  return made;
}

}  // namespace

SiteFile ReadSiteFile(const std::string& path) {
  SiteFile site;
  std::string otherwise = "job";
  if (!path.empty()) {
    const Json json = ReadJson(path);
    CheckKeys(json, {"classes", "default_class"}, path);
    if (json.contains("classes")) {
      if (!json.at("classes").is_array()) throw Error(Join(path, ": classes: expected a list, found none"));
      for (const Json& from : json.at("classes")) {
        const std::string where = Join(path, ": classes[", site.classes.size(), "]");
        site.classes.push_back(ClassFrom(from, where));
        for (std::size_t i = 0; i + 1 < site.classes.size(); ++i) {
          if (site.classes[i].name == site.classes.back().name)
            throw Error(Join(where, ": name: expected another than those before, found '",
                             site.classes[i].name, "'"));
        }
      }
    }
    if (json.contains("default_class")) {
      otherwise = TextAt(json, "default_class", path);
      std::vector<std::string> names;
      for (const JobClass& one : site.classes) names.push_back(one.name);
      if (std::find(names.begin(), names.end(), otherwise) == names.end())
        throw Error(Join(path, ": default_class: expected one of the classes, found '", otherwise, "'",
                         DidYouMean(otherwise, names)));
    }
  }
  // A row of its own at the end, which no name needs to fit.
  JobClass last{otherwise, "", {}};
  for (const JobClass& one : site.classes) {
    if (one.name == otherwise) last.speeds = one.speeds;
  }
  if (site.classes.empty() || site.classes.back().name != otherwise) site.classes.push_back(last);
  return site;
}

int SiteFile::ClassOf(const SlurmJob& job) const {
  const std::string stated = WordsOf(job.comment).job_class;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!stated.empty() && classes[i].name == stated) return static_cast<int>(i);
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!classes[i].pattern.empty() && fnmatch(classes[i].pattern.c_str(), job.name.c_str(), 0) == 0)
      return static_cast<int>(i);
  }
  return static_cast<int>(classes.size()) - 1;
}

JobWords WordsOf(const std::string& comment) {
  JobWords words;
  std::size_t begin = 0;
  while (begin <= comment.size()) {
    const std::size_t end = std::min(comment.find_first_of(", \t", begin), comment.size());
    const std::string word = comment.substr(begin, end - begin);
    begin = end + 1;
    if (word == "checkpoint") words.checkpoint = true;
    if (word.starts_with("class=")) words.job_class = word.substr(6);
    if (!word.starts_with("steps=")) continue;
    const double steps = std::strtod(word.c_str() + 6, nullptr);
    if (steps > 0.0 && std::isfinite(steps)) words.steps = steps;
  }
  return words;
}

}  // namespace berth

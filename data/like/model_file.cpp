// A LikeModel as TOML.
#include <algorithm>
#include <set>

#include "data/like/model.hpp"
#include "data/shipped_csv.hpp"
#include "data/tables/toml_keys.hpp"
#include "data/tables/write_tables.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr double kMost = 1e14, kMostGpus = 10'000'000, kMostShare = 0.999;
constexpr int kVersion = 1;

constexpr const char* kExplained =
    R"(# Every number may be edited. Distributions (gaps, run_s, limit_s, limit_used) are their values at equal steps of
# probability from 0 to 1, of any number up to 65: three would be the least, the median and the largest.
)";

// On as many lines as it needs.
std::string List(const char* key, const std::vector<double>& values) {
  constexpr std::size_t kWidth = 110;
  std::string text = Join(key, " = ["), line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string next = InWords(values[i]) + (i + 1 < values.size() ? "," : "");
    if (text.size() - text.find_last_of('\n') - 1 + next.size() > kWidth) text += "\n ";
    text += (text.back() == '[' ? "" : " ") + next;
  }
  return text + "]\n";
}

std::string Line(const char* key, double value, const char* comment = "") {
  const std::string text = Join(key, " = ", InWords(value));
  return *comment == '\0'
             ? text + "\n"
             : Join(text, std::string(text.size() < 30 ? 30 - text.size() : 1, ' '), "# ", comment, "\n");
}

}  // namespace

std::string LikeToml(const LikeModel& model, const std::string& comment) {
  std::string text = Join(comment, kExplained, "version = ", kVersion, "\n\n[arrivals]\n");
  text += Line("per_hour", model.per_hour, "on average; 0 = all at once");
  text += "# Rate by the hour of the day and the day of the week, over its mean; from the log's time 0 on.\n";
  text += List("hours", model.hours) + List("days", model.days);
  text += "# Between arrivals, over their mean: 1/e of the gaps of a Poisson process are longer than it.\n";
  text += List("gaps", model.gaps.values);
  text += Line("again", model.gap_memory.again, "share of gaps that are like one of the last 256,");
  text += Line("recency", model.gap_memory.recency,
               "the k-th last with a weight of k to the power of minus this:");
  text += Line("same", model.gap_memory.same, "as long as it, a correlation from 0 to 1");
  text += "\n[repeats]\n";
  text +=
      Line("again", model.job_memory.again, "share of jobs of the user and class of one of the last 256,");
  text += Line("recency", model.job_memory.recency, "likewise:");
  text += Line("same", model.job_memory.same, "run as long as it, a correlation");
  for (const LikeUser& user : model.users) {
    text += Join("\n[[user]]\nname = ", TomlText(user.name), "\n");
    text += Line("shared", user.shared, "jobs of classes below that name no user");
  }
  for (const LikeClass& of : model.classes) {
    text += "\n[[class]]\n";
    if (of.user >= 0)
      text += Join("user = ", TomlText(model.users[static_cast<std::size_t>(of.user)].name), "\n");
    text += Line("gpus", of.gpus);
    if (of.gpu_milli != 1000) text += Line("gpu_milli", of.gpu_milli, "thousandths of each");
    if (!of.job_type.empty()) text += Join("job_type = ", TomlText(of.job_type), "\n");
    text += Line("jobs", of.jobs);
    if (!of.run_s.values.empty()) text += List("run_s", of.run_s.values);
    if (!of.limit_s.values.empty())
      text += List("limit_s", of.limit_s.values) + List("limit_used", of.limit_used.values);
  }
  for (const LikeSpeed& speed : model.speeds) {
    text += "\n[[speed]]\n";
    if (!speed.job_type.empty()) text += Join("job_type = ", TomlText(speed.job_type), "\n");
    text += Line("gpus", speed.gpus) + "steps_per_s = {";
    for (const auto& [type, rate] : speed.steps_per_s)
      text += Join(text.back() == '{' ? "" : ", ", TomlText(type), " = ", InWords(rate));
    text += "}\n";
  }
  return text;
}

namespace {

LikeQuantiles Distribution(const Keys& keys, const char* key) {
  return {keys.Numbers(key, 1, LikeQuantiles::kMost, 0.0, kMost, /*ascending=*/true)};
}

std::vector<double> Pattern(const Keys& keys, const char* key, std::size_t slots) {
  std::vector<double> values = keys.Numbers(key, slots, slots, 0.0, kMost, /*ascending=*/false);
  if (values.empty()) values.assign(slots, 1.0);
  if (std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; }))
    throw Error(Join(keys.Where(key), ": expected a number above 0 among them, found none"));
  return values;
}

LikeMemory Memory(const Keys& keys) {
  return {keys.Number("again", 0.0, 0.0, kMostShare), keys.Number("recency", 1.0, 0.0, 100.0),
          keys.Number("same", 0.0, 0.0, kMostShare)};
}

const toml::table& Part(const std::string& path, const toml::table& file, const char* name) {
  static const toml::table kNone;
  const toml::node* node = file.get(name);
  if (node != nullptr && !node->is_table())
    throw Error(
        Join(path, ":", node->source().begin.line, ": ", name, ": expected [", name, "] and keys below it"));
  return node != nullptr ? *node->as_table() : kNone;
}

void NeedsSome(const Keys& keys, const char* key, const LikeQuantiles& of) {
  if (of.values.empty()) throw Error(Join(keys.Where(key), ": expected a list of numbers, found none"));
  if (of.values.back() <= 0.0)
    throw Error(
        Join(keys.Where(key), ": expected a number above 0 at its end, found ", InWords(of.values.back())));
}

LikeClass ReadClass(const std::string& path, const toml::table& table, const LikeModel& model) {
  const Keys keys(path, table,
                  {"user", "gpus", "gpu_milli", "job_type", "jobs", "run_s", "limit_s", "limit_used"});
  LikeClass of;
  if (keys.Has("user")) {
    const std::string name = keys.Text("user");
    std::vector<std::string> names;
    for (const LikeUser& user : model.users) names.push_back(user.name);
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end())
      throw Error(Join(keys.Where("user"), ": expected the name of a [[user]], found '", name, "'",
                       DidYouMean(name, names)));
    of.user = static_cast<int>(at - names.begin());
  }
  of.gpus = static_cast<int>(keys.Number("gpus", 1.0, 1.0, kMostGpus, /*whole=*/true));
  of.gpu_milli = static_cast<int>(keys.Number("gpu_milli", 1000.0, 1.0, 1000.0, /*whole=*/true));
  if (keys.Has("job_type")) of.job_type = keys.Text("job_type");
  of.jobs = keys.Number("jobs", 1.0, 0.0, kMost);
  of.run_s = Distribution(keys, "run_s");
  of.limit_s = Distribution(keys, "limit_s"), of.limit_used = Distribution(keys, "limit_used");
  if (of.limit_s.values.empty() && of.limit_used.values.empty()) {
    NeedsSome(keys, "run_s", of.run_s);
    return of;
  }
  NeedsSome(keys, "limit_s", of.limit_s), NeedsSome(keys, "limit_used", of.limit_used);
  if (of.limit_s.values.front() <= 0.0)
    throw Error(
        Join(keys.Where("limit_s"), ": expected numbers above 0, found ", InWords(of.limit_s.values[0])));
  if (!of.run_s.values.empty())
    throw Error(Join(keys.Where("run_s"),
                     ": expected none beside limit_s and limit_used, which say how long "
                     "jobs run, found one"));
  return of;
}

LikeSpeed ReadSpeed(const std::string& path, const toml::table& table) {
  const Keys keys(path, table, {"job_type", "gpus", "steps_per_s"});
  LikeSpeed speed;
  if (keys.Has("job_type")) speed.job_type = keys.Text("job_type");
  speed.gpus = static_cast<int>(keys.Number("gpus", 1.0, 1.0, kMostGpus, /*whole=*/true));
  const toml::node* rates = table.get("steps_per_s");
  if (rates == nullptr || !rates->is_table())
    throw Error(Join(keys.Where("steps_per_s"), ": expected {TYPE = NUMBER, ...}, found ",
                     rates == nullptr ? "none" : keys.Found("steps_per_s")));
  std::vector<std::string> types;
  for (const auto& [type, rate] : *rates->as_table()) types.emplace_back(type.str());
  const Keys its(path, *rates->as_table(), types);
  double most = 0.0;
  for (const std::string& type : types) {
    speed.steps_per_s[type] = its.Number(type.c_str(), 0.0, 0.0, kMost);
    most = std::max(most, speed.steps_per_s[type]);
  }
  if (most == 0.0) throw Error(Join(keys.Where("steps_per_s"), ": expected a number above 0, found none"));
  return speed;
}

// What cannot be seen table by table.
void CheckWhole(const std::string& path, const LikeModel& model) {
  double all = 0.0, shared_classes = 0.0;
  for (const LikeClass& of : model.classes) {
    all += of.jobs;
    if (of.user < 0) shared_classes += of.jobs;
  }
  if (all == 0.0) throw Error(Join(path, ": expected a [[class]] of more than 0 jobs, found none"));
  double of_users = all - shared_classes;
  for (const LikeUser& user : model.users) {
    of_users += user.shared;
    if (user.shared > 0.0 && shared_classes == 0.0)
      throw Error(Join(path, ": user '", user.name,
                       "': expected shared = 0 where every [[class]] names a user, "
                       "found ",
                       InWords(user.shared)));
  }
  if (!model.users.empty() && of_users == 0.0)
    throw Error(Join(path, ": expected a [[user]] of more than 0 jobs, found none"));
  std::set<std::pair<std::string, int>> speeds;
  for (const LikeSpeed& speed : model.speeds) {
    if (!speeds.emplace(speed.job_type, speed.gpus).second)
      throw Error(Join(path, ": expected each [[speed]] once, found job_type '", speed.job_type, "' on ",
                       Counted(speed.gpus, "GPU"), " twice"));
  }
  for (const LikeClass& of : model.classes) {
    if (!speeds.empty() && !speeds.contains({of.job_type, of.gpus}))
      throw Error(Join(path, ": expected a [[speed]] of every [[class]], found none of job_type '",
                       of.job_type, "' on ", Counted(of.gpus, "GPU")));
  }
}

}  // namespace

LikeModel ParseLike(const std::string& text, const std::string& path) {
  const toml::table file = ParseToml(text, path);
  const Keys keys(path, file, {"version", "arrivals", "repeats", "user", "class", "speed"});
  if (keys.Number("version", 0.0, 0.0, kMost) != kVersion)
    throw Error(Join(keys.Where("version"), ": expected ", kVersion, ", found ",
                     keys.Has("version") ? keys.Found("version") : "none"));
  LikeModel model;
  const Keys arrivals(path, Part(path, file, "arrivals"),
                      {"per_hour", "hours", "days", "gaps", "again", "recency", "same"});
  model.per_hour = arrivals.Number("per_hour", 0.0, 0.0, 1e9);
  model.hours = Pattern(arrivals, "hours", LikeModel::kHours);
  model.days = Pattern(arrivals, "days", LikeModel::kDays);
  model.gaps = Distribution(arrivals, "gaps");
  if (model.gaps.values.empty()) model.gaps.values = {1.0};
  NeedsSome(arrivals, "gaps", model.gaps);
  model.gap_memory = Memory(arrivals);
  const Keys repeats(path, Part(path, file, "repeats"), {"again", "recency", "same"});
  model.job_memory = Memory(repeats);
  for (const toml::table* table : TomlTables(path, file, "user")) {
    const Keys its(path, *table, {"name", "shared"});
    const std::string name = its.Text("name");
    if (std::any_of(model.users.begin(), model.users.end(), [&](const auto& it) { return it.name == name; }))
      throw Error(Join(its.Where("name"), ": expected each user once, found '", name, "' twice"));
    model.users.push_back({name, its.Number("shared", 0.0, 0.0, kMost)});
  }
  for (const toml::table* table : TomlTables(path, file, "class"))
    model.classes.push_back(ReadClass(path, *table, model));
  for (const toml::table* table : TomlTables(path, file, "speed"))
    model.speeds.push_back(ReadSpeed(path, *table));
  CheckWhole(path, model);
  return model;
}

LikeModel ReadLike(const std::string& path) {
  return path.empty() ? ParseLike(kLikeExample, "data/like/example.toml") : ParseLike(ReadText(path), path);
}

}  // namespace berth

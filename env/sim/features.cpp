#include "env/sim/features.hpp"

#include <algorithm>
#include <variant>

#include "env/base/check.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"
#include "env/sim/rates_by_width.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

constexpr double kLongestSeconds = 1e8, kLargest = 1e12;

std::string Text(double x) {
  return Shortest(x);
}
std::string Text(int x) {
  return Join(x);
}
std::string Text(bool x) {
  return x ? "true" : "false";
}
std::string Text(const std::string& x) {
  return x;
}
std::string Text(const std::vector<double>& list) {
  std::string text;
  for (double x : list) {
    if (!text.empty()) text += ':';
    text += Text(x);
  }
  return text;
}

// `own` upper bound, or one that holds for all settings and is said only where it is passed.
void CheckBounds(double x, double lowest, double highest, bool own, const std::string& what) {
  if (x >= lowest && x <= highest) return;
  const std::string expected =
      own || x > highest ? Join(Text(lowest), " to ", Text(highest)) : Join("at least ", Text(lowest));
  throw Error(Join(what, ": expected ", expected, ", found ", Text(x)));
}

void Parse(std::string_view text, const std::string& what, double& into) {
  into = ParseNumber(text, what);
}
void Parse(std::string_view text, const std::string& what, int& into) {
  const long long value = ParseInteger(text, what);
  CheckBounds(static_cast<double>(value), -2147483648.0, 2147483647.0, true, what);
  into = static_cast<int>(value);
}
void Parse(std::string_view text, const std::string& what, bool& into) {
  into = ParseBool(text, what);
}
void Parse(std::string_view text, const std::string&, std::string& into) {
  into = text;
}
void Parse(std::string_view text, const std::string& what, std::vector<double>& into) {
  into.clear();
  for (const std::string& part : SplitOutsideParentheses(text, ':')) into.push_back(ParseNumber(part, what));
}

std::shared_ptr<FeatureSettings> Configure(const FeatureModule& module, const Spec& spec) {
  std::shared_ptr<FeatureSettings> settings = module.make();
  std::vector<std::string> names;
  for (const FieldInfo& field : settings->ListFields()) names.emplace_back(field.name);
  for (const auto& [key, value] : spec.params) {
    const auto at = std::find(names.begin(), names.end(), key);
    if (at == names.end()) {
      throw Error(Join("feature '", spec.name, "': unknown setting '", key, "'", DidYouMean(key, names)));
    }
    if (std::count_if(spec.params.begin(), spec.params.end(),
                      [&, &name = key](const auto& p) { return p.first == name; }) > 1) {
      throw Error(Join("feature '", spec.name, "': setting '", key, "' is given twice"));
    }
    const auto field = static_cast<std::size_t>(at - names.begin());
    const std::string what = Join("feature '", spec.name, "': ", key);
    FieldValue parsed = settings->Get(field);
    std::visit([&, &text = value](auto& into) { Parse(text, what, into); }, parsed);
    settings->Set(field, parsed);
  }
  settings->Load();
  return settings;
}

std::string TextOf(const FeatureSettings& settings, std::size_t field) {
  return std::visit([](const auto& value) { return Text(value); }, settings.Get(field));
}

// Whatever the way in was: command line, file or program.
void CheckFields(const char* name, const FeatureSettings& settings) {
  const std::vector<FieldInfo> fields = settings.ListFields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldInfo& field = fields[i];
    const std::string what = Join("feature '", name, "': ", field.name);
    // Nothing lasts longer than years, so that no run is one of rounds without end.
    const bool seconds = std::string_view(field.name).ends_with("_s");
    const bool own = field.highest < std::numeric_limits<double>::max();
    const double highest = std::min(field.highest, seconds ? kLongestSeconds : kLargest);
    const FieldValue value = settings.Get(i);
    if (const auto* number = std::get_if<double>(&value))
      CheckBounds(*number, field.lowest, highest, own, what);
    if (const auto* number = std::get_if<int>(&value)) CheckBounds(*number, field.lowest, highest, own, what);
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
      for (double x : *list) CheckBounds(x, field.lowest, highest, own, what);
    }
  }
}

}  // namespace

std::shared_ptr<const RatesByWidth> FeatureSettings::Widths(const ScenarioData&) const {
  return nullptr;
}

std::shared_ptr<const FeatureSettings> FeatureSettings::OfJobs(const JobTable&, double) const {
  return nullptr;
}

bool Features::DivideGpus() const {
  return std::any_of(on_.begin(), on_.end(), [](const On& on) { return on.settings->DividesGpus(); });
}

bool Features::PartsSuffice() const {
  return std::any_of(on_.begin(), on_.end(), [](const On& on) { return on.settings->PartsSuffice(); });
}

bool Features::Interrupt() const {
  return std::any_of(on_.begin(), on_.end(), [](const On& on) { return on.settings->Interrupts(); });
}

double Features::LaunchSeconds() const {
  double seconds = 0.0;
  for (const On& on : on_) seconds += on.settings->LaunchSeconds();
  return seconds;
}

int Features::LargestGang(const ScenarioData& scenario, int job, int type) const {
  int largest = scenario.cluster.types[static_cast<std::size_t>(type)].count;
  for (const On& on : on_) largest = std::min(largest, on.settings->LargestGang(scenario, job, type));
  return largest;
}

Features Features::OfJobs(const JobTable& jobs, double origin_s) const {
  Features some;
  for (const On& on : on_) {
    std::shared_ptr<const FeatureSettings> own = on.settings->OfJobs(jobs, origin_s);
    some.Add(*on.module, own != nullptr ? std::move(own) : on.settings);
  }
  return some;
}

Features ParseFeatures(std::string_view text, FeatureTable table) {
  std::vector<std::string> names;
  for (const FeatureModule& module : table) names.emplace_back(module.name);
  std::vector<std::shared_ptr<const FeatureSettings>> found(names.size());
  for (const std::string& part : SplitOutsideParentheses(text, ';')) {
    const Spec spec = ParseSpec(part);
    const auto at = std::find(names.begin(), names.end(), spec.name);
    if (at == names.end()) {
      std::string known;
      for (const std::string& name : names) known += Join(known.empty() ? "" : ", ", name);
      throw Error(Join("unknown feature '", spec.name, "'", DidYouMean(spec.name, names),
                       ": expected one of ", known));
    }
    const auto row = static_cast<std::size_t>(at - names.begin());
    const bool twice = found[row] != nullptr;
    found[row] = Configure(table[row], spec);
    if (twice) throw Error(Join("feature '", spec.name, "' is named twice"));
  }
  Features features;
  for (std::size_t row = 0; row < found.size(); ++row) {
    if (found[row] != nullptr) features.Add(table[row], std::move(found[row]));
  }
  return features;
}

std::string ToString(const Features& features) {
  std::string text;
  for (const Features::On& on : features.on()) {
    Spec spec{on.module->name, {}};
    const std::vector<FieldInfo> fields = on.settings->ListFields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (std::string value = TextOf(*on.settings, i); !value.empty())
        spec.params.emplace_back(fields[i].name, std::move(value));
    }
    if (!text.empty()) text += ';';
    text += spec.ToString();
  }
  return text;
}

std::vector<FeatureInfo> ListFeatures(FeatureTable table) {
  std::vector<FeatureInfo> list;
  for (const FeatureModule& module : table) {
    const std::shared_ptr<const FeatureSettings> defaults = module.make();
    FeatureInfo info{module.name, module.help, {}};
    const std::vector<FieldInfo> fields = defaults->ListFields();
    for (std::size_t i = 0; i < fields.size(); ++i)
      info.settings.push_back({fields[i].name, TextOf(*defaults, i), fields[i].help});
    list.push_back(std::move(info));
  }
  return list;
}

void CheckTimedClock(const char* feature, const Clock& clock) {
  if (clock.kind == ClockKind::kEvent || clock.kind == ClockKind::kRounds) return;
  throw Error(
      Join("feature '", feature, "': expected clock event or rounds(SECONDS), found ", clock.ToString()));
}

void CheckFeatures(const Features& features, const ScenarioData& scenario) {
  for (const Features::On& on : features.on()) {
    CheckFields(on.module->name, *on.settings);
    on.settings->Check(scenario);
  }
}

}  // namespace berth

#include "env/features/features.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/features/all_settings.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

constexpr double kLongestSeconds = 1e8, kLargest = 1e12;

// Not inlined: GCC 12 warns of strings that it thinks a settings type without one has.
[[gnu::noinline]] std::string Text(double x) {  // the shortest that reads back as x
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr};
}
[[gnu::noinline]] std::string Text(int x) {
  return Join(x);
}
[[gnu::noinline]] std::string Text(bool x) {
  return x ? "true" : "false";
}
[[gnu::noinline]] std::string Text(const std::string& x) {
  return x;
}
[[gnu::noinline]] std::string Text(const std::vector<double>& list) {
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

[[gnu::noinline]] void Parse(std::string_view text, const std::string& what, double& into) {
  into = ParseNumber(text, what);
}
[[gnu::noinline]] void Parse(std::string_view text, const std::string& what, int& into) {
  const long long value = ParseInteger(text, what);
  CheckBounds(static_cast<double>(value), -2147483648.0, 2147483647.0, true, what);
  into = static_cast<int>(value);
}
[[gnu::noinline]] void Parse(std::string_view text, const std::string& what, bool& into) {
  into = ParseBool(text, what);
}
[[gnu::noinline]] void Parse(std::string_view text, const std::string&, std::string& into) {
  into = text;
}
[[gnu::noinline]] void Parse(std::string_view text, const std::string& what, std::vector<double>& into) {
  into.clear();
  for (const std::string& part : SplitOutsideParentheses(text, ':')) into.push_back(ParseNumber(part, what));
}

// Calls visit(name, pointer to settings) for each feature in the order of the table.
template <class F, class Visit>
void ForEachFeature(F& features, Visit&& visit) {
#define BERTH_FEATURE(name, Settings) visit(#name, features.name);
  BERTH_FEATURES(BERTH_FEATURE)
#undef BERTH_FEATURE
}

template <class S>
S Configure(const Spec& spec) {
  S settings;
  std::vector<std::string> names;
  for (const Field<S>& field : S::Fields()) names.emplace_back(field.name);
  for (const auto& [key, value] : spec.params) {
    const auto at = std::find(names.begin(), names.end(), key);
    if (at == names.end()) {
      throw Error(Join("feature '", spec.name, "': unknown setting '", key, "'", DidYouMean(key, names)));
    }
    if (std::count_if(spec.params.begin(), spec.params.end(), [&](const auto& p) { return p.first == key; }) >
        1) {
      throw Error(Join("feature '", spec.name, "': setting '", key, "' is given twice"));
    }
    const Field<S>& field = S::Fields()[static_cast<std::size_t>(at - names.begin())];
    const std::string what = Join("feature '", spec.name, "': ", key);
    std::visit([&](auto member) { Parse(value, what, settings.*member); }, field.member);
  }
  if constexpr (requires { settings.Load(); }) settings.Load();  // files that it names
  return settings;
}

// Whatever the way in was: command line, file or program.
template <class S>
void CheckFields(const char* name, const S& settings) {
  for (const Field<S>& field : S::Fields()) {
    const std::string what = Join("feature '", name, "': ", field.name);
    // Nothing lasts longer than years, so that no run is one of rounds without end.
    const bool seconds = std::string_view(field.name).ends_with("_s");
    const bool own = field.highest < std::numeric_limits<double>::max();
    const double highest = std::min(field.highest, seconds ? kLongestSeconds : kLargest);
    std::visit(
        [&](auto member) {
          using T = std::decay_t<decltype(settings.*member)>;
          if constexpr (std::is_same_v<T, double> || std::is_same_v<T, int>) {
            CheckBounds(settings.*member, field.lowest, highest, own, what);
          } else if constexpr (std::is_same_v<T, std::vector<double>>) {
            for (double x : settings.*member) CheckBounds(x, field.lowest, highest, own, what);
          }
        },
        field.member);
  }
}

}  // namespace

bool Features::any() const {
  bool any = false;
  ForEachFeature(*this, [&](const char*, const auto& settings) { any = any || settings != nullptr; });
  return any;
}

Features ParseFeatures(std::string_view text) {
  Features features;
  for (const std::string& part : SplitOutsideParentheses(text, ';')) {
    const Spec spec = ParseSpec(part);
    std::vector<std::string> names;
    bool found = false, twice = false;
    ForEachFeature(features, [&]<class S>(const char* name, std::shared_ptr<const S>& settings) {
      names.emplace_back(name);
      if (spec.name != name) return;
      found = true;
      twice = settings != nullptr;
      settings = std::make_shared<const S>(Configure<S>(spec));
    });
    if (!found) {
      std::string known;
      for (const std::string& name : names) known += Join(known.empty() ? "" : ", ", name);
      throw Error(Join("unknown feature '", spec.name, "'", DidYouMean(spec.name, names),
                       ": expected one of ", known));
    }
    if (twice) throw Error(Join("feature '", spec.name, "' is named twice"));
  }
  return features;
}

std::string ToString(const Features& features) {
  std::string text;
  ForEachFeature(features, [&](const char* name, const auto& settings) {
    if (settings == nullptr) return;
    Spec spec{name, {}};
    for (const auto& field : settings->Fields()) {
      std::visit(
          [&](auto member) {
            if (std::string value = Text((*settings).*member); !value.empty())
              spec.params.emplace_back(field.name, std::move(value));
          },
          field.member);
    }
    if (!text.empty()) text += ';';
    text += spec.ToString();
  });
  return text;
}

std::vector<FeatureInfo> ListFeatures() {
  std::vector<FeatureInfo> list;
  static const Features kNone;
  ForEachFeature(kNone, [&]<class S>(const char* name, const std::shared_ptr<const S>&) {
    const S defaults;
    FeatureInfo info{name, S::kHelp, {}};
    for (const Field<S>& field : S::Fields()) {
      std::visit(
          [&](auto member) {
            info.settings.push_back({field.name, Text(defaults.*member), field.help});
          },
          field.member);
    }
    list.push_back(std::move(info));
  });
  return list;
}

void CheckTimedClock(const char* feature, const Clock& clock) {
  if (clock.kind == ClockKind::kEvent || clock.kind == ClockKind::kRounds) return;
  throw Error(
      Join("feature '", feature, "': expected clock event or rounds(SECONDS), found ", clock.ToString()));
}

void CheckFeatures(const Features& features, const ScenarioData& scenario) {
  ForEachFeature(features, [&](const char* name, const auto& settings) {
    if (settings == nullptr) return;
    CheckFields(name, *settings);
    settings->Check(scenario);
  });
}

}  // namespace berth

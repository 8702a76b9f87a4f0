// A feature's settings, each declared once: its name, where it is kept, what it may be, what it means. The
// command line, scenario files, the scenario's hash, validation and `berth list features` all read this
// table.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "env/sim/features.hpp"

namespace berth {

template <class S>
struct Field {
  const char* name;
  // A list is written a:b:c.
  std::variant<double S::*, int S::*, bool S::*, std::string S::*, std::vector<double> S::*> member;
  const char* help;     // meaning and unit
  double lowest = 0.0;  // of numbers, each of a list's too; inclusive
  double highest = std::numeric_limits<double>::max();
};

// Of a setting with one entry for each of several, or one for all.
inline double EntryFor(const std::vector<double>& list, int i) {
  return list[list.size() == 1 ? 0 : static_cast<std::size_t>(i)];
}

// Made of a struct S of fields with
//   static constexpr const char* kName;              // on the command line
//   static constexpr const char* kHelp;              // one line
//   static std::span<const Field<S>> Fields();
template <class S>
class SettingsOf : public FeatureSettings {
 public:
  std::vector<FieldInfo> ListFields() const override {
    std::vector<FieldInfo> list;
    for (const Field<S>& field : S::Fields())
      list.push_back({field.name, field.help, field.lowest, field.highest});
    return list;
  }
  FieldValue Get(std::size_t field) const override {
    return std::visit([this](auto member) { return FieldValue(static_cast<const S&>(*this).*member); },
                      S::Fields()[field].member);
  }
  void Set(std::size_t field, const FieldValue& value) override {
    std::visit(
        [&](auto member) {
          auto& into = static_cast<S&>(*this).*member;
          into = std::get<std::decay_t<decltype(into)>>(value);
        },
        S::Fields()[field].member);
  }
};

// The row of a table.
template <class S>
FeatureModule ModuleOf() {
  return {S::kName, S::kHelp, TagOf(S::kName),
          []() -> std::shared_ptr<FeatureSettings> { return std::make_shared<S>(); }};
}

}  // namespace berth

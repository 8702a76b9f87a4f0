// What Slurm writes with --json, in the shapes of 22.05 and of later versions, which write numbers as {"set":
// ..., "infinite": ..., "number": ...} and what may be several texts as a list.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "data/json_depth.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"

namespace berth {

// The fields of one object of a list. Errors begin with `where`. The object outlives it.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}
  const std::string& where() const { return where_; }

  // null = not there, or said to be unknown.
  const nlohmann::json* Find(const char* key, const char* inner = nullptr) const {
    const auto outer = object_.find(key);
    if (outer == object_.end() || outer->is_null()) return nullptr;
    if (inner == nullptr) return &*outer;
    if (!outer->is_object()) Wrong(key, "an object", *outer);
    const auto at = outer->find(inner);
    return at == outer->end() || at->is_null() ? nullptr : &*at;
  }
  double Number(const char* key, const char* inner, double otherwise) const {
    const nlohmann::json* value = Find(key, inner);
    const std::string name = inner == nullptr ? key : Join(key, ".", inner);
    if (value == nullptr) return otherwise;
    if (value->is_object() && value->contains("number")) {
      const auto says = [&](const char* flag, bool unless_said) {
        const auto at = value->find(flag);
        return at != value->end() && at->is_boolean() ? at->get<bool>() : unless_said;
      };
      if (says("infinite", false)) return std::numeric_limits<double>::infinity();
      if (!says("set", true)) return otherwise;
      value = &value->at("number");
    }
    if (!value->is_number()) Wrong(name, "a number", *value);
    return value->get<double>();
  }
  // Without what is behind its point; an id or a count that is larger than `most`, or endless, is none.
  std::int64_t Whole(const char* key, const char* inner, double otherwise, double most = 9e15) const {
    const double value = Number(key, inner, otherwise);
    if (!(std::abs(value) <= most))
      throw Error(Join(where_, ": '", inner == nullptr ? key : Join(key, ".", inner), "': expected at most ",
                       most, ", found ", value));
    return static_cast<std::int64_t>(value);
  }
  std::string Text(const char* key, const char* inner = nullptr) const {
    const nlohmann::json* value = Find(key, inner);
    if (value == nullptr) return "";
    if (value->is_array() && !value->empty() && value->front().is_string())
      return value->front().get<std::string>();
    if (!value->is_string()) Wrong(inner == nullptr ? key : Join(key, ".", inner), "a text", *value);
    return value->get<std::string>();
  }
  [[noreturn]] void Wrong(const std::string& name, const char* expected, const nlohmann::json& found) const {
    throw Error(Join(where_, ": '", name, "': expected ", expected, ", found ", found.dump().substr(0, 60)));
  }

 private:
  const nlohmann::json& object_;
  std::string where_;
};

// The file's list `key`, as `command` writes it. Throws Error naming the file.
inline nlohmann::json JsonList(const std::string& path, const char* key, const char* command) {
  const std::string text = ReadText(path);
  CheckJsonDepth(text, path);
  nlohmann::json whole;
  try {
    whole = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {  // also a number that no double holds
    const std::string what = error.what();
    throw Error(Join(path, ": expected JSON, found ", what.substr(what.find("] ") + 2)));
  }
  if (!whole.is_object() || !whole.contains(key) || !whole[key].is_array())
    throw Error(Join(path, ": expected {\"", key, "\": [...]}, as ", command, " writes it"));
  return std::move(whole[key]);
}

// Is it the text of a JSON object?
inline bool LooksLikeJson(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

}  // namespace berth

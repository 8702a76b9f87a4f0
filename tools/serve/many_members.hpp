// Objects of n members in n log n. Json looks through all that an object has for each one that is set, and
// copies what they hold as the object grows: a request of a megabyte could take minutes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/json.hpp"

namespace berth {

class ManyMembers {
 public:
  // In the order in which they are first named.
  Json& operator[](const std::string& name) {
    const auto [at, is_new] = at_.try_emplace(name, members_.size());
    if (is_new) members_.emplace_back(name, nullptr);
    return members_[at->second].second;
  }
  Json Take() {
    Json::object_t object;
    object.reserve(members_.size());
    for (auto& [name, value] : members_) object.emplace_back(std::move(name), std::move(value));
    return Json(std::move(object));
  }

 private:
  std::vector<std::pair<std::string, Json>> members_;
  std::map<std::string, std::size_t> at_;  // no hash: colliding names are soon found
};

// Json::parse, without its square time.
class LinearParser final : public Json::json_sax_t {
 public:
  // Throws Json::exception.
  static Json Parse(const std::string& body) {
    LinearParser parser;
    Json::sax_parse(body, &parser);
    return std::move(parser.whole_);
  }

  bool null() override { return Value(nullptr); }
  bool boolean(bool value) override { return Value(value); }
  bool number_integer(number_integer_t value) override { return Value(value); }
  bool number_unsigned(number_unsigned_t value) override { return Value(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return Value(value); }
  bool string(string_t& value) override { return Value(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON has none
  bool start_object(std::size_t /*size*/) override { return Open(false); }
  bool start_array(std::size_t /*size*/) override { return Open(true); }
  bool key(string_t& name) override {
    open_.back().name = std::move(name);
    return true;
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const Json::exception& error) override {
    if (const auto* parse = dynamic_cast<const Json::parse_error*>(&error)) throw *parse;
    throw dynamic_cast<const Json::out_of_range&>(error);
  }

 private:
  struct Level {
    bool is_list;
    Json list = nullptr;
    ManyMembers members = {};
    std::string name = {};  // of the member whose value comes next
  };
  static_assert(std::is_nothrow_move_constructible_v<Level>);  // or `open_` copies it
  bool Open(bool is_list) {
    open_.push_back({is_list});
    if (is_list) open_.back().list = Json::array();
    return true;
  }
  bool Close() {
    Level level = std::move(open_.back());
    open_.pop_back();
    return Value(level.is_list ? std::move(level.list) : level.members.Take());
  }
  bool Value(Json value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (open_.back().is_list) {
      open_.back().list.push_back(std::move(value));
    } else {
      open_.back().members[open_.back().name] = std::move(value);
    }
    return true;
  }

  Json whole_;
  std::vector<Level> open_;
};

}  // namespace berth

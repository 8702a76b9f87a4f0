#include "tests/fuzz/h5_content.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "data/hdf5_file.hpp"

namespace berth::fuzz {
namespace {

template <class T>
bool Read(const h5::Reader& in, const std::string& name, Dataset& set) {
  try {
    set.values = in.Array<T>(name, -1, &set.shape);
    return true;
  } catch (const Error&) {
    return false;  // another type
  }
}

Attribute ReadAttribute(const h5::Reader& in, const std::string& name) {
  const hid_t file = H5Fopen(in.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), attribute = H5Aopen(file, name.c_str(), H5P_DEFAULT),
              type = H5Aget_type(attribute);
  const H5T_class_t sort = H5Tget_class(type);
  H5Tclose(type), H5Aclose(attribute), H5Fclose(file);
  if (sort == H5T_STRING) return in.Text(name);
  if (sort == H5T_FLOAT) return in.Number(name);
  return in.Integer(name);
}

constexpr std::size_t kMostValues = 4096;

template <class T>
void Put(std::vector<T>& values, std::size_t at, Input& in) {
  if constexpr (std::is_floating_point_v<T>) {
    const double number = in.Number();
    values[at] = std::abs(number) <= static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(number)
                 : std::isnan(number)                                                  ? std::numeric_limits<T>::quiet_NaN()
                 : number > 0.0                                                        ? std::numeric_limits<T>::infinity()
                                                                                       : -std::numeric_limits<T>::infinity();
  } else {
    values[at] = static_cast<T>(in.Integer());
  }
}

// One dimension, as many as there are values.
void Flatten(Dataset& set) {
  std::visit([&](const auto& values) { set.shape = {std::ssize(values)}; }, set.values);
}

template <class T>
Values As(const Values& from) {
  std::vector<T> to;
  std::visit(
      [&](const auto& values) {
        for (const auto value : values) {
          const double number = static_cast<double>(value);
          to.push_back(std::abs(number) < 100.0 && (number >= 0.0 || std::is_signed_v<T>) ? static_cast<T>(number) : T{1});
        }
      },
      from);
  return to;
}

void ChangeSet(Dataset& set, Input& in) {
  const int how = in.Below(7);
  const int count = in.Byte();
  if (how == 6) {  // another type
    const Values old = set.values;
    switch (count % 6) {
      case 0: set.values = As<double>(old); break;
      case 1: set.values = As<float>(old); break;
      case 2: set.values = As<std::int32_t>(old); break;
      case 3: set.values = As<std::int64_t>(old); break;
      case 4: set.values = As<std::uint8_t>(old); break;
      default: set.values = As<std::uint64_t>(old); break;
    }
    return;
  }
  std::visit(
      [&](auto& values) {
        switch (how) {
          case 0:
          case 1:  // one value
            if (!values.empty()) Put(values, static_cast<std::size_t>(count) % values.size(), in);
            break;
          case 2:  // all of them
            if (!values.empty()) Put(values, 0, in), std::fill(values.begin(), values.end(), values[0]);
            break;
          case 3:  // fewer, or the first again and again
            values.resize(static_cast<std::size_t>(count), values.empty() ? typename std::decay_t<decltype(values)>::value_type{} : values[0]);
            set.shape.clear();
            break;
          case 4: {  // text, of lists of texts
            values.clear();
            for (const char c : in.Text(200)) values.push_back(static_cast<typename std::decay_t<decltype(values)>::value_type>(c == '|' ? 0 : c));
            if (count % 2 == 0) values.push_back({});
            set.shape.clear();
            break;
          }
          default:  // the same values in another shape
            if (count % 3 == 0) set.shape = {1, std::ssize(values)};
            if (count % 3 == 1) set.shape = {std::ssize(values), 1};
            if (count % 3 == 2) set.shape = {std::ssize(values)};
        }
        if (values.size() > kMostValues) values.resize(kMostValues), set.shape.clear();
      },
      set.values);
  if (set.shape.empty()) Flatten(set);
}

void ChangeAttribute(Attribute& attribute, Input& in) {
  switch (in.Below(4)) {
    case 0: attribute = in.Number(); break;
    case 1: attribute = in.Integer(); break;
    case 2: attribute = in.Text(200); break;
    default:  // a few bytes of a text, or its own sort
      if (auto* text = std::get_if<std::string>(&attribute)) {
        const std::size_t at = text->empty() ? 0 : in.Byte() % text->size();
        const std::size_t length = in.Byte() % 16;
        text->replace(at, length, in.Text(40));
      } else if (auto* number = std::get_if<double>(&attribute)) {
        *number = in.Number();
      } else {
        attribute = in.Integer();
      }
  }
}

template <class Map>
auto At(Map& map, int index) {
  auto it = map.begin();
  std::advance(it, index % static_cast<int>(map.size()));
  return it;
}

}  // namespace

Content ContentOf(const std::string& path) {
  Content content;
  content.kind = h5::KindOf(path);
  const h5::Reader in(path, content.kind, 1000);
  content.version = in.version();
  for (const std::string& name : in.Datasets()) {
    Dataset& set = content.sets[name];
    if (!(Read<double>(in, name, set) || Read<float>(in, name, set) || Read<std::int32_t>(in, name, set) ||
          Read<std::int64_t>(in, name, set) || Read<std::uint8_t>(in, name, set) || Read<std::uint64_t>(in, name, set)))
      Fail("a dataset of no known type: " + name);
  }
  for (const std::string& name : in.Attributes()) {
    if (name.rfind("berth_", 0) == 0 || name.rfind("source_", 0) == 0 || name == "content_hash") continue;
    content.attributes.emplace(name, ReadAttribute(in, name));
  }
  return content;
}

void Write(const Content& content, const std::string& path) {
  h5::Writer out(path, content.kind, content.version);
  for (const auto& [name, value] : content.attributes) {
    if (const auto* text = std::get_if<std::string>(&value)) out.Text(name, *text);
    if (const auto* number = std::get_if<double>(&value)) out.Number(name, *number);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) out.Integer(name, *whole);
  }
  for (const auto& [name, set] : content.sets) {
    std::visit([&, &name = name, &shape = set.shape](const auto& values) { out.Array(name, values, shape); }, set.values);
  }
  out.Commit();
}

void Change(Content& content, Input& in) {
  const int what = in.Below(12), which = in.Byte();
  if (what < 6) {
    if (!content.sets.empty()) ChangeSet(At(content.sets, which)->second, in);
  } else if (what < 8) {
    if (!content.attributes.empty()) ChangeAttribute(At(content.attributes, which)->second, in);
  } else if (what == 8) {
    if (!content.sets.empty()) content.sets.erase(At(content.sets, which));
  } else if (what == 9) {
    if (!content.attributes.empty()) content.attributes.erase(At(content.attributes, which));
  } else if (what == 10) {
    if (!content.sets.empty()) content.sets[At(content.sets, which)->first] = At(content.sets, in.Byte())->second;
  } else {
    content.version = which % 4;
  }
}

}  // namespace berth::fuzz

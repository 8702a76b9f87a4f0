#include "tools/json.hpp"

#include <algorithm>

#include "data/json_depth.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/output_file.hpp"

namespace berth {
namespace {

constexpr std::size_t kMostShown = 60;  // characters of a line that is no JSON

}  // namespace

Json ReadJson(const std::string& path) {
  const std::string text = ReadText(path);
  CheckJsonDepth(text, path);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // Its byte is the last that was read, from 1, and one more at the end.
    const std::size_t at = std::clamp<std::size_t>(error.byte, 1, text.size() + 1) - 1;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t begin = text.find_last_of('\n', at == 0 ? 0 : at - 1) + 1;  // npos + 1 = 0
    const std::string found = Trim(text.substr(begin, text.find('\n', at) - begin));
    throw Error(Join(path, ":", line, ": expected JSON, found ",
                     at >= text.size() ? "its end" : Join("'", found.substr(0, kMostShown), "'")));
  } catch (const Json::exception& error) {   // such as a number that no double holds
    const std::string words = error.what();  // "[json.exception.out_of_range.406] number overflow ..."
    const std::size_t id = words.find("] ");
    throw Error(Join(
        path, ": expected JSON that can be read: ", id == std::string::npos ? words : words.substr(id + 2)));
  }
}

Json ConfigJson(const Options& options) {
  Json config = Json::object();
  for (const auto& [name, value] : options.Resolved()) config[name] = value;
  return config;
}

void CheckJsonWritable(const Options& options) {
  const std::string& path = options.Text("json");
  if (!IsSpecialFile(path)) CheckWritable(path, "--json");
}

void WriteJson(const Options& options, const Json& content) {
  const std::string& path = options.Text("json");
  if (!path.empty()) InOption(options, "json", [&] { WriteTextFile(path, content.dump(2) + "\n"); });
}

}  // namespace berth

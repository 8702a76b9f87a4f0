#include "tools/json.hpp"

#include "data/text_file.hpp"
#include "tools/output_file.hpp"

namespace berth {

Json ReadJson(const std::string& path) {
  return Json::parse(ReadText(path));
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

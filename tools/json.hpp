// JSON with keys in the order they were set; they are documented in tools/FORMATS.md and stable.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/options.hpp"

namespace berth {

using Json = nlohmann::ordered_json;

Json ReadJson(const std::string& path);          // plain or gzip; Error where it cannot be read or is no JSON
Json ConfigJson(const Options& options);         // {"option": "value", ...}
void CheckJsonWritable(const Options& options);  // Error before the work, not after it
void WriteJson(const Options& options, const Json& content);  // to --json, where it was given

}  // namespace berth

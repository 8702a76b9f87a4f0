// What is compiled in, and the tables of it as rows: commas between fields, no quotes. What they hold is
// well-formed or our mistake.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

using ShippedRow = std::vector<std::string_view>;

extern const char kAloneCsv[];      // throughputs/alone.csv
extern const char kPairsCsv[];      // throughputs/pairs.csv
extern const char kModernCsv[];     // throughputs/modern.csv
extern const char kShockwaveCsv[];  // throughputs/shockwave.csv
extern const char kGpusCsv[];       // gpus.csv
extern const char kLikeExample[];   // like/example.toml

std::vector<ShippedRow> ShippedRows(const char* csv);                  // the first is the header
int ShippedColumn(const ShippedRow& header, const std::string& name);  // -1: there is none
double ShippedNumber(const ShippedRow& row, int column);               // 0 where the field is empty

}  // namespace berth

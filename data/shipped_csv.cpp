#include "data/shipped_csv.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

ShippedRow Fields(std::string_view line, char separator) {
  ShippedRow fields;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find(separator, begin);
    fields.push_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return fields;
    begin = end + 1;
  }
}

}  // namespace

std::vector<ShippedRow> ShippedRows(const char* csv) {
  std::vector<ShippedRow> rows;
  for (const std::string_view line : Fields(csv, '\n')) {
    if (!line.empty()) rows.push_back(Fields(line, ','));
    BERTH_CHECK(rows.empty() || rows.back().size() == rows.front().size(), line);
  }
  return rows;
}

int ShippedColumn(const ShippedRow& header, const std::string& name) {
  const auto it = std::find(header.begin(), header.end(), name);
  return it == header.end() ? -1 : static_cast<int>(it - header.begin());
}

double ShippedNumber(const ShippedRow& row, int column) {
  const std::string_view text = row[U(column)];
  return text.empty() ? 0.0 : ParseNumber(text, "shipped table");
}

}  // namespace berth

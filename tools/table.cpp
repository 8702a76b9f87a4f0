#include "tools/table.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "env/base/check.hpp"

namespace berth {
namespace {

std::size_t Width(const std::string& cell) {  // characters of UTF-8
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  BERTH_CHECK(cells.size() == rows_[0].size(), cells.size(), " cells under ", rows_[0].size(), " headers");
  rows_.push_back(std::move(cells));
}

std::string Table::ToString() const {
  std::vector<std::size_t> widths(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], Width(row[c]));
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - Width(row[c]), ' ');
      line += c == 0 ? row[c] + blanks : "  " + blanks + row[c];
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  append(rows_[0]);
  std::size_t total = 0;
  for (std::size_t width : widths) total += width + 2;
  text += std::string(total - 2, '-') + "\n";
  for (std::size_t r = 1; r < rows_.size(); ++r) append(rows_[r]);
  return text;
}

std::string Fixed(double value, int decimals) {
  if (std::isnan(value)) return "-";
  std::ostringstream out;
  out << std::fixed << std::setprecision(decimals) << value;
  return out.str();
}

std::string Hours(double seconds) {
  return Fixed(seconds / 3600.0, 2);
}

}  // namespace berth

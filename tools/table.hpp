// Aligned text tables: the first column to the left, the others to the right.
#pragma once

#include <string>
#include <vector>

namespace berth {

class Table {
 public:
  explicit Table(std::vector<std::string> headers) : rows_{std::move(headers)} {}
  void AddRow(std::vector<std::string> cells);  // as many as there are headers
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string Fixed(double value, int decimals);  // "-" where it is NaN
std::string Hours(double seconds);              // with 2 decimals

}  // namespace berth

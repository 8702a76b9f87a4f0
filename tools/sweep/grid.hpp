// The grid of a sweep: axes with values, and texts in which {axis} stands for a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth {

struct Axis {
  std::string name;                 // letters, digits, '_' and '-'
  std::vector<std::string> values;  // at least one, each once
};

// Whole numbers as text: "3", or "1..9" and "0..16..4" with the last one in, as in Bash. Throws Error that
// begins with `what`.
std::vector<std::string> Counts(const std::string& text, const std::string& what);

// "rate=0.2,0.4;v100=4..16..4": axes between ';', outside parentheses as what follows. Values stand between
// commas, or between '|' where there is one, so that they may have commas or be empty. Throws Error.
std::vector<Axis> ParseAxes(const std::string& text);

// A cell is a value of every axis; cells are numbered from 0, the last axis changing fastest.
class Grid {
 public:
  // Throws Error for names or values that are there twice, a name of `taken`, or more cells than kMostCells.
  explicit Grid(std::vector<Axis> axes, const std::vector<std::string>& taken = {});

  const std::vector<Axis>& axes() const { return axes_; }
  std::vector<std::string> names() const;
  std::int64_t size() const { return size_; }
  std::vector<std::string> Values(std::int64_t cell) const;            // [axes]
  std::string Label(std::int64_t cell) const;                          // "rate=0.2, v100=4"
  std::string Fill(const std::string& text, std::int64_t cell) const;  // {axis} replaced
  // As ParseAxes reads it; JSON, which it does not read, of what no such text says, as a single value with
  // commas from Python. Unlike grids have unlike texts.
  std::string ToString() const;

 private:
  std::vector<Axis> axes_;
  std::int64_t size_ = 1;
};

inline constexpr std::int64_t kMostCells = 100'000;

// What stands in braces and could be an axis, in order: {"rate"} of "synthetic(rate={rate})".
std::vector<std::string> Placeholders(const std::string& text);

}  // namespace berth

// Decision points with commands by hand: opened, and a command of one found.
#pragma once

#include <string>

#include "env/gym/decision_point.hpp"
#include "tests/catch.hpp"

namespace berth::test {

inline void OpenPoint(DecisionPoint& point, const ClusterView& view) {
  point.Start(view);
  point.Gather(view);
  point.Observe(view, 0);
  point.OpenMask(view);
}

// The action of the kind's column with the level, about `subject`: a job, or a row of the kind's own.
inline int CommandAt(const DecisionPoint& point, const std::string& name, int subject, int level) {
  const CommandGrid& grid = *point.grid();
  for (int row = 0; row < grid.rows(); ++row) {
    for (int column = 0; column < grid.columns(); ++column) {
      if (grid.Subject(row, column) == subject && name == grid.NameOf(column) && grid.column(column).level == level)
        return row * grid.columns() + column;
    }
  }
  FAIL("no " << name << " of " << subject);
  return -1;
}

}  // namespace berth::test

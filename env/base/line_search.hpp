// A step along a line that lowers a function enough: the search of More and Thuente (Line search algorithms
// with guaranteed sufficient decrease, ACM TOMS 20, 1994), as MINPACK-2's dcsrch takes its steps.
#pragma once

namespace berth {

// f is the function along the line, f' its slope there. A step s is good where
//   f(s) <= f(0) + decrease s f'(0)  and  |f'(s)| <= curvature |f'(0)|.
// Ask step(), tell Take() what was found there, until Take() says that the step ends the search: it is good,
// or no better one can be told from it (the largest step, an interval within `interval` of its end,
// rounding).
//
//   LineSearch search({.largest = 10.0}, value, slope, 1.0);
//   while (!search.Take(Value(search.step()), Slope(search.step()))) {}
//
// Thread rule: one thread at a time.
class LineSearch {
 public:
  struct Options {
    double decrease = 1e-3, curvature = 0.9, interval = 0.1;
    double largest = 1e10;  // step
  };
  // REQUIRES: slope < 0, 0 < first <= largest
  LineSearch(const Options& options, double value, double slope, double first);
  double step() const { return step_; }
  bool Take(double value, double slope);

 private:
  struct End {  // a step that was tried
    double step, value, slope;
  };
  static double NextStep(End& best, End& other, const End& tried, bool& bracketed, double least, double most);

  Options options_;
  End begin_, best_, other_;  // a minimum lies between the last two once it is bracketed
  double step_, least_, most_, width_, width_before_;
  bool bracketed_ = false, second_stage_ = false;
};

}  // namespace berth

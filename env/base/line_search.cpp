#include "env/base/line_search.hpp"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

// A step between a and b where the cubic through both values and slopes is least; `a` is where it is counted
// from. `clip`: a square root of less than 0 is 0.
struct Cubic {
  double theta, root;
  template <typename End>
  Cubic(const End& a, const End& b, bool clip) {
    theta = 3.0 * (a.value - b.value) / (b.step - a.step) + a.slope + b.slope;
    const double s = std::max({std::abs(theta), std::abs(a.slope), std::abs(b.slope)});
    const double of = theta / s;
    const double square = of * of - (a.slope / s) * (b.slope / s);
    root = s * std::sqrt(clip ? std::max(0.0, square) : square);
  }
};

}  // namespace

LineSearch::LineSearch(const Options& options, double value, double slope, double first)
    : options_(options),
      begin_{0.0, value, slope},
      best_(begin_),
      other_(begin_),
      step_(first),
      least_(0.0),
      most_(first + 4.0 * first),
      width_(options.largest),
      width_before_(2.0 * options.largest) {}

bool LineSearch::Take(double value, double slope) {
  const double wanted = options_.decrease * begin_.slope;  // slope of the line that f must come below
  const double limit = begin_.value + step_ * wanted;
  if (!second_stage_ && value <= limit && slope >= 0.0) second_stage_ = true;
  if (bracketed_ && (step_ <= least_ || step_ >= most_)) return true;
  if (bracketed_ && most_ - least_ <= options_.interval * most_) return true;
  if (step_ == options_.largest && value <= limit && slope <= wanted) return true;
  if (step_ == 0.0 && (value > limit || slope >= wanted)) return true;
  if (value <= limit && std::abs(slope) <= options_.curvature * -begin_.slope) return true;

  const End tried{step_, value, slope};
  if (!second_stage_ && value <= best_.value && value > limit) {
    // It came down, but not enough: what lies above the line is made least.
    const auto above = [wanted](End e) { return End{e.step, e.value - e.step * wanted, e.slope - wanted}; };
    const auto back = [wanted](End e) { return End{e.step, e.value + e.step * wanted, e.slope + wanted}; };
    End best = above(best_), other = above(other_);
    step_ = NextStep(best, other, above(tried), bracketed_, least_, most_);
    best_ = back(best), other_ = back(other);
  } else {
    step_ = NextStep(best_, other_, tried, bracketed_, least_, most_);
  }
  if (bracketed_) {
    const double width = std::abs(other_.step - best_.step);
    if (width >= 0.66 * width_before_) step_ = best_.step + 0.5 * (other_.step - best_.step);
    width_before_ = width_;
    width_ = width;
    least_ = std::min(best_.step, other_.step);
    most_ = std::max(best_.step, other_.step);
  } else {
    least_ = step_ + 1.1 * (step_ - best_.step);
    most_ = step_ + 4.0 * (step_ - best_.step);
  }
  step_ = std::min(std::max(step_, 0.0), options_.largest);
  if (bracketed_ && (step_ <= least_ || step_ >= most_ || most_ - least_ <= options_.interval * most_))
    step_ = best_.step;
  return false;
}

// The four cases of section 4 of the paper, and which two ends hold a minimum then.
double LineSearch::NextStep(End& best, End& other, const End& tried, bool& bracketed, double least,
                            double most) {
  const double from = best.step, at = tried.step;
  const double sign = tried.slope * (best.slope / std::abs(best.slope));
  double next;
  if (tried.value > best.value) {  // higher: a minimum lies between
    Cubic c(best, tried, false);
    if (at < from) c.root = -c.root;
    const double p = (c.root - best.slope) + c.theta;
    const double q = ((c.root - best.slope) + c.root) + tried.slope;
    const double cubic = from + p / q * (at - from);
    const double quadratic =
        from + ((best.slope / ((best.value - tried.value) / (at - from) + best.slope)) / 2.0) * (at - from);
    next = std::abs(cubic - from) < std::abs(quadratic - from) ? cubic : cubic + (quadratic - cubic) / 2.0;
    bracketed = true;
  } else if (sign < 0.0) {  // lower, and it rises there
    Cubic c(best, tried, false);
    if (at > from) c.root = -c.root;
    const double p = (c.root - tried.slope) + c.theta;
    const double q = ((c.root - tried.slope) + c.root) + best.slope;
    const double cubic = at + p / q * (from - at);
    const double secant = at + (tried.slope / (tried.slope - best.slope)) * (from - at);
    next = std::abs(cubic - at) > std::abs(secant - at) ? cubic : secant;
    bracketed = true;
  } else if (std::abs(tried.slope) < std::abs(best.slope)) {  // lower, and it falls less steeply there
    Cubic c(best, tried, true);
    if (at > from) c.root = -c.root;
    const double p = (c.root - tried.slope) + c.theta;
    const double q = (c.root + (best.slope - tried.slope)) + c.root;
    const double r = p / q;
    const double cubic = r < 0.0 && c.root != 0.0 ? at + r * (from - at) : at > from ? most : least;
    const double secant = at + (tried.slope / (tried.slope - best.slope)) * (from - at);
    if (bracketed) {
      next = std::abs(cubic - at) < std::abs(secant - at) ? cubic : secant;
      const double near = at + 0.66 * (other.step - at);
      next = at > from ? std::min(near, next) : std::max(near, next);
    } else {
      next = std::abs(cubic - at) > std::abs(secant - at) ? cubic : secant;
      next = std::max(least, std::min(most, next));
    }
  } else if (bracketed) {  // lower, and it falls as steeply
    Cubic c(other, tried, false);
    if (at > other.step) c.root = -c.root;
    const double p = (c.root - tried.slope) + c.theta;
    const double q = ((c.root - tried.slope) + c.root) + other.slope;
    next = at + p / q * (other.step - at);
  } else {
    next = at > from ? most : least;
  }
  if (tried.value > best.value) {
    other = tried;
  } else {
    if (sign < 0.0) other = best;
    best = tried;
  }
  return next;
}

}  // namespace berth

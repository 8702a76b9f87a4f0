#include "data/tables/times.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <string_view>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr double kMinute = 60.0, kHour = 3600.0, kDay = 86400.0;

// What is left of a text that is read from its beginning.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : left_(text) {}
  bool done() const { return left_.empty(); }
  char Peek() const { return left_.empty() ? '\0' : left_.front(); }
  bool Take(char c) {
    if (Peek() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  // Exactly `count` digits (0 = one or more).
  bool Digits(std::size_t count, int& value) {
    std::size_t n = 0;
    while (n < left_.size() && left_[n] >= '0' && left_[n] <= '9') ++n;
    if (n == 0 || n > 9 || (count != 0 && n < count)) return false;
    if (count != 0) n = count;
    std::from_chars(left_.data(), left_.data() + n, value);
    left_.remove_prefix(n);
    return true;
  }
  // A number without sign or exponent, such as 4 or 4.25.
  bool Number(double& value) {
    std::size_t n = 0, dots = 0;
    while (n < left_.size() && ((left_[n] >= '0' && left_[n] <= '9') || left_[n] == '.'))
      dots += left_[n++] == '.';
    if (n == 0 || dots > 1 || left_.front() == '.') return false;
    std::from_chars(left_.data(), left_.data() + n, value);
    left_.remove_prefix(n);
    return true;
  }

 private:
  std::string_view left_;
};

// "14:05", "14:05:06.5" as seconds of a day.
bool TimeOfDay(Cursor& in, double& seconds) {
  int hour = 0, minute = 0;
  double second = 0.0;
  if (!in.Digits(2, hour) || !in.Take(':') || !in.Digits(2, minute)) return false;
  if (in.Take(':') && !in.Number(second)) return false;
  seconds = kHour * hour + kMinute * minute + second;
  return minute <= 59 && second < 61.0 && (hour <= 23 || seconds == kDay);  // a leap second; 24:00
}

// "Z", "+01:00", "-0800" or nothing, as seconds to take off.
bool Zone(Cursor& in, double& seconds) {
  seconds = 0.0;
  if (in.done() || in.Take('Z') || in.Take('z')) return in.done();
  const double sign = in.Peek() == '-' ? -1.0 : 1.0;
  int hour = 0, minute = 0;
  if ((!in.Take('+') && !in.Take('-')) || !in.Digits(2, hour)) return false;
  in.Take(':');
  if (!in.done() && !in.Digits(2, minute)) return false;
  seconds = sign * (kHour * hour + kMinute * minute);
  return in.done() && hour <= 14 && minute <= 59;
}

bool Date(const std::string& text, double& seconds) {
  Cursor in(text);
  int year = 0, month = 0, day = 0;
  if (!in.Digits(4, year) || !in.Take('-') || !in.Digits(2, month) || !in.Take('-') || !in.Digits(2, day))
    return false;
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return false;
  double time = 0.0, zone = 0.0;
  if (!in.done() && (!(in.Take('T') || in.Take(' ')) || !TimeOfDay(in, time) || !Zone(in, zone)))
    return false;
  seconds = kDay * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) + time - zone;
  return true;
}

// "1h30m", "2d", "45s": each unit once, the larger first.
bool WithUnits(Cursor in, double& seconds) {
  seconds = 0.0;
  double before = 1e300;
  while (!in.done()) {
    double value = 0.0, unit = 0.0;
    if (!in.Number(value)) return false;
    unit = in.Take('d') ? kDay : in.Take('h') ? kHour : in.Take('m') ? kMinute : in.Take('s') ? 1.0 : 0.0;
    if (unit == 0.0 || unit >= before) return false;
    seconds += value * unit, before = unit;
  }
  return before < 1e300;
}

// "HH:MM:SS", "MM:SS", and with days, as Slurm reads limits, "D-HH", "D-HH:MM", "D-HH:MM:SS".
bool WithColons(Cursor in, double& seconds) {
  int days = 0;
  Cursor rest = in;
  const bool has_days = rest.Digits(0, days) && rest.Take('-');
  if (has_days) in = rest;
  double parts[3] = {};
  int count = 0;
  do {
    if (count == 3 || !in.Number(parts[count])) return false;
    if (count > 0 && parts[count] >= 60.0) return false;
    if (count > 0 && parts[count - 1] != std::floor(parts[count - 1]))
      return false;  // seconds alone have a fraction
    ++count;
  } while (in.Take(':'));
  if (has_days && count < 3 && parts[count - 1] != std::floor(parts[count - 1])) return false;
  if (!in.done() || (!has_days && count < 2)) return false;
  const double first = has_days || count == 3 ? kHour : kMinute;
  seconds =
      (has_days ? kDay * days : 0.0) + first * parts[0] + first / 60.0 * parts[1] + first / 3600.0 * parts[2];
  return true;
}

}  // namespace

bool LooksLikeDate(const std::string& text) {
  return text.size() >= 8 && text.find('-', 1) != std::string::npos && text.find('e') == std::string::npos;
}

bool IsDateOfDigits(const std::string& text) {
  double seconds = 0.0;
  return text.size() == 8 && text >= "1970" && text < "2100" &&
         Date(Join(text.substr(0, 4), "-", text.substr(4, 2), "-", text.substr(6)), seconds);
}

double ParseMoment(const std::string& text, const std::string& what) {
  double seconds = 0.0;
  if (Date(text, seconds)) return seconds;
  if (LooksLikeDate(text))
    throw Error(Join(what, ": expected a date such as 2024-03-01T14:05:06, found '", text, "'"));
  return ParseNumber(text, what);
}

double ParseSpan(const std::string& text, const std::string& what) {
  double seconds = 0.0;
  if (WithUnits(Cursor(text), seconds) || WithColons(Cursor(text), seconds)) return seconds;
  if (text.find_first_of(":dhms") != std::string::npos)
    throw Error(Join(what, ": expected seconds, 1-02:03:04 or 1h30m, found '", text, "'"));
  return ParseNumber(text, what);
}

}  // namespace berth

#include "tools/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr double kBarSeconds = 0.1;
constexpr double kLineSeconds = 5.0;
constexpr int kBarWidth = 24;

std::size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return size.ws_col;
}

// The first `width` characters, of UTF-8.
std::string Cut(const std::string& text, std::size_t width) {
  std::size_t characters = 0, end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80U;
    if (begins && characters++ == width) break;
  }
  return text.substr(0, end);
}

std::string PercentDone(double done) {
  char text[8];
  std::snprintf(text, sizeof text, "%3.0f%%", 100.0 * done);
  return text;
}

}  // namespace

Progress::Progress(std::string label) : Progress(std::move(label), stderr, isatty(STDERR_FILENO) != 0) {}

Progress::Progress(std::string label, std::FILE* out, bool terminal)
    : label_(std::move(label)), out_(out), terminal_(terminal), begin_(Clock::now()), shown_(begin_) {}

Progress::~Progress() {
  Wipe();
}

void Progress::Update(double done, const std::string& detail, const std::vector<std::string>& panel) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (first_done_ < 0.0) first_done_ = done;
  if (std::chrono::duration<double>(now - shown_).count() < (terminal_ ? kBarSeconds : kLineSeconds)) return;
  shown_ = now;
  done = std::clamp(done, 0.0, 1.0);
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  std::string line = label_ + " ";
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(std::lround(done * kBarWidth));
    line.append("[").append(filled, '#').append(kBarWidth - filled, '.').append("] ");
  }
  line += PercentDone(done);
  if (!detail.empty()) line += "  " + detail;
  line += "  " + Duration(elapsed);
  if (done > first_done_) {
    line.append(", ").append(Duration(elapsed * (1.0 - done) / (done - first_done_))).append(" left");
  }
  if (terminal_) {
    Wipe();
    const std::size_t width = TerminalWidth() - 1;
    for (const std::string& above : panel) std::fprintf(out_, "%s\n", Cut(above, width).c_str());
    std::fprintf(out_, "%s", Cut(line, width).c_str());
    lines_above_ = panel.size();
    bar_visible_ = true;
  } else {
    std::fprintf(out_, "%s\n", line.c_str());
  }
  std::fflush(out_);
}

std::string Progress::Rate(double count, const std::string& unit) const {
  return RateText(count, std::chrono::duration<double>(Clock::now() - begin_).count(), unit);
}

void Progress::Say(const std::string& line) {
  const std::lock_guard lock(mutex_);
  Wipe();
  std::fprintf(out_, "%s: %s\n", label_.c_str(), line.c_str());
  std::fflush(out_);
}

void Progress::Wipe() {
  if (bar_visible_) std::fprintf(out_, "\r\033[K");
  for (; lines_above_ > 0; --lines_above_) std::fprintf(out_, "\033[A\033[K");
  bar_visible_ = false;
}

std::string Duration(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  char text[40];
  if (whole < 60) {
    std::snprintf(text, sizeof text, "%lld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text;
}

std::string Thousands(double value) {
  const std::string digits = std::to_string(std::llround(std::abs(value)));
  std::string text = value < -0.5 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string RateText(double count, double seconds, const std::string& unit) {
  return Join(Readable(count / std::max(seconds, 1e-3)), " ", unit, "/s");
}

std::string Readable(double value) {
  if (std::isnan(value)) return "-";
  if (std::abs(value) >= 1000.0) return Thousands(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace berth

#include "tools/controller/status.hpp"

#include <utility>

namespace berth {

void StatusBoard::Publish(Json status) {
  const std::lock_guard<std::mutex> guard(mutex_);
  status_.swap(status);  // the old one is taken apart after the lock: it may have 10,000 jobs
  published_ = Clock::now();
}

Json StatusBoard::Read() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return status_;
}

std::optional<double> StatusBoard::AgeSeconds() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (!published_) return std::nullopt;
  return std::chrono::duration<double>(Clock::now() - *published_).count();
}

bool StatusBoard::AskMode(const std::string& mode) {
  if (!writable_) return false;
  const std::lock_guard<std::mutex> guard(mutex_);
  asked_ = mode;
  return true;
}

std::optional<std::string> StatusBoard::AskedMode() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return asked_;
}

std::optional<std::string> StatusBoard::TakeAskedMode() {
  const std::lock_guard<std::mutex> guard(mutex_);
  return std::exchange(asked_, std::nullopt);
}

}  // namespace berth

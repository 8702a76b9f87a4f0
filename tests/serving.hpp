// A listener with one route of each kind, for tests of what it answers and what it refuses.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "tools/serve/http_listener.hpp"

namespace berth::test {

// Serving until the end of the scope.
class Serving {
 public:
  explicit Serving(ListenOptions options) : listener_(std::move(options)) {
    listener_.Get("/read", [](const HttpRequest& request) {
      const auto at = request.query.find("q");
      return HttpReply{200, at == request.query.end() ? "{}" : at->second};
    });
    listener_.Get(
        "/page",
        [](const HttpRequest&) {
          return HttpReply{200, "<p>", "text/html"};
        },
        HttpListener::Access::kAnyone);
    listener_.Post("/say", [](const HttpRequest& request) { return HttpReply{200, request.body}; });
    listener_.Post("/brief", [](const HttpRequest&) { return HttpReply{200, "{}"}; }, HttpListener::Access::kToken, 100);
    listener_.Post("/throw", [](const HttpRequest&) -> HttpReply { throw Error("it broke"); });
    listener_.Observe([this](const std::string& route, int status, double seconds) {
      const std::lock_guard<std::mutex> guard(mutex_);
      seen_.push_back(Join(route, ' ', status, seconds >= 0.0 ? "" : " before it began"));  // CHECK is one thread's
      longest_s_ = std::max(longest_s_, seconds);
    });
    std::atomic<bool> ready{false};
    thread_ = std::thread([this, &ready] {
      try {
        listener_.Serve(stop_, [&](int port) { port_ = port, ready = true; });
      } catch (const Error& error) {
        problem_ = error.what();
        if (port_ < 0) ready = true;  // else the constructor has gone on
      }
      ended_ = true;
    });
    while (!ready) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ~Serving() { End(); }
  void End() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int port() const { return port_; }
  // Of the start; of what came later once it has ended.
  const std::string& problem() const { return problem_; }
  bool ended() const { return ended_; }
  const HttpListener& listener() const { return listener_; }
  std::vector<std::string> seen() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return seen_;
  }
  double longest_s() {  // that an answer took
    const std::lock_guard<std::mutex> guard(mutex_);
    return longest_s_;
  }

 private:
  HttpListener listener_;
  std::atomic<bool> stop_{false}, ended_{false};
  std::thread thread_;
  std::atomic<int> port_{-1};
  std::string problem_;
  std::mutex mutex_;
  std::vector<std::string> seen_;
  double longest_s_ = 0.0;
};

inline ListenOptions Limited(std::size_t most_body) {
  ListenOptions options;
  options.most_body = most_body;
  options.threads = 8;
  return options;
}

}  // namespace berth::test

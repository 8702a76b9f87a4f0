#include "tools/serve/extender_server.hpp"

#include <chrono>
#include <memory>
#include <mutex>

#include "env/base/check.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

double UnixTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void RouteExtender(Extender& extender, ServeMetrics& metrics, HttpListener& listener) {
  const auto one_at_a_time = std::make_shared<std::mutex>();  // the extender serves one thread
  const auto call = [&](const char* path, ExtenderReply (Extender::*answer)(const std::string&, double)) {
    listener.Post(path, [&extender, &metrics, one_at_a_time, answer](const HttpRequest& request) {
      const std::lock_guard<std::mutex> guard(*one_at_a_time);
      const ExtenderReply reply = (extender.*answer)(request.body, UnixTime());
      metrics.CountNodes(reply.nodes_passed, reply.nodes_failed);
      return HttpReply{reply.status, reply.body};
    });
  };
  call("/filter", &Extender::Filter);
  call("/prioritize", &Extender::Prioritize);
  call("/preempt", &Extender::Preempt);
  listener.Get("/metrics", [&metrics](const HttpRequest&) {
    const std::string labels = Join("version=\"", Version(), "\",commit=\"", SourceCommit(), "\"");
    return HttpReply{200, metrics.Text(labels), "text/plain; version=0.0.4"};
  });
  listener.Observe([&metrics](const std::string& route, int status, double seconds) {
    const std::string post = "POST /";
    const bool verb = route.rfind(post, 0) == 0;
    if (!verb && status == 200) return;  // whoever watches is not watched
    metrics.Count(verb ? route.substr(post.size()) : "other", status, seconds);
  });
}

}  // namespace berth

#include "tools/serve/http_server.hpp"

#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "env/base/check.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

using SteadyClock = std::chrono::steady_clock;

double SecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

double UnixTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

const char kJsonType[] = "application/json";
// A connection holds a thread from its first moment: whoever connects and says nothing must not be in the
// way of those who do. A thread that waits costs next to nothing.
constexpr int kThreads = 64;

void Fail(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(Json{{"Error", why}}.dump(-1, ' ', false, Json::error_handler_t::replace), kJsonType);
}

}  // namespace

void ServeExtender(Extender& extender, ServeMetrics& metrics, const ServeAddress& address,
                   const std::atomic<bool>& stop, const std::function<void(int port)>& ready) {
  httplib::Server server;
  std::mutex one_at_a_time;  // the extender serves one thread
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(5);
  server.set_write_timeout(5);
  server.set_tcp_nodelay(true);
  // Not httplib's own SO_REUSEPORT, with which two servers would share an address and each get half the
  // calls.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  const auto call = [&](const char* verb, ExtenderReply (Extender::*answer)(const std::string&, double)) {
    // Read piece by piece and counted here: httplib 0.11 bounds bodies that state their length and no others
    // (CVE-2025-46728).
    const auto handler = [&, verb, answer](const httplib::Request&, httplib::Response& response,
                                           const httplib::ContentReader& read) {
      const SteadyClock::time_point begin = SteadyClock::now();
      std::string body;
      bool too_long = false;
      const bool whole = read([&](const char* data, std::size_t size) {
        too_long = size > address.most_body - body.size();
        if (!too_long) body.append(data, size);
        return !too_long;
      });
      if (too_long || response.status == 413) {
        Fail(response, 413, Join("expected a body of at most ", address.most_body, " bytes (--limit)"));
      } else if (!whole) {
        Fail(response, 400, "the body ended before it was whole");
      } else {
        const std::lock_guard<std::mutex> guard(one_at_a_time);
        const ExtenderReply reply = (extender.*answer)(body, UnixTime());
        response.status = reply.status;
        response.set_content(reply.body, kJsonType);
        metrics.CountNodes(reply.nodes_passed, reply.nodes_failed);
      }
      metrics.Count(verb, response.status, SecondsSince(begin));
    };
    server.Post(std::string("/") + verb, httplib::Server::HandlerWithContentReader(handler));
  };
  call("filter", &Extender::Filter);
  call("prioritize", &Extender::Prioritize);
  server.Get("/metrics", [&](const httplib::Request&, httplib::Response& response) {
    const std::string labels = Join("version=\"", Version(), "\",commit=\"", SourceCommit(), "\"");
    response.set_content(metrics.Text(labels), "text/plain; version=0.0.4");
  });
  server.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  server.set_payload_max_length(address.most_body);
  server.set_error_handler([&](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty()) return;
    metrics.Count("other", response.status, 0.0);
    Fail(response, response.status,
         response.status == 404 ? Join("no ", request.method, ' ', request.path,
                                       ": POST /filter or /prioritize, GET /metrics or /healthz")
                                : Join("HTTP status ", response.status));
  });
  server.set_exception_handler(
      [&](const httplib::Request&, httplib::Response& response, std::exception_ptr error) {
        try {
          std::rethrow_exception(error);
        } catch (const std::exception& what) {
          Fail(response, 500, what.what());
        } catch (...) {
          Fail(response, 500, "an unknown error");
        }
        metrics.Count("other", 500, 0.0);
      });

  int port = address.port;
  const bool bound = port == 0 ? (port = server.bind_to_any_port(address.host)) > 0
                               : server.bind_to_port(address.host, port);
  if (!bound) {
    throw Error(Join("--host ", address.host, " --port ", address.port,
                     ": expected an address of this machine that is free, found one that cannot be had"));
  }
  ready(port);  // connections are queued from here on
  // One thread waits for the signal: a handler must not stop a server, and one that is blocked in accept need not run any
  // (under ThreadSanitizer it does not).
  std::atomic<bool> ended{false};
  std::thread watcher([&] {
    while (!stop.load() && !ended.load()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    server.stop();
  });
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);  // here, and in the threads that the server starts
  server.listen_after_bind();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ended = true;
  watcher.join();
}

}  // namespace berth

// Takes HTTP calls and gives them to whoever answers: the network side of `berth serve`, by cpp-httplib,
// which http_listener.cpp alone sees.
//
// It listens on a port or a UNIX socket, with TLS or without, asks for a bearer token where it has one,
// bounds bodies, headers, connections and the time of each (connection.hpp), and answers what is wrong with a
// request itself: {"Error": why} with 400 (a body cut short), 401, 403, 404, 405, 408 (too slow), 413, 414,
// 431 (long headers), 500 (the handler threw) or 503 (no connection left): by the headers before it reads the
// body, where they say it. Every answer closes its connection: a body that was refused half read is never
// taken for the next request.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/serve/connection.hpp"

namespace berth {

class Options;

struct ListenOptions {
  std::string host = "127.0.0.1";
  int port = 0;        // 0 = any that is free
  std::string socket;  // the path of a UNIX socket, in place of host and port; its owner alone can connect
  std::string certificate, key;  // PEM files (the certificate, then its chain); empty = no TLS
  std::string token;             // what "Authorization: Bearer" must say; empty = nothing is asked
  std::size_t most_body = std::size_t{1} << 26;  // bytes; larger bodies get 413
  // A connection holds a thread from its first moment: whoever connects and says nothing must not be in the
  // way of those who do. A thread that waits costs next to nothing. Further ones wait for a thread, and those
  // beyond get 503.
  int threads = 64, most_waiting = 192;
  ConnectionLimits limits = {};  // most_bytes is made of most_body
};

struct HttpRequest {
  std::string method, path, body;              // "POST", "/filter": without what follows '?'
  std::map<std::string, std::string> query;    // decoded; the first of each name
  std::map<std::string, std::string> headers;  // names in lower case; the first of each
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// {"Error": why}
HttpReply HttpError(int status, const std::string& why);

class HttpListener {
 public:
  // Called from many threads at once.
  using Handler = std::function<HttpReply(const HttpRequest& request)>;
  // Called for each answer, with the seconds since the whole request was there; route: "POST /filter", ""
  // where the request was for none that there is, or was cut off before it named one (408, 431, 503: 0 s). On
  // any thread.
  using Observer = std::function<void(const std::string& route, int status, double seconds)>;
  enum class Access { kToken, kAnyone };  // whether the token is asked for, where there is one

  // GET /healthz says "ok" to anyone, from the start.
  explicit HttpListener(ListenOptions options);

  // `path` exactly. Call before Serve.
  void Get(const std::string& path, Handler handler, Access access = Access::kToken);
  // A body larger than `most_body`, bytes, or than the options' gets 413.
  void Post(const std::string& path, Handler handler, Access access = Access::kToken,
            std::size_t most_body = SIZE_MAX);
  // Answers, but for its health, only who asks for this machine by an address or by its own name
  // (own_host.hpp). So it is without being told where it listens on the loopback.
  void DemandOwnHost() { own_host_ = true; }
  void Observe(Observer observer) { observer_ = std::move(observer); }

  // Serves until `stop`; `ready` is told the port (0 for a socket) once connections are taken. Throws Error:
  // the address is taken or cannot be had, the certificate and its key are none, the socket fails later.
  void Serve(const std::atomic<bool>& stop, const std::function<void(int port)>& ready);

  // How to reach it: "http://127.0.0.1:8899", "https://...", or "unix:PATH".
  std::string Url(int port) const;
  // The arguments of curl that ask for a path (without a token).
  std::string Curl(int port, const std::string& path) const;
  const ListenOptions& options() const { return options_; }

 private:
  struct Route {
    Handler handler;
    Access access = Access::kToken;
    std::size_t most_body = 0;
  };
  struct Network;                                          // what sees cpp-httplib
  const Route* RouteOf(const HttpRequest& request) const;  // null = there is none
  // Why it is refused, by its headers alone, whatever its body; 200 where it is not, and Answer may be asked.
  HttpReply Check(const HttpRequest& request) const;
  HttpReply Answer(const HttpRequest& request) const;
  std::string RouteName(const HttpRequest& request) const;  // what Observer is told

  ListenOptions options_;
  std::map<std::pair<std::string, std::string>, Route> routes_;  // by method and path
  Observer observer_;
  bool own_host_ = false;
};

// The options of a verb that listens: --host, --port, --socket, --tls-cert, --tls-key, --token-file, --limit.
void DeclareListening(Options& options, int port);
// Throws Error, also for a token file that holds no token.
ListenOptions ReadListening(const Options& options);

}  // namespace berth

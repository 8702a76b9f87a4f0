#include "tools/serve/http_listener.hpp"

#include <httplib.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "tools/serve/bounded_queue.hpp"
#include "tools/serve/connection.hpp"
#include "tools/serve/error_json.hpp"
#include "tools/serve/own_host.hpp"
#include "tools/serve/tls.hpp"

namespace berth {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostPath = 1024;  // httplib's regular expressions recurse over it
constexpr char kHealth[] = "/healthz";

// Takes as long wherever they differ.
bool SameSecret(const std::string& expected, const std::string& found) {
  unsigned char difference = expected.size() == found.size() ? 0 : 1;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (found[i] ^ expected[i % expected.size()]));
  }
  return difference == 0;
}

std::string HeaderOf(const HttpRequest& request, const std::string& name) {
  const auto at = request.headers.find(name);
  return at == request.headers.end() ? "" : at->second;
}

HttpRequest Plain(const httplib::Request& from) {
  HttpRequest request;
  request.method = from.method == "HEAD" ? "GET" : from.method;
  request.path = from.path;
  request.query.insert(from.params.begin(), from.params.end());
  for (const auto& [name, value] : from.headers) request.headers.emplace(Lower(name), value);
  return request;
}

// A UNIX socket's file, from before it is made to its end.
class SocketFile {
 public:
  // Makes room: a socket that nobody listens at any more is removed.
  explicit SocketFile(std::string path) : path_(std::move(path)) {
    sockaddr_un address = {};
    if (path_.size() >= sizeof(address.sun_path)) {
      throw Error(Join("--socket ", path_, ": expected a path of at most ", sizeof(address.sun_path) - 1,
                       " bytes, found ", path_.size()));
    }
    struct stat status = {};
    if (lstat(path_.c_str(), &status) != 0) return;
    if (!S_ISSOCK(status.st_mode)) {
      throw Error(Join("--socket ", path_, ": expected a socket or nothing, found another file"));
    }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size());
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool dead = probe >= 0 &&
                      connect(probe, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 &&
                      errno == ECONNREFUSED;
    if (probe >= 0) close(probe);
    if (!dead) throw Error(Join("--socket ", path_, ": another process listens there"));
    unlink(path_.c_str());
  }
  void Made() { made_ = stat(path_.c_str(), &is_) == 0; }
  // Not what another process has put there since.
  ~SocketFile() {
    struct stat now = {};
    if (made_ && lstat(path_.c_str(), &now) == 0 && now.st_dev == is_.st_dev && now.st_ino == is_.st_ino) {
      unlink(path_.c_str());
    }
  }
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  std::string path_;
  struct stat is_ = {};
  bool made_ = false;
};

// The port, 0 for a socket.
int Bind(httplib::Server& server, const ListenOptions& options) {
  if (!options.socket.empty()) {
    // The mode that the file gets is that of the socket before it is bound; a umask would be every thread's.
    server.set_address_family(AF_UNIX);
    server.set_socket_options([](socket_t socket) { fchmod(socket, 0600); });
    if (server.bind_to_port(options.socket, 1)) return 0;  // any number: httplib asks for one
    throw Error(Join("--socket ", options.socket,
                     ": expected a path where a socket can be made: ", std::strerror(errno)));
  }
  // Not httplib's own SO_REUSEPORT, with which two servers would share an address and each get half the
  // calls.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  server.set_tcp_nodelay(true);
  const int port = options.port == 0                                 ? server.bind_to_any_port(options.host)
                   : server.bind_to_port(options.host, options.port) ? options.port
                                                                     : -1;
  if (port > 0) return port;
  throw Error(Join("--host ", options.host, " --port ", options.port,
                   ": expected an address of this machine that is free, found one that cannot be had"));
}

// Bytes of a request in which the header Range is one of another name, so that answers are whole. httplib
// 0.11 reads ranges by a recursion that ends a thread with a stack of two megabytes, and compares them with
// nothing: they would be of the memory behind the answer.
class NoRanges {
 public:
  void Hide(char* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size && in_head_; ++i) {
      char& c = bytes[i];
      if (c == '\n') {
        in_head_ = line_ != "\r";
        line_.clear();
      } else if (line_.size() < kRange.size()) {
        line_ += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (line_ == kRange) c = '-';
      }
    }
  }

 private:
  const std::string kRange = "range";
  std::string line_;  // its begin, in lower case
  bool in_head_ = true;
};

// How httplib reads and writes a connection.
class HttpStream : public httplib::Stream {
 public:
  explicit HttpStream(Connection& connection) : connection_(connection) {}
  bool is_readable() const override { return connection_.end() == Connection::End::kNone; }
  bool is_writable() const override { return connection_.Writable(); }
  ssize_t read(char* to, std::size_t size) override {
    const ssize_t count = connection_.Read(to, size);
    if (count > 0) ranges_.Hide(to, static_cast<std::size_t>(count));
    return count;
  }
  ssize_t write(const char* from, std::size_t size) override { return connection_.Write(from, size); }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return connection_.socket(); }

 private:
  Connection& connection_;
  NoRanges ranges_;
};

// What a request was cut off for before there was one; 0 where it was not.
int StatusOf(const Connection& connection) {
  if (!connection.in_head()) return 0;
  if (connection.end() == Connection::End::kHead) return 431;
  return connection.end() == Connection::End::kTime ? 408 : 0;
}

HttpReply CutOff(int status, const ListenOptions& options) {
  return HttpError(
      status, status == 431 ? Join("expected headers of at most ", options.limits.most_head, " bytes in all")
              : status == 408 ? Join("expected all headers within ", options.limits.head_s, " s")
                              : std::string("all connections that it takes at a time are in use"));
}

// Where httplib has not understood enough to answer.
std::string RawReply(int status, const ListenOptions& options) {
  const std::string body = CutOff(status, options).body;
  return Join("HTTP/1.1 ", status, ' ',
              status == 431   ? "Request Header Fields Too Large"
              : status == 408 ? "Request Timeout"
                              : "Service Unavailable",
              "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ", body.size(),
              "\r\n\r\n", body);
}

// httplib's server, but for what it does itself with a socket: it has no limit to a header without an end, to
// the time that a slow client takes, and to the connections that wait.
class LimitedServer : public httplib::Server {
 public:
  // `observer` may be empty.
  LimitedServer(const ListenOptions& options, HttpListener::Observer observer)
      : options_(options), observer_(std::move(observer)), tls_(MakeTls(options.certificate, options.key)) {
    options_.limits.most_bytes = 2 * options_.most_body;  // room for the sizes of pieces
    new_task_queue = [this] {
      return new BoundedQueue(options_.threads, static_cast<std::size_t>(options_.most_waiting));
    };
  }
  void Stop() {
    stop_ = true;
    stop();
  }
  bool on_loopback() const { return OnLoopback(svr_sock_); }
  // On a thread that answers: the connection that it has.
  static const Connection* Now() { return Current(); }

 private:
  static const Connection*& Current() {
    static thread_local const Connection* current = nullptr;
    return current;
  }
  bool process_and_close_socket(socket_t socket) override {
    if (BoundedQueue::refusing()) {
      const std::string reply = tls_ == nullptr ? RawReply(503, options_) : "";
      if (observer_) observer_("", 503, 0.0);
      send(socket, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      close(socket);
      return false;
    }
    Connection connection(socket, tls_.get(), options_.limits, stop_);
    HttpStream stream(connection);
    Current() = &connection;
    bool closed = false;
    const bool done =
        process_request(stream, /*close_connection=*/true, closed,
                        [](httplib::Request& request) { request.headers.erase("Accept-Encoding"); });
    Current() = nullptr;
    if (const int status = StatusOf(connection); status != 0 && !connection.answered()) {
      const std::string reply = RawReply(status, options_);
      if (observer_) observer_("", status, 0.0);
      connection.Write(reply.data(), reply.size());
    }
    return done;
  }

  ListenOptions options_;
  HttpListener::Observer observer_;
  std::shared_ptr<ssl_ctx_st> tls_;
  std::atomic<bool> stop_{false};
};

}  // namespace

HttpReply HttpError(int status, const std::string& why) {
  return {status, ErrorJson(why)};
}

// The httplib server with what every listener does.
struct HttpListener::Network {
  const HttpListener& of;
  std::unique_ptr<LimitedServer> server;

  explicit Network(const HttpListener& listener)
      : of(listener), server(std::make_unique<LimitedServer>(listener.options_, listener.observer_)) {
    server->set_payload_max_length(of.options_.most_body);
    server->set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      HttpReply reply = CheckLine(request);
      if (reply.status == 200) return httplib::Server::HandlerResponse::Unhandled;
      Send(std::move(reply), "", SteadyClock::now(), response);
      return httplib::Server::HandlerResponse::Handled;
    });
    server->Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      const SteadyClock::time_point begin = SteadyClock::now();
      const HttpRequest plain = Plain(request);
      HttpReply reply = of.Check(plain);
      Send(reply.status == 200 ? of.Answer(plain) : std::move(reply), of.RouteName(plain), begin, response);
    });
    server->Post(".*", [this](const httplib::Request& request, httplib::Response& response,
                              const httplib::ContentReader& read) {
      HttpRequest plain = Plain(request);
      HttpReply reply = of.Check(plain);
      if (reply.status == 200) {
        const std::size_t most = MostBody(plain);
        reply = CheckBody(request, most);
        if (reply.status == 200) reply = ReadBody(response, read, most, plain.body);
      }
      // A client that sends slowly is no slow answer.
      const SteadyClock::time_point begin = SteadyClock::now();
      Send(reply.status == 200 ? of.Answer(plain) : std::move(reply), of.RouteName(plain), begin, response);
    });
    // Who asks before it sends a body is told now; nobody is asked for one that is refused.
    server->set_expect_100_continue_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const HttpRequest plain = Plain(request);
          HttpReply reply = CheckLine(request);
          if (reply.status == 200) reply = of.Check(plain);
          if (reply.status == 200 && request.method == "POST") reply = CheckBody(request, MostBody(plain));
          if (reply.status == 200) return 100;
          Send(std::move(reply), of.RouteName(plain), SteadyClock::now(), response);
          return response.status;
        });
    // What httplib itself refuses.
    server->set_error_handler([this](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const Connection* const now = LimitedServer::Now();
      const int cut_off = now == nullptr ? 0 : StatusOf(*now);
      Send(cut_off != 0 ? CutOff(cut_off, of.options_)
                        : HttpError(response.status, Join("HTTP status ", response.status)),
           "", SteadyClock::now(), response);
    });
  }

  // Why it is refused by its first line alone, before there may be a route; 200 where it is not.
  static HttpReply CheckLine(const httplib::Request& request) {
    if (request.method != "GET" && request.method != "HEAD" && request.method != "POST")
      return HttpError(405, "expected GET or POST");
    if (request.path.size() <= kMostPath) return {};
    return HttpError(414, Join("expected a path of at most ", kMostPath, " bytes"));
  }

  std::size_t MostBody(const HttpRequest& request) const {  // of one that Check passed
    return std::min(of.options_.most_body, of.RouteOf(request)->most_body);
  }

  // By what the headers say of it.
  HttpReply CheckBody(const httplib::Request& request, std::size_t most) const {
    if (request.is_multipart_form_data()) return HttpError(415, "expected a body that is no form");
    return request.get_header_value<std::uint64_t>("Content-Length") > most ? TooLong(most) : HttpReply();
  }

  // Piece by piece and counted here: httplib 0.11 bounds bodies that state their length and no others
  // (CVE-2025-46728).
  HttpReply ReadBody(const httplib::Response& response, const httplib::ContentReader& read, std::size_t most,
                     std::string& body) const {
    bool too_long = false;
    const bool whole = read([&](const char* data, std::size_t size) {
      too_long = size > most - body.size();
      if (!too_long) body.append(data, size);
      return !too_long;
    });
    if (too_long || response.status == 413) return TooLong(most);
    return whole ? HttpReply() : HttpError(400, "the body ended before it was whole");
  }

  HttpReply TooLong(std::size_t most) const {
    return HttpError(413, Join("expected a body of at most ", most, " bytes",
                               most == of.options_.most_body ? " (--limit)" : ""));
  }

  void Send(HttpReply reply, const std::string& route, SteadyClock::time_point begin,
            httplib::Response& response) const {
    response.status = reply.status;
    for (const auto& [name, value] : reply.headers) response.set_header(name, value);
    if (reply.status >= 400 || reply.body.empty()) {
      response.set_content(std::move(reply.body), reply.type);
    } else {
      // By a provider, for httplib compresses what is text for whoever can read that, by Brotli's slowest:
      // seconds for two megabytes, and a browser is mostly on the same machine.
      const auto body = std::make_shared<const std::string>(std::move(reply.body));
      response.set_content_provider(
          body->size(), reply.type, [body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
            if (offset >= body->size()) return false;
            return sink.write(body->data() + offset, std::min(length, body->size() - offset));
          });
    }
    if (!of.observer_) return;
    of.observer_(route, reply.status, std::chrono::duration<double>(SteadyClock::now() - begin).count());
  }
};

HttpListener::HttpListener(ListenOptions options) : options_(std::move(options)) {
  Get(
      kHealth,
      [](const HttpRequest&) {
        return HttpReply{200, "ok\n", "text/plain"};
      },
      Access::kAnyone);
}

void HttpListener::Get(const std::string& path, Handler handler, Access access) {
  routes_[{"GET", path}] = {std::move(handler), access, 0};
}

void HttpListener::Post(const std::string& path, Handler handler, Access access, std::size_t most_body) {
  routes_[{"POST", path}] = {std::move(handler), access, most_body};
}

const HttpListener::Route* HttpListener::RouteOf(const HttpRequest& request) const {
  const auto route = routes_.find({request.method, request.path});
  return route == routes_.end() ? nullptr : &route->second;
}

std::string HttpListener::RouteName(const HttpRequest& request) const {
  return RouteOf(request) == nullptr ? "" : request.method + ' ' + request.path;
}

HttpReply HttpListener::Check(const HttpRequest& request) const {
  const Route* const route = RouteOf(request);
  const bool open = options_.token.empty() || (route != nullptr && route->access == Access::kAnyone);
  const std::string bearer = "Bearer ", said = HeaderOf(request, "authorization");
  if (!open && !(said.rfind(bearer, 0) == 0 && SameSecret(options_.token, said.substr(bearer.size())))) {
    HttpReply reply = HttpError(401, "expected 'Authorization: Bearer TOKEN' with the token of --token-file");
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  }
  // Whether it lives is no secret, and probes have other names for this machine. No browser opens a UNIX
  // socket.
  const std::string host = HeaderOf(request, "host"), origin = HeaderOf(request, "origin");
  if (own_host_ && options_.socket.empty() && request.path != kHealth && !IsOwnHost(host, options_.host)) {
    return HttpError(403, Join("expected this machine's address as Host, found '", host, "'"));
  }
  if (request.method == "POST" && FromElsewhere(origin, host)) {
    return HttpError(403, Join("a page of ", origin, " may not call this server"));
  }
  if (route == nullptr) {
    std::string there;
    for (const auto& [key, value] : routes_) {
      there += Join(there.empty() ? "" : ", ", key.first, ' ', key.second);
    }
    return HttpError(404, Join("no ", request.method, ' ', request.path, "; there is ", there));
  }
  return {};
}

HttpReply HttpListener::Answer(const HttpRequest& request) const {
  try {
    return RouteOf(request)->handler(request);
  } catch (const std::exception& error) {
    return HttpError(500, error.what());
  } catch (...) {
    return HttpError(500, "an unknown error");
  }
}

void HttpListener::Serve(const std::atomic<bool>& stop, const std::function<void(int port)>& ready) {
  Network network(*this);
  LimitedServer& server = *network.server;
  std::unique_ptr<SocketFile> file;
  if (!options_.socket.empty()) file = std::make_unique<SocketFile>(options_.socket);
  const int port = Bind(server, options_);
  if (file != nullptr) file->Made();
  if (server.on_loopback()) own_host_ = true;
  ready(port);  // connections are queued from here on
  // One thread waits for the signal: a handler must not stop a server, and one that is blocked in accept need
  // not run any (under ThreadSanitizer it does not).
  std::atomic<bool> ended{false};
  std::thread watcher([&] {
    while (!stop.load() && !ended.load()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    // httplib does not hear it before it runs.
    while (!server.is_running() && !ended.load()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    server.Stop();
  });
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);  // here, and in the threads that the server starts
  const bool whole = server.listen_after_bind();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ended = true;
  watcher.join();
  if (whole || stop.load()) return;
  throw Error(Join(options_.socket.empty() ? Join("--host ", options_.host, " --port ", port)
                                           : Join("--socket ", options_.socket),
                   ": the socket that it listens on failed"));
}

std::string HttpListener::Url(int port) const {
  if (!options_.socket.empty()) return "unix:" + options_.socket;
  const bool six = options_.host.find(':') != std::string::npos;  // IPv6
  return Join(options_.certificate.empty() ? "http://" : "https://", six ? "[" : "", options_.host,
              six ? "]" : "", ':', port);
}

std::string HttpListener::Curl(int port, const std::string& path) const {
  if (!options_.socket.empty()) return Join("--unix-socket ", options_.socket, " http://localhost", path);
  return Join(options_.certificate.empty() ? "" : "--cacert CA.pem ", Url(port), path);
}

}  // namespace berth

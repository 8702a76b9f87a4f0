// Bytes as they come on the socket: of `serve --extender` ('e') and of the page for operators ('o', with a token 't').
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/fuzz/served.hpp"
#include "tests/fuzz/targets.hpp"
#include "tools/controller/status.hpp"
#include "tools/operators/operators.hpp"
#include "tools/serve/extender_server.hpp"

namespace berth::fuzz {
namespace {

// Serves until the process ends.
class Served {
 public:
  template <class Route>
  Served(const char* name, const std::string& token, const Route& route) : path_(Path(name)), listener_(Listening(path_, token)) {
    route(listener_);
    thread_ = std::thread([this] { listener_.Serve(stop_, [this](int) { ready_ = true; }); });
    while (!ready_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Served() {
    stop_ = true;
    thread_.join();
  }

  // What it answers before it closes.
  std::string Ask(std::string_view bytes) const {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size());
    if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) Fail("nobody listens any more");
    while (!bytes.empty()) {
      const ssize_t n = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) break;  // it has answered already
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    shutdown(socket, SHUT_WR);
    std::string answer;
    char buffer[4096];
    for (ssize_t n = 0; (n = recv(socket, buffer, sizeof(buffer), 0)) > 0;) answer.append(buffer, static_cast<std::size_t>(n));
    close(socket);
    return answer;
  }

 private:
  static ListenOptions Listening(const std::string& path, const std::string& token) {
    ListenOptions options;
    options.socket = path;
    options.token = token;
    options.threads = 4;
    options.most_body = 1 << 16;
    return options;
  }
  std::string path_;
  HttpListener listener_;
  std::atomic<bool> stop_{false}, ready_{false};
  std::thread thread_;
};

Served& ServedExtender() {
  static Extender extender = MakeExtender();
  static ServeMetrics metrics;
  static Served served("extender.sock", "", [](HttpListener& listener) { RouteExtender(extender, metrics, listener); });
  return served;
}

Served& ServedOperators(bool token) {
  static StatusBoard board(true);
  static const bool published = (board.Publish(Json::parse(kStatus)), true);
  (void)published;
  const auto route = [](HttpListener& listener) { RouteOperators(board, listener); };
  static Served open("operators.sock", "", route);
  static Served closed("token.sock", "secret", route);
  return token ? closed : open;
}

}  // namespace

bool Run_http(Bytes bytes) {
  if (bytes.empty()) return false;
  const std::string_view sent(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1);
  const char which = static_cast<char>(bytes[0]);
  if (which != 'e' && which != 'o' && which != 't') return false;
  const Served& served = which == 'e' ? ServedExtender() : ServedOperators(which == 't');
  const std::string answer = served.Ask(sent);
  if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) Fail("an answer that is no HTTP: " + answer.substr(0, 80));
  if (answer.starts_with("HTTP/1.1 500")) Fail("a handler threw: " + answer);
  return true;
}

}  // namespace berth::fuzz

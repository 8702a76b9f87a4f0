// What no client can do to `berth serve`: fill its memory, hold its threads, reach a file, or outlast it.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/extender_support.hpp"
#include "tests/http_client.hpp"
#include "tests/sanitized.hpp"
#include "tests/serving.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Body;
using test::Exchange;
using test::ExchangeOn;
using test::Get;
using test::Limited;
using test::Post;
using test::Serving;
using test::StatusOf;
using test::TemporaryFolder;

// What a connection says until the server closes it, and after how many seconds.
std::pair<std::string, double> UntilClosed(int connection, const std::string& sent) {
  const auto begin = std::chrono::steady_clock::now();
  std::string said = ExchangeOn(connection, sent);
  return {std::move(said), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

// How often it has told of such an answer.
std::ptrdiff_t TimesTold(Serving& serving, const std::string& answer) {
  const std::vector<std::string> seen = serving.seen();
  return std::count(seen.begin(), seen.end(), answer);
}

// `berth serve --extender` by the shell, for the folder's p.h5; `as` is put before its name.
class ExtenderChild {
 public:
  ExtenderChild(const TemporaryFolder& folder, const std::string& before, const std::string& as = "") : said_(folder / "said") {
    const std::string command = Join("cd '", folder.path(), "' && ", before, "{ ", as, BERTH_BINARY,
                                     " serve --extender --policy p.h5 --table '", test::serve::kFiles,
                                     "table.json' --port 0 --json serve.json >said 2>&1 & echo $! >process; }");
    REQUIRE(std::system(command.c_str()) == 0);
    process_ = std::atoi(test::Slurp(folder / "process").c_str());
    REQUIRE(process_ > 0);
    port_ = test::ServedPort(folder, process_);
    CAPTURE(test::Slurp(said_));
    CHECK(port_ > 0);
  }
  ~ExtenderChild() {
    if (process_ > 0) kill(process_, SIGKILL);
  }
  ExtenderChild(const ExtenderChild&) = delete;
  ExtenderChild& operator=(const ExtenderChild&) = delete;
  // By its own word.
  void End() {
    kill(process_, SIGINT);
    const auto ended = [this] { return test::Slurp(said_).find("berth serve: ended") != std::string::npos; };
    for (int tenths = 0; tenths < 300 && !ended(); ++tenths) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(ended());
    process_ = 0;
  }
  int port() const { return port_; }
  pid_t process() const { return process_; }

 private:
  std::string said_;
  pid_t process_ = 0;
  int port_ = 0;
};

}  // namespace

TEST_CASE("http_limits: headers without end are cut off, in one line, in many, and in the first") {
  ListenOptions options = Limited(1000);
  options.limits.most_head = 10000;
  Serving serving(options);
  const int port = serving.port();
  std::string many = "GET /read HTTP/1.1\r\nHost: localhost\r\n";
  while (many.size() < (10 << 20)) many += "X: " + std::string(1000, 'x') + "\r\n";  // 10 MB
  const std::string of_many = Exchange(port, many);
  CHECK(StatusOf(of_many) == 431);
  CHECK_THAT(Body(of_many), Contains("headers of at most 10000 bytes in all"));
  CHECK(StatusOf(Exchange(port, "GET /read HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(10 << 20, 'x'))) == 431);
  CHECK(StatusOf(Exchange(port, "GET /" + std::string(10 << 20, 'x'))) == 431);
  CHECK(StatusOf(Exchange(port, std::string(10 << 20, '\n'))) != 200);
  CHECK(StatusOf(Exchange(port, std::string(20000, '\0'))) != 200);
  // Just within, in lines that httplib takes.
  std::string within = "GET /read HTTP/1.1\r\nHost: localhost\r\n";
  while (within.size() < 9000) within += "X: " + std::string(1000, 'x') + "\r\n";
  CHECK(StatusOf(Exchange(port, within + "\r\n")) == 200);
  CHECK(Body(Exchange(port, Get("/healthz"))) == "ok\n");
}

TEST_CASE("http_limits: pieces without end are cut off, also in what is no body") {
  Serving serving(Limited(100000));
  const int port = serving.port();
  const std::string head = "POST /say HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string pieces = head;
  while (pieces.size() < (1 << 20)) pieces += "3e8\r\n" + std::string(1000, 'x') + "\r\n";
  CHECK(StatusOf(Exchange(port, pieces)) == 413);
  CHECK(StatusOf(Exchange(port, head + "1;" + std::string(10 << 20, 'x'))) != 200);  // a piece's size without end
  CHECK(StatusOf(Exchange(port, head + "0\r\n" + std::string(10 << 20, 'x'))) != 200);  // a trailer's line
  CHECK(StatusOf(Exchange(port, head + "zz\r\nx\r\n0\r\n\r\n")) == 400);
  CHECK(Body(Exchange(port, head + "5\r\nhello\r\n0\r\n\r\n")) == "hello");
  CHECK(Body(Exchange(port, Get("/healthz"))) == "ok\n");
}

// httplib 0.11 compares ranges with nothing: they would be of the memory behind the answer.
TEST_CASE("http_limits: an answer is whole and as it is, whatever ranges and compressions are asked for") {
  Serving serving(Limited(1000));
  const int port = serving.port();
  std::string many = "bytes=-";
  while (many.size() < 8000) many += ",-";
  for (const std::string& range : {std::string("bytes=0-300000"), std::string("bytes=0-99999999999"), std::string("bytes=4000-"),
                                   std::string("bytes=0-0"), std::string("bytes=-99999"), std::string("bytes=0-0,1-1"), many, many + ",9-1", "bytes=" + std::string(8000, '1'),
                                   std::string("9"), std::string("bytes=9-1")}) {
    CAPTURE(range.substr(0, 40));
    for (const std::string& path : {std::string("/healthz"), std::string("/read?q=ok%0a")}) {
      const std::string said = Exchange(port, Get(path, Join("Range: ", range, "\r\n")));
      CHECK(StatusOf(said) == 200);
      CHECK(Body(said) == "ok\n");
      CHECK_THAT(said, Contains("Content-Length: 3\r\n") && !Contains("Content-Range"));
    }
    CHECK(Body(Exchange(port, Post("/say", "hello", Join("Range: ", range, "\r\n")))) == "hello");
    const std::string refused = Exchange(port, Get("/nowhere", Join("Range: ", range, "\r\n")));
    CHECK(StatusOf(refused) == 404);
    CHECK_THAT(Body(refused), Contains("no GET /nowhere; there is "));
  }
  for (const char* name : {"range", "RANGE", "X: y\r\nrAnGe", "Range: bytes=0-0\r\nRange"}) {
    CAPTURE(name);
    CHECK(Body(Exchange(port, Get("/healthz", Join(name, ": bytes=0-300000\r\n")))) == "ok\n");
  }
  const std::string said = "x\r\n\r\nRange: bytes=0-0\r\n";  // a body is what it is
  CHECK(Body(Exchange(port, Post("/say", said))) == said);
  const std::string plain = Exchange(port, Get("/nowhere", "Accept-Encoding: gzip, br\r\n"));
  CHECK_THAT(plain, Contains("no GET /nowhere") && !Contains("Content-Encoding"));
}

TEST_CASE("http_limits: a body counts as it is unpacked, and a long reason is cut") {
  Serving serving(Limited(1000));
  const auto say = [&](const std::string& body) {
    return Exchange(serving.port(), Post("/say", body, "Content-Encoding: gzip\r\n"));
  };
  // python3 -c "import gzip; print(gzip.compress(b'x' * 5000, mtime=0))", and of b'hello'.
  const char many[] = "\x1f\x8b\x08\0\0\0\0\0\x02\x03\xed\xc1\x31\x01\0\0\0\xc2\xa0\xda\x8b\x6f\x0a\x3f\xa0\0\0\0\0\x80\xb7\x01\x26\xf0\xdb\0\x88\x13\0";
  const char hello[] = "\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0";
  CHECK(StatusOf(say(std::string(many, sizeof(many)))) == 413);
  CHECK(Body(say(std::string(hello, sizeof(hello)))) == "hello");
  const std::string why = Json::parse(HttpError(400, std::string(5000, 'x')).body)["Error"];
  CHECK(why == std::string(997, 'x') + "...");
}

TEST_CASE("http_limits: who sends a byte now and then is cut off by the clock, whatever it sends") {
  ListenOptions options = Limited(1000);
  options.limits.silence_s = 2.0, options.limits.head_s = 0.5, options.limits.request_s = 1.0;
  Serving serving(options);
  const int port = serving.port();
  // Slowloris: a header, and never its end. The client writes until it cannot; what it is told is 408.
  const auto drip = [&](const std::string& begin, const std::string& more) {
    const int connection = test::Connect(port);
    REQUIRE(connection >= 0);
    send(connection, begin.data(), begin.size(), MSG_NOSIGNAL);
    char byte = 0;
    for (int tenths = 0; tenths < 300; ++tenths) {
      if (send(connection, more.data(), more.size(), MSG_NOSIGNAL) <= 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const ssize_t count = recv(connection, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
      if (count >= 0 || errno != EAGAIN) break;  // an answer, or the end
    }
    return UntilClosed(connection, "").first;
  };
  CHECK(StatusOf(drip("GET /read HTTP/1.1\r\nHost: localhost\r\n", "X: y\r\n")) == 408);
  CHECK(StatusOf(drip("", "G")) == 408);
  CHECK(StatusOf(drip("POST /say HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n", "x")) == 400);
  CHECK(StatusOf(drip("", "")) == 408);  // nothing at all
  CHECK(TimesTold(serving, " 408") == 3);
  CHECK(TimesTold(serving, "POST /say 400") == 1);
  CHECK(serving.longest_s() < 0.5);  // the second that the client took is its own
  CHECK(Body(Exchange(port, Get("/healthz"))) == "ok\n");
}

TEST_CASE("http_limits: who reads its answer slowly is cut off too") {
  ListenOptions options = Limited(50 << 20);
  options.limits.answer_s = 0.5;
  Serving serving(options);
  // The answer is larger than what the sockets hold.
  const std::string sent = Post("/say", std::string(40 << 20, 'x'));
  const int connection = test::Connect(serving.port());
  REQUIRE(connection >= 0);
  for (std::size_t done = 0; done < sent.size();) {
    const ssize_t n = send(connection, sent.data() + done, sent.size() - done, MSG_NOSIGNAL);
    REQUIRE(n > 0);
    done += static_cast<std::size_t>(n);
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const std::string got = UntilClosed(connection, "").first;
  CHECK(got.size() < sent.size());
  CHECK(Body(Exchange(serving.port(), Get("/healthz"))) == "ok\n");
}

TEST_CASE("http_limits: ten thousand connections hold so many and no more, and the others are told") {
  ListenOptions options = Limited(1000);
  options.threads = 4, options.most_waiting = 20, options.limits.head_s = options.limits.silence_s = 60.0;
  std::vector<int> held;
  int refused = 0;
  {
    Serving serving(options);
    const int port = serving.port();
    const auto files = [] {
      return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
    };
    const auto before = files();
    for (int i = 0; i < 10000; ++i) {
      const int connection = test::Connect(port);
      REQUIRE(connection >= 0);
      if (held.size() < 24) {
        held.push_back(connection);
        std::this_thread::sleep_for(std::chrono::milliseconds(held.size() == 24 ? 500 : 5));  // until they are taken
        continue;
      }
      const std::string said = ExchangeOn(connection, i % 100 == 0 ? Get("/healthz") : "");
      // What was sent may cross the answer, and then none comes; who sent nothing is told.
      refused += StatusOf(said) == 503 || (i % 100 == 0 && said.empty());
    }
    CHECK(refused == 10000 - 24);
    CHECK(TimesTold(serving, " 503") == refused);
    CHECK(files() <= before + 24 + 24 + 2);
    // They go, and there is room.
    for (const int connection : held) close(connection);
    bool answered = false;
    for (int tries = 0; tries < 100 && !answered; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      answered = Body(Exchange(port, Get("/healthz"))) == "ok\n";
    }
    CHECK(answered);
  }
}

TEST_CASE("http_limits: an end is not held up by who is slow") {
  ListenOptions options = Limited(1000);
  options.limits.head_s = options.limits.silence_s = options.limits.request_s = 600.0;
  Serving serving(options);
  const int silent = test::Connect(serving.port()), half = test::Connect(serving.port());
  const std::string begin = "POST /say HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx";
  send(half, begin.data(), begin.size(), MSG_NOSIGNAL);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  serving.End();  // else the test ends after ten minutes
  close(silent), close(half);
}

TEST_CASE("http_limits: no path leads to a file, however it is written") {
  const TemporaryFolder folder;
  std::ofstream(folder / "secret") << "a secret of this machine";
  Serving serving(Limited(1000));
  const int port = serving.port();
  for (const std::string& path :
       {std::string("/../../../../../../etc/passwd"), std::string("/%2e%2e/%2e%2e/%2e%2e/etc/passwd"), std::string("/..%2f..%2fetc/passwd"),
        std::string("//etc/passwd"), std::string("/etc/passwd%00"), std::string("/read/../../etc/passwd"), std::string("/page/..%5c..%5cetc"),
        std::string("file:///etc/passwd"), folder / "secret", "/read" + (folder / "secret"), std::string("/."), std::string("/page/"),
        std::string("/%70age/../etc/passwd")}) {
    CAPTURE(path);
    const std::string said = Exchange(port, Get(path));
    CHECK((StatusOf(said) == 404 || StatusOf(said) == 400));
    CHECK_THAT(said, !Contains("root:") && !Contains("a secret"));
  }
  // A query and a body are texts for a handler, never names.
  CHECK(Body(Exchange(port, Get("/read?q=/etc/passwd"))) == "/etc/passwd");
}

TEST_CASE("http_limits: requests that are none are answered or dropped, and the next one is served") {
  Serving serving(Limited(1000));
  const int port = serving.port();
  for (const std::string& request :
       {std::string("GET\r\n\r\n"), std::string("GET /read\r\n\r\n"), std::string("GET /read HTTP/9.9\r\n\r\n"), std::string("\r\n\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("GET /read HTTP/1.1\r\nNo colon here\r\n\r\n"),
        std::string("GET /read HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n: empty\r\n\r\n"),
        std::string("POST /say HTTP/1.1\r\nContent-Length: -1\r\n\r\nx"), std::string("POST /say HTTP/1.1\r\nContent-Length: 1e9\r\n\r\nx"),
        std::string("POST /say HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        std::string("GET /read?%zz=%& HTTP/1.1\r\n\r\n"), std::string("GET /read HTTP/1.1\r\nRange: bytes=9-1,0-99999999999999\r\n\r\n"),
        std::string("\0\1\2\3\r\n\r\n", 8), std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)}) {
    CAPTURE(request);
    const std::string said = Exchange(port, request, /*finish=*/true);
    CHECK((said.empty() || StatusOf(said) >= 200));
    CHECK(said.find("HTTP/1.1", 1) == std::string::npos);  // one answer, and never a second request
    CHECK(Body(Exchange(port, Get("/healthz"))) == "ok\n");
  }
}

TEST_CASE("http_limits: no header ends a thread with a small stack", "[binary]") {
  const TemporaryFolder folder;
  SaveBundle(test::serve::Bundle(), folder / "p.h5");
  // What the threads of a process without a limit to its stack have.
  ExtenderChild server(folder, test::kSanitized ? "" : "ulimit -s 2048 && ");
  CHECK(Body(Exchange(server.port(), Get("/healthz"))) == "ok\n");
  for (const std::string& header : {"Range: bytes=" + std::string(8000, '1'), "X: " + std::string(8000, '-'),
                                    "Accept-Encoding: " + std::string(8000, ','), "Content-Type: " + std::string(8000, ';')}) {
    CAPTURE(header.substr(0, 20));
    (void)Exchange(server.port(), Get("/healthz", header + "\r\n"));
    (void)Exchange(server.port(), Post("/filter", "{}", header + "\r\n"));
    (void)Exchange(server.port(), Get("/" + std::string(1000, 'a'), header + "\r\n"));
    CHECK(Body(Exchange(server.port(), Get("/healthz"))) == "ok\n");
  }
  server.End();
}

TEST_CASE("http_limits: the server needs no root", "[binary]") {
  if (geteuid() == 0 && std::system("command -v setpriv >/dev/null") != 0) return test::Skip("needs the program setpriv");
  const TemporaryFolder folder;
  SaveBundle(test::serve::Bundle(), folder / "p.h5");
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(folder / "p.h5", std::filesystem::perms::all);
  ExtenderChild server(folder, "", geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "");
  const int port = server.port();
  CHECK(Body(Exchange(port, Get("/healthz"))) == "ok\n");
  CHECK(StatusOf(Exchange(port, Post("/filter", test::Slurp(test::serve::kFiles + "names.json")))) == 200);
  const std::string status = test::Slurp(Join("/proc/", server.process(), "/status"));
  CHECK_THAT(status, Contains("\nUid:") && !Contains("\nUid:\t0") && !Contains("\nGid:\t0"));
  server.End();
}

}  // namespace berth

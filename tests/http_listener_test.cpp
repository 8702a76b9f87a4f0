// What every server of `berth serve` does: whom it answers, over which wire, and what it refuses itself.
#include "tools/serve/http_listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/http_client.hpp"
#include "tests/serving.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/options.hpp"

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

const char kSecret[] = "0123456789abcdef-berth";

std::string ProblemOf(const ListenOptions& options) {
  Serving serving(options);
  return serving.problem();
}

// What a verb's options make of these words, or their error.
std::string ReadWords(const std::vector<std::string>& words) {
  Options options("serve", "", "");
  DeclareListening(options, 8899);
  try {
    options.Parse(words);
    const ListenOptions listen = ReadListening(options);
    return Join(listen.host, ' ', listen.port, ' ', listen.token);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("http_listener: it answers on its routes, and says what is wrong elsewhere") {
  Serving serving(Limited(1000));
  REQUIRE(serving.problem() == "");
  const int port = serving.port();
  CHECK(serving.listener().Url(port) == Join("http://127.0.0.1:", port));
  CHECK(Body(Exchange(port, Get("/healthz"))) == "ok\n");
  CHECK(Body(Exchange(port, Get("/read?q=a%20b&q=c"))) == "a b");
  CHECK_THAT(Exchange(port, Get("/page")), Contains("Content-Type: text/html"));
  CHECK_THAT(Exchange(port, Get("/page")), Contains("Connection: close"));
  CHECK(Body(Exchange(port, Post("/say", "hello"))) == "hello");
  CHECK(Body(Exchange(port, Post("/say", ""))) == "");
  const std::string missing = Exchange(port, Post("/nowhere", "x"));
  CHECK(StatusOf(missing) == 404);
  CHECK(Json::parse(Body(missing))["Error"] ==
        "no POST /nowhere; there is GET /healthz, GET /page, GET /read, POST /brief, POST /say, POST /throw");
  CHECK(StatusOf(Exchange(port, Get("/say"))) == 404);
  CHECK(StatusOf(Exchange(port, "PUT /say HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx")) == 405);
  CHECK(StatusOf(Exchange(port, Get("/" + std::string(1024, 'a')))) == 414);
  const std::string thrown = Exchange(port, Post("/throw", "x"));
  CHECK(StatusOf(thrown) == 500);
  CHECK(Json::parse(Body(thrown))["Error"] == "it broke");
  CHECK(StatusOf(Exchange(port, Post("/say", std::string(1000, 'x')))) == 200);
  CHECK(StatusOf(Exchange(port, Post("/say", std::string(1001, 'x')))) == 413);
  CHECK(StatusOf(Exchange(port, Post("/nowhere", std::string(1001, 'x')))) == 404);  // which is not read
  const std::string form =
      "POST /say HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n";
  CHECK(StatusOf(Exchange(port, form + "Content-Length: 5\r\n\r\n--b--")) == 415);
  serving.End();
  const std::vector<std::string> seen = serving.seen();
  for (const char* expected :
       {"GET /healthz 200", "POST /say 200", "POST /say 413", " 404", "POST /throw 500", " 414"}) {
    CAPTURE(expected);
    CHECK(std::count(seen.begin(), seen.end(), expected) > 0);
  }
  CHECK(test::Connect(port) == -1);
}

TEST_CASE("http_listener: with a token it answers who has it, and anyone about its health") {
  ListenOptions options = Limited(1000);
  options.token = kSecret;
  Serving serving(options);
  const int port = serving.port();
  const auto bearing = [](const std::string& token) { return Join("Authorization: Bearer ", token, "\r\n"); };
  const std::string refused = Exchange(port, Get("/read"));
  CHECK(StatusOf(refused) == 401);
  CHECK_THAT(refused, Contains("WWW-Authenticate: Bearer"));
  CHECK_THAT(refused, !Contains(kSecret));
  const std::string secret = kSecret;
  for (const std::string& wrong :
       {std::string(), secret + "x", secret.substr(1), std::string(22, 'x'), secret + secret}) {
    CAPTURE(wrong);
    CHECK(StatusOf(Exchange(port, Get("/read", bearing(wrong)))) == 401);
  }
  CHECK(StatusOf(Exchange(port, Get("/read", Join("Authorization: Basic ", kSecret, "\r\n")))) == 401);
  CHECK(StatusOf(Exchange(port, Get("/nowhere"))) == 401);  // nor does it say what there is
  CHECK(StatusOf(Exchange(port, Post("/say", "x"))) == 401);
  CHECK(Body(Exchange(port, Get("/read", bearing(kSecret)))) == "{}");
  CHECK(Body(Exchange(port, Post("/say", "x", bearing(kSecret)))) == "x");
  CHECK(Body(Exchange(port, Get("/healthz"))) == "ok\n");
  CHECK(Body(Exchange(port, Get("/page"))) == "<p>");
}

TEST_CASE("http_listener: a browser's page of another server cannot make it act") {
  Serving serving(Limited(1000));
  const auto from = [](const std::string& origin) { return Join("Origin: ", origin, "\r\n"); };
  for (const char* elsewhere :
       {"http://evil.example", "null", "http://localhost.evil.example", "http://localhost:1"}) {
    CAPTURE(elsewhere);
    CHECK(StatusOf(Exchange(serving.port(), Post("/say", "x", from(elsewhere)))) == 403);
  }
  CHECK(StatusOf(Exchange(serving.port(), Post("/say", "x", from("http://localhost")))) == 200);
}

// A name that its owner lets lead to 127.0.0.1 makes his page one of our origin (DNS rebinding).
TEST_CASE("http_listener: on the loopback it answers to this machine's names alone") {
  const auto asked = [](const Serving& serving, const std::string& host, const std::string& path = "/read") {
    return StatusOf(Exchange(serving.port(), Join("GET ", path, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n")));
  };
  for (const char* loopback : {"127.0.0.1", "localhost"}) {
    CAPTURE(loopback);
    ListenOptions options = Limited(1000);
    options.host = loopback;
    Serving serving(options);
    for (const char* host : {"evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""}) {
      CAPTURE(host);
      CHECK(asked(serving, host) == 403);
      CHECK(asked(serving, host, "/page") == 403);
      CHECK(asked(serving, host, "/healthz") == 200);
    }
    for (const char* host : {"127.0.0.1:8899", "LOCALHOST", "[::1]:8899"}) {
      CAPTURE(host);
      CHECK(asked(serving, host) == 200);
    }
  }
  // Elsewhere it has names that it does not know, such as that of a Service of Kubernetes.
  ListenOptions options = Limited(1000);
  options.host = "0.0.0.0";
  Serving serving(options);
  CHECK(asked(serving, "berth.kube-system.svc:8899") == 200);
}

TEST_CASE("http_listener: a socket that fails is an error, unless it was stopped") {
  Serving serving(Limited(1000));
  CHECK(Body(Exchange(serving.port(), Get("/healthz"))) == "ok\n");
  int closed = 0;
  for (int file = 0; file < 1024; ++file) {
    sockaddr_in address = {};
    socklen_t size = sizeof(address), listens_size = sizeof(int);
    int listens = 0;
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) != 0 || listens == 0) continue;
    if (getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET) continue;
    if (ntohs(address.sin_port) == serving.port()) closed += shutdown(file, SHUT_RDWR) == 0;
  }
  CHECK(closed == 1);
  for (int tenths = 0; tenths < 300 && !serving.ended(); ++tenths) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  serving.End();
  CHECK_THAT(serving.problem(), Contains("--host 127.0.0.1") && Contains("the socket that it listens on failed"));
  Serving stopped(Limited(1000));
  stopped.End();
  CHECK(stopped.problem() == "");
}

TEST_CASE("http_listener: who is refused is refused before the body is read") {
  ListenOptions options = Limited(1 << 20);
  options.token = kSecret;
  Serving serving(options);
  // Were the body waited for, its end would be the answer: 400.
  const auto refused = [&](const std::string& path, const std::string& headers) {
    return StatusOf(Exchange(serving.port(), Join("POST ", path, " HTTP/1.1\r\nHost: localhost\r\n", headers,
                                                  "Content-Length: 1000000\r\n\r\n")));
  };
  const std::string mine = Join("Authorization: Bearer ", kSecret, "\r\n");
  CHECK(refused("/say", "") == 401);
  CHECK(refused("/say", mine + "Origin: http://evil.example\r\n") == 403);
  CHECK(refused("/nowhere", mine) == 404);
  CHECK(refused("/brief", mine) == 413);  // a route's own limit
  CHECK(refused("/say", mine) == 400);
  const std::string asks = "Expect: 100-continue\r\n";
  CHECK(refused("/say", asks) == 401);
  CHECK(refused("/say", mine + asks) == 100);
  CHECK(refused("/brief", mine + asks) == 413);
  CHECK(refused("/say", mine + asks + "Content-Type: multipart/form-data; boundary=b\r\n") == 415);
  CHECK(refused("/" + std::string(1024, 'a'), mine + asks) == 414);
  const auto asked = [&](const std::string& method, const std::string& headers) {
    return StatusOf(Exchange(serving.port(), Join(method, " /say HTTP/1.1\r\nHost: localhost\r\n", asks, headers, "\r\n")));
  };
  CHECK(asked("POST", mine + "Content-Length: 500000000\r\n") == 413);
  CHECK(asked("PUT", mine + "Content-Length: 5\r\n") == 405);
  CHECK(asked("PUT", "Content-Length: 5\r\n") == 405);  // as without Expect
  const auto brief = [&](std::size_t size) {
    return StatusOf(Exchange(serving.port(), Post("/brief", std::string(size, 'x'), mine)));
  };
  CHECK(brief(100) == 200);
  CHECK(brief(101) == 413);
}

TEST_CASE("http_listener: a UNIX socket is its owner's alone, and is gone at the end") {
  const TemporaryFolder folder;
  ListenOptions options = Limited(1000);
  options.socket = folder / "s";
  struct stat status = {};
  {
    Serving serving(options);
    REQUIRE(serving.problem() == "");
    CHECK(serving.port() == 0);
    CHECK(serving.listener().Url(0) == Join("unix:", folder / "s"));
    REQUIRE(stat(options.socket.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(Body(ExchangeOn(test::Connect(options.socket), Post("/say", "hello"))) == "hello");
    // Another one says so, and leaves it.
    CHECK_THAT(ProblemOf(options), Contains(options.socket) && Contains("another process listens there"));
    CHECK(Body(ExchangeOn(test::Connect(options.socket), Get("/healthz"))) == "ok\n");
  }
  CHECK(stat(options.socket.c_str(), &status) != 0);
}

TEST_CASE("http_listener: a socket that nobody listens at is replaced, another file is not") {
  const TemporaryFolder folder;
  ListenOptions options = Limited(1000);
  options.socket = folder / "s";
  const int stale = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  options.socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
  REQUIRE(bind(stale, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  close(stale);
  {
    Serving serving(options);
    CHECK(serving.problem() == "");
    CHECK(Body(ExchangeOn(test::Connect(options.socket), Get("/healthz"))) == "ok\n");
    // Whoever takes the path meanwhile keeps it.
    REQUIRE(std::rename(options.socket.c_str(), (folder / "moved").c_str()) == 0);
    std::ofstream(options.socket) << "mine";
  }
  CHECK(test::Slurp(options.socket) == "mine");
  CHECK_THAT(ProblemOf(options), Contains("expected a socket or nothing, found another file"));
  CHECK(test::Slurp(options.socket) == "mine");
  options.socket = folder / "none/s";
  CHECK_THAT(ProblemOf(options), Contains("none/s: expected a path where a socket can be made"));
  options.socket = folder / std::string(120, 's');
  CHECK_THAT(ProblemOf(options), Contains("expected a path of at most 107 bytes"));
}

TEST_CASE("http_listener: an address that is taken is an error") {
  Serving first(Limited(1000));
  ListenOptions options = Limited(1000);
  options.port = first.port();
  CHECK_THAT(ProblemOf(options), Contains("expected an address of this machine that is free"));
  options.host = "192.0.2.1";  // of no machine: RFC 5737
  options.port = 0;
  CHECK_THAT(ProblemOf(options), Contains("--host 192.0.2.1"));
}

TEST_CASE("http_listener: TLS with a certificate, checked by another program") {
  if (std::system("command -v openssl >/dev/null") != 0) return test::Skip("needs the program openssl");
  const TemporaryFolder folder;
  const auto shell = [&](const std::string& command) {
    const int code = std::system(Join("cd '", folder.path(), "' && { ", command, "; } >said 2>&1").c_str());
    return std::make_pair(code, test::Slurp(folder / "said"));
  };
  REQUIRE(
      shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=localhost "
            "-addext subjectAltName=DNS:localhost && openssl genpkey -algorithm RSA -out other.pem && "
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem && "
            "openssl rsa -aes128 -passout pass:word -in k.pem -out locked.pem && cp c.pem closed.pem && : "
            ">empty.pem")
          .first == 0);
  ListenOptions options = Limited(1000);
  options.certificate = folder / "c.pem";
  options.key = folder / "k.pem";
  {
    Serving serving(options);
    REQUIRE(serving.problem() == "");
    const int port = serving.port();
    CHECK(serving.listener().Url(port) == Join("https://127.0.0.1:", port));
    const auto ask = [&](const std::string& more, const std::string& request) {
      return shell(Join("printf '", request,
                        "' | timeout 30 openssl s_client -quiet -verify_return_error -connect 127.0.0.1:",
                        port, ' ', more))
          .second;
    };
    const std::string trusting = "-CAfile c.pem -verify_hostname localhost",
                      get = "GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n";
    CHECK_THAT(ask(trusting, get), Contains("HTTP/1.1 200") && Contains("ok\n"));
    CHECK_THAT(ask(trusting + " -tls1_3", get), Contains("HTTP/1.1 200"));
    const std::string begin = "GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n";
    const std::string ranged = ask(trusting, begin + "Range: bytes=0-99999999999\\r\\n\\r\\n");
    CHECK_THAT(ranged, Contains("HTTP/1.1 200") && Contains("\r\n\r\nok\n"));
    std::string long_head = begin;
    while (long_head.size() < 40000) long_head += "X: " + std::string(1000, 'x') + "\\r\\n";
    CHECK_THAT(ask(trusting, long_head + "\\r\\n"), Contains("HTTP/1.1 431"));
    CHECK_THAT(ask(trusting + " -tls1_1 -cipher ALL:@SECLEVEL=0", get), !Contains("HTTP/1.1"));
    CHECK_THAT(ask("-CAfile c.pem -verify_hostname elsewhere", get), !Contains("HTTP/1.1"));
    const std::string body(600, 'x');
    CHECK_THAT(
        ask(trusting, Join("POST /say HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 600\\r\\n\\r\\n", body)),
        Contains(body));
    // No TLS, and silence: nobody else is held up.
    CHECK(StatusOf(Exchange(port, Get("/healthz"))) == 0);
    const int silent = test::Connect(port);
    CHECK_THAT(ask(trusting, get), Contains("HTTP/1.1 200"));
    close(silent);
  }
  struct Case {
    const char *certificate, *key, *expected;
  };
  for (const Case& c : {Case{"none.pem", "k.pem", "--tls-cert"},
                        {"c.pem", "none.pem", "--tls-key"},
                        {"empty.pem", "k.pem", "found nothing in it"},
                        {"k.pem", "k.pem", "expected a certificate in PEM, found none"},
                        {"c.pem", "c.pem", "expected the private key"},
                        {"c.pem", "other.pem", "key values mismatch"},
                        {"c.pem", "ec.pem", "expected the private key"},
                        {"c.pem", "locked.pem", "without a password"}}) {
    CAPTURE(c.certificate, c.key);
    options.certificate = folder / c.certificate;
    options.key = folder / c.key;
    CHECK_THAT(ProblemOf(options), Contains(c.expected));
  }
}

TEST_CASE("http_listener: what its options say wrongly is one line") {
  const TemporaryFolder folder;
  const auto written = [&](const std::string& text) {
    std::ofstream(folder / "token") << text;
    return ReadWords({"--token-file", folder / "token"});
  };
  CHECK(ReadWords({}) == "127.0.0.1 8899 ");
  CHECK(written(Join(kSecret, "\n")) == Join("127.0.0.1 8899 ", kSecret));
  CHECK(written(Join(kSecret, "\r\n")) == Join("127.0.0.1 8899 ", kSecret));
  CHECK_THAT(written(""), Contains("token: expected a token of at least 16 characters, found 0"));
  CHECK_THAT(written("short\n"), Contains("found 5"));
  CHECK_THAT(written("two words of a token"), Contains("without blanks"));
  CHECK_THAT(written(Join(kSecret, "\n", kSecret, "\n")), Contains("expected one line"));
  CHECK_THAT(ReadWords({"--token-file", "/nowhere"}),
             Contains("--token-file /nowhere") && Contains("none that can be read"));
  CHECK_THAT(ReadWords({"--tls-cert", "c.pem"}), Contains("found only --tls-cert"));
  CHECK_THAT(ReadWords({"--tls-key", "k.pem"}), Contains("found only --tls-key"));
  CHECK_THAT(ReadWords({"--socket", "s", "--port", "1"}),
             Contains("expected --socket or --port, found both"));
  CHECK_THAT(ReadWords({"--socket", "s", "--tls-cert", "c", "--tls-key", "k"}), Contains("found both"));
  CHECK_THAT(ReadWords({"--port", "65536"}), Contains("--port"));
}

}  // namespace berth

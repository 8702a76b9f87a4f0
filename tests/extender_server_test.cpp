// `berth serve --extender` as a process: over HTTP, with what survives whom, until Ctrl-C.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/extender_support.hpp"
#include "tests/http_client.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/serve/extender.hpp"
#include "tools/serve/serve_metrics.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Body;
using test::Connect;
using test::Exchange;
using test::Post;
using test::Slurp;
using test::TemporaryFolder;
using test::serve::Bundle;
using test::serve::kFiles;
using test::serve::kNow;
using test::serve::MakeExtender;

}  // namespace

TEST_CASE("extender: the server answers over HTTP, survives what is not, and ends with Ctrl-C") {
  const TemporaryFolder folder;
  SaveBundle(Bundle(), folder / "p.h5");
  const pid_t child = test::Start(
      folder, {"serve", "--extender", "--policy", "p.h5", "--table", kFiles + "table.json",
               "--port", "0", "--limit", "20000", "--json", "serve.json"});
  REQUIRE(child > 0);
  const int port = test::ServedPort(folder, child);
  CAPTURE(Slurp(folder / "out.txt"), Slurp(folder / "error.txt"));
  if (port == 0) kill(child, SIGKILL);
  REQUIRE(port > 0);

  const std::string request = Slurp(kFiles + "names.json");
  const auto status = [&](const std::string& sent, bool finish = false) {
    return Exchange(port, sent, finish).substr(0, 12);
  };
  Extender extender = MakeExtender();
  CHECK(Body(Exchange(port, Post("/filter", request))) == extender.Filter(request, kNow).body);
  CHECK(status(Post("/prioritize", request)) == "HTTP/1.1 200");
  CHECK(status(Post("/filter", "{")) == "HTTP/1.1 400");
  CHECK(status(Post("/prioritize", R"({"Pod":{"metadata":{"name":"p"}},"NodeNames":["x"]})")) ==
        "HTTP/1.1 404");
  const std::string refused = Exchange(port, Post("/filter", std::string(20001, ' ')));
  CHECK(refused.substr(0, 12) == "HTTP/1.1 413");
  CHECK_THAT(Body(refused), Contains("at most 20000 bytes"));
  CHECK(status(Post("/filter", std::string(20000, ' '))) == "HTTP/1.1 400");
  // A length that is never kept, after the server's patience of 5 s; one that is a lie; pieces without end.
  const std::string head = "POST /filter HTTP/1.1\r\nHost: localhost\r\n";
  CHECK(status(head + "Content-Length: 100\r\n\r\n{") == "HTTP/1.1 400");
  CHECK(status(head + "Content-Length: 99999999999999999999\r\n\r\n{") == "HTTP/1.1 413");
  std::string pieces = head + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 30; ++i) pieces += "3e8\r\n" + std::string(1000, ' ') + "\r\n";
  CHECK(status(pieces) == "HTTP/1.1 413");
  CHECK(status("GET /filter HTTP/1.1\r\nHost: localhost\r\n\r\n") == "HTTP/1.1 404");
  CHECK_THAT(Exchange(port, "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"), Contains("no GET /nowhere"));
  (void)Exchange(port, std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8), true);  // TLS to a plain port
  (void)Exchange(port, "\r\n\r\n\r\n", true);
  (void)Exchange(port, std::string(20000, 'A'), true);
  (void)Exchange(port, "", true);
  // Twelve who say nothing, and stay: nobody else waits for them. One more try, should they be dropped for
  // their silence before a slow machine comes to it.
  bool answered = false;
  for (int tries = 0; tries < 5 && !answered; ++tries) {
    std::vector<int> silent(12);
    for (int& file : silent) file = Connect(port);
    CHECK(Body(Exchange(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")) == "ok\n");
    answered = true;
    char byte;
    for (int file : silent) {
      // Still open: nothing to read, and not the end either.
      answered = answered && recv(file, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
      close(file);
    }
  }
  CHECK(answered);
  CHECK(Body(Exchange(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")) == "ok\n");
  CHECK(Body(Exchange(port, Post("/filter", request))) == extender.Filter(request, kNow).body);

  const std::string answer = Exchange(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(answer, Contains("Content-Type: text/plain; version=0.0.4"));
  const std::string metrics = Body(answer);
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"filter\",code=\"200\"} 2\n"));
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"prioritize\",code=\"200\"} 1\n"));
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"prioritize\",code=\"404\"} 1\n"));
  CHECK_THAT(metrics, Contains("\nberth_requests_total{verb=\"filter\",code=\"413\"} 3\n"));
  CHECK_THAT(metrics, Contains("\nberth_filter_nodes_total{result=\"passed\"} 4\n"));
  CHECK_THAT(metrics, Contains("\nberth_filter_nodes_total{result=\"failed\"} 2\n"));
  // The format's own rules: a metric's HELP and TYPE before its samples, buckets that only grow to the count.
  std::istringstream lines(metrics);
  std::int64_t bucket = 0;
  for (std::string line, typed; std::getline(lines, line);) {
    CAPTURE(line);
    if (line.rfind("# TYPE ", 0) == 0) typed = line.substr(7, line.find(' ', 7) - 7);
    if (line[0] == '#') continue;
    CHECK(line.rfind(typed, 0) == 0);
    const double value = std::stod(line.substr(line.rfind(' ')));
    if (line.find("_bucket{verb=\"filter\"") != std::string::npos) {
      CHECK(value >= static_cast<double>(bucket));
      bucket = static_cast<std::int64_t>(value);
    }
    if (line.find("_seconds_count{verb=\"filter\"}") != std::string::npos)
      CHECK(value == static_cast<double>(bucket));
  }
  CHECK(bucket >= 7);

  const auto refused_start = [&](const std::string& more, const std::string& expected) {
    test::CheckOneLine(test::Berth(folder, Join("serve --extender --policy p.h5 --table '", kFiles, "table.json' ", more)),
                       expected);
  };
  refused_start("--tls-cert none.pem --tls-key none.pem", "--tls-cert none.pem: expected a file in PEM");
  refused_start("--tls-cert p.h5 --tls-key p.h5", "--tls-cert p.h5: expected a certificate in PEM, found none");
  refused_start("--socket p.h5", "--socket p.h5: expected a socket or nothing, found another file");
  refused_start("--token-file none", "--token-file none: expected a file");
  // The address is taken: another server says so and ends.
  test::CheckOneLine(test::Berth(folder, Join("serve --extender --policy p.h5 --table '", kFiles,
                                              "table.json' --port ", port)),
                     "expected an address of this machine that is free");
  kill(child, SIGINT);
  CHECK(test::Wait(child) == 0);
}

TEST_CASE("metrics: the sum of a histogram goes on growing, however large it is") {
  ServeMetrics metrics;
  metrics.Count("filter", 200, 200000.0);
  metrics.Count("filter", 200, 0.25);
  CHECK_THAT(metrics.Text(""), Contains("\nberth_request_seconds_sum{verb=\"filter\"} 200000.25\n"));
}

}  // namespace berth

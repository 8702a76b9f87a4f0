// The page for operators: who may read and who may ask for a mode, Prometheus' format, a real browser.
#include "tools/operators/operators.hpp"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/browser.hpp"
#include "tests/catch.hpp"
#include "tests/http_client.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Body;
using test::StatusOf;

const char kOperatorsToken[] = "0123456789-operators";

Json OperatorsSample() {
  return ReadJson(BERTH_SOURCE_DIR "/tests/operators/status.json");
}

// A board and its page on a port of the loopback; with a controller that takes up what it is asked for.
class OperatorsPage {
 public:
  OperatorsPage(Json status, bool writable, const std::string& token = "", const std::string& socket = "")
      : board(writable) {
    if (!status.is_null()) board.Publish(status);
    ListenOptions options;
    options.threads = 8;
    options.token = token;
    options.socket = socket;
    std::atomic<bool> ready{false};
    server_ = std::thread([this, options, &ready] {
      ServeOperators(board, options, stop_, [&](int got) { port = got, ready = true; });
    });
    while (!ready) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ~OperatorsPage() {
    stop_ = true;
    server_.join();
    if (controller_.joinable()) controller_.join();
  }
  void StartController() {
    controller_ = std::thread([this] {
      while (!stop_) {
        if (const auto asked = board.TakeAskedMode()) {
          Json status = board.Read();
          status["mode"] = *asked;
          board.Publish(status);
        } else {
          board.Publish(board.Read());  // so that it does not age
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
      }
    });
  }
  std::string Url() const { return Join("http://127.0.0.1:", port, "/"); }
  // `headers`: lines that end with \r\n; Host is ours where they name none.
  std::string Ask(const std::string& method, const std::string& path, const std::string& headers = "",
                  const std::string& body = "") const {
    const std::string host = headers.find("Host:") == std::string::npos ? "Host: localhost:1\r\n" : "";
    return test::Exchange(port, Join(method, ' ', path, " HTTP/1.1\r\n", host, headers, "Content-Length: ",
                                     body.size(), "\r\n\r\n", body));
  }
  std::string Get(const std::string& path, const std::string& headers = "") const {
    return Ask("GET", path, headers);
  }

  StatusBoard board;
  int port = 0;

 private:
  std::atomic<bool> stop_{false};
  std::thread server_, controller_;
};

const std::string kJsonHeader = "Content-Type: application/json\r\n";
const std::string kAskControl = R"({"mode":"control","confirm":"control"})";

// What Prometheus reads, as its text format 0.0.4 says it: the value of each sample; REQUIREs that it is well formed.
std::map<std::string, double> ParseExposition(const std::string& text) {
  static const std::regex kHelp(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) \S.*)");
  static const std::regex kType(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped))");
  static const std::regex kLabels(R"re(([a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\\\|\\"|\\n)*")(,[a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\\\|\\"|\\n)*")*)re");
  static const std::regex kSample(R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+))");
  REQUIRE_FALSE(text.empty());
  REQUIRE(text.back() == '\n');
  std::map<std::string, double> samples;
  std::set<std::string> helped, typed;
  std::string counter, current;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    std::smatch match;
    if (std::regex_match(line, match, kHelp)) {
      REQUIRE(helped.insert(match[1]).second);
    } else if (std::regex_match(line, match, kType)) {
      REQUIRE(helped.count(match[1]) == 1);
      REQUIRE(typed.insert(match[1]).second);
      current = match[1];
      // Counters end with _total, and nothing else does.
      const std::string end = "_total";
      CHECK((match[2] == "counter") ==
            (current.size() > end.size() && current.substr(current.size() - end.size()) == end));
    } else {
      REQUIRE(std::regex_match(line, match, kSample));
      REQUIRE(match[1] == current);  // samples of a name stand together, below its type
      if (match[2].matched) REQUIRE(std::regex_match(match[2].str(), kLabels));
      std::size_t read = 0;
      const double value = std::stod(match[3], &read);
      REQUIRE(read == match[3].str().size());
      REQUIRE(std::isfinite(value));
      REQUIRE(samples.emplace(line.substr(0, line.rfind(' ')), value).second);
    }
  }
  return samples;
}

}  // namespace

TEST_CASE("operators: the page is of its own files alone, and no other site can frame it or run in it") {
  const OperatorsPage page(OperatorsSample(), false);
  for (const std::string path : {"/", "/page.css", "/page.js", "/text.js", "/table.js", "/nodes.js", "/mode.js"}) {
    const std::string answer = page.Get(path);
    CAPTURE(path);
    CHECK(StatusOf(answer) == 200);
    CHECK_THAT(answer, Contains("Content-Security-Policy: default-src 'none'; script-src 'self';") &&
                           Contains("frame-ancestors 'none'") && Contains("X-Frame-Options: DENY") &&
                           Contains("nosniff") && Contains("Cache-Control: no-store"));
    // Neither an address of elsewhere, nor text that is parsed, nor a style or script that the policy stops.
    static const std::regex kForbidden(R"(https?:|//[a-z]+\.|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(| style=| on[a-z]+=)");
    std::smatch found;
    const std::string body = Body(answer);
    CAPTURE(std::regex_search(body, found, kForbidden) ? found.str() : "");
    CHECK(found.empty());
  }
  // Every file that one of them asks for is there.
  const std::string html = Body(page.Get("/"));
  static const std::regex kAsked(R"re((?:src|href)="([a-z]+\.[a-z]+)")re");
  int asked = 0;
  for (std::sregex_iterator it(html.begin(), html.end(), kAsked), end; it != end; ++it, ++asked) {
    CHECK(StatusOf(page.Get("/" + (*it)[1].str())) == 200);
  }
  CHECK(asked == 2);
  CHECK(StatusOf(page.Get("/status.json")) == 404);
  CHECK(StatusOf(page.Get("/../operators.hpp")) != 200);
}

TEST_CASE("operators: the status document is served as it was published, and is missing until then") {
  OperatorsPage page(Json(), false);
  CHECK(StatusOf(page.Get("/api/status")) == 503);
  CHECK(Body(page.Get("/healthz")) == "no cycle is completed yet\n");
  CHECK(ParseExposition(Body(page.Get("/metrics"))).at("berth_controller_healthy") == 0.0);
  page.board.Publish(OperatorsSample());
  Json served = Json::parse(Body(page.Get("/api/status")));
  CHECK(served["age_s"].get<double>() >= 0.0);
  CHECK(served["may_write"] == false);  // what the board says, not what the document does
  CHECK(served["asked_mode"].is_null());
  // A browser can read what is compressed; it would take seconds where many jobs wait.
  CHECK(Json::accept(Body(page.Get("/api/status", "Accept-Encoding: gzip, deflate, br\r\n"))));
  served.erase("age_s"), served.erase("asked_mode");
  served["may_write"] = true;
  CHECK(served == OperatorsSample());
  // Job names are bytes: what is no UTF-8 does not keep the others from being seen.
  Json odd = OperatorsSample();
  odd["queue"][0]["name"] = "latin \xe9";
  page.board.Publish(odd);
  CHECK(Json::parse(Body(page.Get("/api/status")))["queue"][0]["name"] == "latin \xef\xbf\xbd");
}

TEST_CASE("operators: with a token, nothing but the page's files and the health is for anyone") {
  OperatorsPage page(OperatorsSample(), true, kOperatorsToken);
  const std::string mine = Join("Authorization: Bearer ", kOperatorsToken, "\r\n");
  for (const std::string path : {"/", "/page.js", "/healthz"}) CHECK(StatusOf(page.Get(path)) == 200);
  for (const std::string path : {"/api/status", "/metrics"}) {
    CAPTURE(path);
    CHECK(StatusOf(page.Get(path)) == 401);
    CHECK(StatusOf(page.Get(path, "Authorization: Bearer 0123456789-operator\r\n")) == 401);
    CHECK(StatusOf(page.Get(path + "?token=" + kOperatorsToken)) == 401);
    CHECK(StatusOf(page.Get(path, mine)) == 200);
  }
  CHECK(StatusOf(page.Ask("POST", "/api/mode", kJsonHeader, kAskControl)) == 401);
  CHECK_FALSE(page.board.TakeAskedMode());
  CHECK(StatusOf(page.Ask("POST", "/api/mode", kJsonHeader + mine, kAskControl)) == 200);
  CHECK(page.board.TakeAskedMode() == "control");
  // The page's own files tell nothing.
  CHECK(Body(page.Get("/")).find("twin") == std::string::npos);
}

TEST_CASE("operators: a mode is asked for by who may, with its name twice") {
  OperatorsPage page(OperatorsSample(), true);
  const auto ask = [&](const std::string& body) { return page.Ask("POST", "/api/mode", kJsonHeader, body); };
  for (const char* body : {"", "{", "[]", "{}", "null", R"({"mode":7,"confirm":7})", R"({"mode":"Control","confirm":"Control"})",
                           R"({"mode":"control"})", R"({"mode":"control","confirm":"advise"})", R"({"mode":"control","confirm":true})"}) {
    CAPTURE(body);
    CHECK(StatusOf(ask(body)) == 400);
  }
  CHECK_THAT(ask(R"({"mode":"of","confirm":"of"})"), Contains("expected one of dry-run, advise, control, found 'of'"));
  CHECK_FALSE(page.board.AskedMode());
  const std::string taken = ask(R"({"mode":"advise","confirm":"advise"})");
  CHECK(StatusOf(taken) == 200);
  CHECK(Body(taken) == R"({"mode":"advise"})");
  CHECK(Json::parse(Body(page.Get("/api/status")))["asked_mode"] == "advise");
  CHECK(page.board.TakeAskedMode() == "advise");
  CHECK_FALSE(page.board.TakeAskedMode());

  OperatorsPage reader(OperatorsSample(), false);
  const std::string refused = reader.Ask("POST", "/api/mode", kJsonHeader, kAskControl);
  CHECK(StatusOf(refused) == 403);
  CHECK_THAT(refused, Contains("without --writable"));
  CHECK_FALSE(reader.board.AskMode("control"));
  CHECK_FALSE(reader.board.TakeAskedMode());
}

// A form or a script of another site can send a body of a plain type, with the browser's own word on where it comes from; a
// name that its owner lets lead to 127.0.0.1 makes his page one of our origin.
TEST_CASE("operators: another site's page can neither read nor write") {
  OperatorsPage page(OperatorsSample(), true);
  const auto post = [&](const std::string& headers) {
    const int status = StatusOf(page.Ask("POST", "/api/mode", headers, kAskControl));
    return std::pair(status, page.board.TakeAskedMode().has_value());
  };
  using Answer = std::pair<int, bool>;
  CHECK(post(kJsonHeader) == Answer(200, true));
  CHECK(post(kJsonHeader + "Origin: http://localhost:1\r\nSec-Fetch-Site: same-origin\r\n") == Answer(200, true));
  CHECK(post("Content-Type: application/json; charset=utf-8\r\n") == Answer(200, true));
  CHECK(post("Content-Type: text/plain\r\n") == Answer(415, false));
  CHECK(post("Content-Type: application/x-www-form-urlencoded\r\n") == Answer(415, false));
  CHECK(post("") == Answer(415, false));
  CHECK(post(kJsonHeader + "Origin: http://evil.example\r\n") == Answer(403, false));
  CHECK(post(kJsonHeader + "Origin: http://localhost:2\r\n") == Answer(403, false));
  CHECK(post(kJsonHeader + "Origin: null\r\n") == Answer(403, false));
  CHECK(post(kJsonHeader + "Sec-Fetch-Site: cross-site\r\n") == Answer(403, false));
  CHECK(post(kJsonHeader + "Sec-Fetch-Site: same-site\r\n") == Answer(403, false));
  for (const std::string host : {"evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "", "[",
                                 "1.2.3.4x", "de:ad.example"}) {
    CAPTURE(host);
    const std::string header = Join("Host: ", host, "\r\n");
    CHECK(post(kJsonHeader + header) == Answer(403, false));
    CHECK(post(Join(kJsonHeader, header, "Origin: http://", host, "\r\n")) == Answer(403, false));
    for (const std::string path : {"/", "/api/status", "/metrics"}) CHECK(StatusOf(page.Get(path, header)) == 403);
    CHECK(StatusOf(page.Get("/healthz", header)) == 200);
  }
  for (const std::string host : {"127.0.0.1", "127.0.0.1:8899", "LOCALHOST", "[::1]:8899", "10.1.2.3:80"}) {
    CAPTURE(host);
    CHECK(StatusOf(page.Get("/api/status", Join("Host: ", host, "\r\n"))) == 200);
  }
  // Nobody is told that another site may read it.
  CHECK(page.Get("/api/status").find("Access-Control") == std::string::npos);
}

TEST_CASE("operators: a UNIX socket serves the page too") {
  const test::TemporaryFolder folder;
  const OperatorsPage page(OperatorsSample(), false, "", folder / "page.sock");
  const std::string ask = "GET /api/status HTTP/1.1\r\nHost: whatever\r\n\r\n";
  CHECK(StatusOf(test::ExchangeOn(test::Connect(folder / "page.sock"), ask)) == 200);
}

TEST_CASE("operators: the health names what is wrong") {
  OperatorsPage page(OperatorsSample(), false);
  const auto health = [&](const char* pointer, const Json& value) {
    Json status = OperatorsSample();
    status[Json::json_pointer(pointer)] = value;
    page.board.Publish(status);
    const std::string answer = page.Get("/healthz");
    return Join(StatusOf(answer), ' ', Body(answer));
  };
  CHECK(health("/mode", "control") == "200 ok\n");
  CHECK(health("/healthy", false) == "503 the controller says that it is not healthy\n");
  Json status = OperatorsSample();
  status["healthy"] = false, status["problem"] = "slurmctld does not answer";
  page.board.Publish(status);
  CHECK_THAT(page.Get("/healthz"), Contains("503") && Contains("slurmctld does not answer\n"));
  // Older than the watchdog has patience: the controller hangs, whatever it said last.
  CHECK(health("/watchdog/dead_after_s", 0) == "503 the last cycle ended 0 s ago\n");
}

// Counted in the document: 46 jobs wait for 119 GPUs, 10 run; of nine nodes with four GPUs p3 and k3 are out.
TEST_CASE("operators: metrics are what Prometheus reads, with the document's figures") {
  Json status = OperatorsSample();
  const auto metrics = [&] { return ParseExposition(OperatorMetrics(status, 1.5, "", "version=\"1\"")); };
  const auto found = metrics();
  const std::map<std::string, double> expected = {
      {"berth_build_info{version=\"1\"}", 1},
      {"berth_controller_healthy", 1},
      {"berth_controller_age_seconds", 1.5},
      {"berth_controller_mode{mode=\"dry-run\"}", 1},
      {"berth_controller_mode{mode=\"advise\"}", 0},
      {"berth_controller_mode{mode=\"control\"}", 0},
      {"berth_watchdog_fresh", 1},
      {"berth_cycles_total", 1712},
      {"berth_cycle_seconds{statistic=\"last\"}", 0.104},
      {"berth_cycle_seconds{statistic=\"median\"}", 0.093},
      {"berth_cycle_seconds{statistic=\"p99\"}", 0.31},
      {"berth_cycle_part_seconds{part=\"read\"}", 0.071},
      {"berth_cycle_part_seconds{part=\"decide\"}", 0.012},
      {"berth_cycle_part_seconds{part=\"act\"}", 0.021},
      {"berth_release_to_start_seconds", 0.41},
      {"berth_actions_total{kind=\"decisions\"}", 388},
      {"berth_actions_total{kind=\"released\"}", 1290},
      {"berth_actions_total{kind=\"requeued\"}", 17},
      {"berth_actions_total{kind=\"refused\"}", 2},
      {"berth_actions_total{kind=\"errors\"}", 0},
      {"berth_queue_jobs", 46},
      {"berth_queue_gpus", 119},
      {"berth_queue_longest_wait_seconds", 31991},
      {"berth_running_jobs", 10},
      {"berth_gpus{type=\"v100\"}", 12},
      {"berth_gpus{type=\"p100\"}", 12},
      {"berth_gpus{type=\"k80\"}", 12},
      {"berth_gpus_used{type=\"v100\"}", 12},
      {"berth_gpus_used{type=\"p100\"}", 7},
      {"berth_gpus_used{type=\"k80\"}", 7},
      {"berth_nodes{state=\"allocated\"}", 5},
      {"berth_nodes{state=\"mixed\"}", 2},
      {"berth_nodes{state=\"drained\"}", 1},
      {"berth_nodes{state=\"down*\"}", 1}};
  CHECK(found == expected);
  // Whatever a type is called, and whatever is missing.
  status["nodes"][0]["type"] = "a\"b\\c\nd,{e}";
  CHECK(metrics().at("berth_gpus{type=\"a\\\"b\\\\c\\nd,{e}\"}") == 4);
  status["cycle"]["release_to_start_s"] = nullptr;
  CHECK(metrics().count("berth_release_to_start_seconds") == 0);
  for (const char* name : {"cycle", "counts", "queue", "running", "nodes", "watchdog", "now_s", "mode"}) {
    CAPTURE(name);
    status.erase(name);
    CHECK(metrics().at("berth_controller_healthy") == 1);
  }
}

TEST_CASE("operators: in a browser the page shows, sorts, filters, and changes the mode") {
  const std::string browser = test::Browser();
  if (browser.empty()) return test::Skip("needs chromium: tools/setup --browser");
  if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'") != 0) {
    return test::Skip("needs python3, 3.10 or later");
  }
  OperatorsPage guarded(OperatorsSample(), true, kOperatorsToken);
  guarded.StartController();
  // 10,000 jobs in the hands of a controller that is not well.
  Json busy = OperatorsSample();
  busy["mode"] = "control";
  busy["healthy"] = false;
  busy["problem"] = "slurmctld does not answer <b>";
  busy["watchdog"]["fresh"] = false;
  for (int job = static_cast<int>(busy["queue"].size()); job < 10000; ++job) {
    Json row = busy["queue"][static_cast<std::size_t>(job % 46)];
    row["id"] = 100000 + job;
    row["name"] = Join("bulk-", job < 1000 ? "00" : "0", job);
    busy["queue"].push_back(row);
  }
  OperatorsPage crowded(busy, false);
  crowded.StartController();
  const char* picture = std::getenv("BERTH_PICTURE");  // where to, for the README
  const test::TemporaryFolder folder;
  const std::string error = folder / "error.txt";
  const int status = std::system(
      Join("TZ=UTC timeout 300 python3 '" BERTH_SOURCE_DIR "/tests/check_operators.py' ", browser, ' ',
           guarded.Url(), ' ', kOperatorsToken, ' ', crowded.Url(), ' ', picture == nullptr ? "" : picture, " 2>'",
           error, "'")
          .c_str());
  CAPTURE(test::Slurp(error));
  CHECK(status == 0);
}

}  // namespace berth

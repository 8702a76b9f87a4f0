#include "tools/operators/operators.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "tools/operators/page_files.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

struct PageFile {
  const char* path;
  const char* file;
  const char* type;
};
constexpr PageFile kPage[] = {{"/", "page.html", "text/html; charset=utf-8"},
                              {"/page.css", "page.css", "text/css; charset=utf-8"},
                              {"/page.js", "page.js", "text/javascript; charset=utf-8"},
                              {"/text.js", "text.js", "text/javascript; charset=utf-8"},
                              {"/table.js", "table.js", "text/javascript; charset=utf-8"},
                              {"/nodes.js", "nodes.js", "text/javascript; charset=utf-8"},
                              {"/mode.js", "mode.js", "text/javascript; charset=utf-8"}};

// The page fetches from here alone, nobody frames it, and nothing of it is kept.
const std::vector<std::pair<std::string, std::string>> kHeaders = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Frame-Options", "DENY"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"}};

constexpr std::size_t kMostAsked = 65536;  // bytes of a mode that is asked for
constexpr double kDeadAfter = 30.0;        // s, where the document has no watchdog

std::string HeaderText(const HttpRequest& request, const std::string& name) {
  const auto at = request.headers.find(name);
  return at == request.headers.end() ? "" : at->second;
}

HttpReply Said(int status, const Json& json) {
  return {status, json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

HttpReply StatusReply(const StatusBoard& board) {
  const double age = board.AgeSeconds().value_or(0.0);  // before Read, so never of a document that came later
  Json status = board.Read();
  if (!status.is_object()) return HttpError(503, "Berth has not completed its first cycle");
  status["age_s"] = age;
  status["may_write"] = board.writable();
  const std::optional<std::string> asked = board.AskedMode();
  status["asked_mode"] = asked ? Json(*asked) : Json(nullptr);
  return Said(200, status);
}

std::string Modes() {
  std::string modes;
  for (const char* mode : kControllerModes) modes += Join(modes.empty() ? "" : ", ", mode);
  return modes;
}

// The listener has refused other origins already.
HttpReply ModeReply(StatusBoard& board, const HttpRequest& request) {
  const std::string type = Lower(HeaderText(request, "content-type"));
  if (type.substr(0, type.find(';')) != "application/json") {
    return HttpError(415, "expected Content-Type: application/json");
  }
  const std::string site = HeaderText(request, "sec-fetch-site");
  if (!site.empty() && site != "same-origin")
    return HttpError(403, "another site's page may not change the mode");
  if (!board.writable())
    return HttpError(403, "this page is read-only: berth serve was started without --writable");
  const Json asked = Json::parse(request.body, nullptr, false);
  const auto text = [&](const char* name) {
    const auto at = asked.is_object() ? asked.find(name) : asked.end();
    return asked.is_object() && at != asked.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  const std::string mode = text("mode");
  if (std::find(std::begin(kControllerModes), std::end(kControllerModes), mode) ==
      std::end(kControllerModes)) {
    return HttpError(400, Join("mode: expected one of ", Modes(), mode.empty() ? ", found none" : ", found '",
                               mode, mode.empty() ? "" : "'"));
  }
  if (text("confirm") != mode)
    return HttpError(400, Join("confirm: expected '", mode, "' once more, found another"));
  board.AskMode(mode);
  return Said(200, {{"mode", mode}});
}

HttpReply HealthReply(const StatusBoard& board) {
  const std::string problem = HealthProblem(board);
  return {problem.empty() ? 200 : 503, problem.empty() ? "ok\n" : problem + "\n",
          "text/plain; charset=utf-8"};
}

HttpReply MetricsReply(const StatusBoard& board) {
  const std::string labels = Join("version=\"", Version(), "\",commit=\"", SourceCommit(), "\"");
  const double age = board.AgeSeconds().value_or(0.0);
  return {200, OperatorMetrics(board.Read(), age, HealthProblem(board), labels),
          "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace

std::string HealthProblem(const StatusBoard& board) {
  const std::optional<double> age = board.AgeSeconds();
  const Json status = board.Read();
  if (!age || !status.is_object()) return "no cycle is completed yet";
  const Json watchdog = status.value("watchdog", Json::object());
  const double dead = watchdog.is_object() ? watchdog.value("dead_after_s", kDeadAfter) : kDeadAfter;
  if (*age > dead) return Join("the last cycle ended ", static_cast<std::int64_t>(*age), " s ago");
  if (status.value("healthy", false)) return "";
  const std::string problem = status.value("problem", "");
  return problem.empty() ? "the controller says that it is not healthy" : problem;
}

void RouteOperators(StatusBoard& board, HttpListener& listener) {
  listener.DemandOwnHost();
  const auto sealed = [](HttpListener::Handler answer) {
    return [answer = std::move(answer)](const HttpRequest& request) {
      HttpReply reply = answer(request);
      reply.headers.insert(reply.headers.end(), kHeaders.begin(), kHeaders.end());
      return reply;
    };
  };
  using Access = HttpListener::Access;
  for (const PageFile& part : kPage) {
    const HttpReply reply{200, std::string(PageFiles().at(part.file)), part.type};
    listener.Get(part.path, sealed([reply](const HttpRequest&) { return HttpReply(reply); }),
                 Access::kAnyone);
  }
  listener.Get("/api/status", sealed([&board](const HttpRequest&) { return StatusReply(board); }));
  listener.Post("/api/mode",
                sealed([&board](const HttpRequest& request) { return ModeReply(board, request); }),
                Access::kToken, kMostAsked);
  listener.Get("/metrics", sealed([&board](const HttpRequest&) { return MetricsReply(board); }));
  listener.Get(
      "/healthz", [&board](const HttpRequest&) { return HealthReply(board); }, Access::kAnyone);
}

void ServeOperators(StatusBoard& board, const ListenOptions& options, const std::atomic<bool>& stop,
                    const std::function<void(int port)>& ready) {
  HttpListener listener(options);
  RouteOperators(board, listener);
  listener.Serve(stop, ready);
}

}  // namespace berth

// The page for operators of `berth serve --slurm`, and what machines read of it: routes over the status
// document (README.md) that the controller publishes.
//
//   GET  /            the page, with its page.css and *.js: files of this folder, without any figure in them
//   GET  /api/status  the document; with age_s (since it was published, s), asked_mode and may_write
//   POST /api/mode    {"mode": "advise", "confirm": "advise"}: asks the controller for a mode
//   GET  /metrics     Prometheus
//   GET  /healthz     "ok", or 503 and the reason
//
// All but the page's own files and /healthz need the token, where there is one. What a browser could be
// talked into by somebody else's page is refused: a Host that is a name of others (DNS rebinding), a POST
// that is not JSON or comes from another origin.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "tools/controller/status.hpp"
#include "tools/serve/http_listener.hpp"

namespace berth {

// `board` outlives the listener.
void RouteOperators(StatusBoard& board, HttpListener& listener);

// Listens until `stop`, as HttpListener::Serve.
void ServeOperators(StatusBoard& board, const ListenOptions& options, const std::atomic<bool>& stop,
                    const std::function<void(int port)>& ready);

// What is wrong with the controller, in a sentence; "" where it is well.
std::string HealthProblem(const StatusBoard& board);

// The document as Prometheus reads it (text exposition format 0.0.4). What the document lacks is left out.
// age_s: since it was published; labels: of berth_build_info.
std::string OperatorMetrics(const Json& status, double age_s, const std::string& problem,
                            const std::string& labels);

}  // namespace berth

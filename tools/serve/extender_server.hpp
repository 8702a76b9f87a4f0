// What `berth serve --extender` answers on which path:
//
//   POST /filter, /prioritize, /preempt   an extender's calls      GET /metrics   Prometheus      GET
//   /healthz   "ok"
#pragma once

#include "tools/serve/extender.hpp"
#include "tools/serve/http_listener.hpp"
#include "tools/serve/serve_metrics.hpp"

namespace berth {

// The routes; the three must outlive the listener's Serve.
void RouteExtender(Extender& extender, ServeMetrics& metrics, HttpListener& listener);

}  // namespace berth

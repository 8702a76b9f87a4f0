// The network side of `berth serve --extender`: HTTP by cpp-httplib, which is named in http_server.cpp alone.
//
//   POST /filter, /prioritize   an extender's calls      GET /metrics   Prometheus      GET /healthz   "ok"
//
// Every answer closes its connection: a body that was refused half read is never taken for the next request.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "tools/serve/extender.hpp"
#include "tools/serve/serve_metrics.hpp"

namespace berth {

struct ServeAddress {
  std::string host;
  int port = 0;               // 0 = any that is free
  std::size_t most_body = 0;  // bytes; larger bodies get 413
};

// Serves until `stop`; `ready` is told the port once connections are taken. Throws Error: the address is
// taken, or cannot be had.
void ServeExtender(Extender& extender, ServeMetrics& metrics, const ServeAddress& address,
                   const std::atomic<bool>& stop, const std::function<void(int port)>& ready);

}  // namespace berth

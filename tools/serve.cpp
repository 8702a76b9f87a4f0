// berth serve: a scheduler where jobs are: beside a Slurm, or behind kube-scheduler's extender calls.
#include <malloc.h>

#include <iostream>

#include "policies/bundle.hpp"
#include "tools/controller/serve_slurm.hpp"
#include "tools/interrupt.hpp"
#include "tools/json.hpp"
#include "tools/options.hpp"
#include "tools/serve/extender_server.hpp"
#include "tools/verbs.hpp"

namespace berth {

int RunServe(const std::vector<std::string>& arguments) {
  Options options(
      "serve",
      "--slurm [--scheduler SPEC] [--dry-run | --advise | --control] [--out DIR] | --extender --policy "
      "policy.h5 --table table.json",
      "schedules a Slurm, or answers kube-scheduler's extender calls with a frozen policy; Ctrl-C ends it");
  DeclareSlurm(options);
  options.Group("Kubernetes");
  options.Switch("extender", "speak k8s.io/kube-scheduler/extender/v1");
  options.Input("policy", "the bundle that berth export wrote (.h5); it sees ObservationV1 or ObservationV3");
  options.Input("table", "what nodes and pods are to the policy (.json): see tools/examples/KUBERNETES.md");
  DeclareListening(options, 8899);
  if (!options.Parse(arguments)) return 0;

  if (options.Bool("slurm") == options.Bool("extender"))
    throw Error("expected --slurm or --extender, one of the two");
  if (options.Bool("slurm")) return ServeSlurm(options);
  // Bodies are parsed one at a time, by whichever thread: each would keep the room of its largest in a heap
  // of its own.
  mallopt(M_ARENA_MAX, 1);
  HttpListener listener(ReadListening(options));
  const std::string path = options.Required("policy");
  ExtenderTable table = ReadExtenderTable(options.Required("table"));
  Extender extender(std::move(table), LoadBundle(path), path);
  CheckJsonWritable(options);
  ServeMetrics metrics;
  const std::atomic<bool>& stop = WatchInterrupts();
  RouteExtender(extender, metrics, listener);
  listener.Serve(stop, [&](int port) {
    Json json = {{"url", listener.Url(port)},
                 {"host", listener.options().host},
                 {"port", port},
                 {"network", extender.bundle().network}};
    json["config"] = ConfigJson(options);
    WriteJson(options, json);
    std::cout << "berth serve: extender on " << listener.Url(port) << " (" << path << ", "
              << extender.bundle().network << "), Ctrl-C ends it\nnext, whether it answers:\n  curl "
              << listener.Curl(port, "/healthz") << std::endl;
  });
  std::cout << "berth serve: ended" << std::endl;
  return 0;
}

}  // namespace berth

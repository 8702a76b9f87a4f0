#include "tools/from_options.hpp"

#include <filesystem>
#include <string>

#include "env/gym/encoder.hpp"
#include "policies/architecture.hpp"
#include "policies/bundle.hpp"

namespace berth {
namespace {

const char* YesNo(bool value) {
  return value ? "true" : "false";
}

void Fit(const Options& options, const std::string& name, const std::string& given,
         const std::string& policy) {
  if (given == policy) return;
  throw Error(Join(options.Where(name), ": expected the policy's ", policy, " with ", options.Where("from"),
                   " ", options.Text("from"), ", found ", given));
}

}  // namespace

void TakeOptionsOfPolicy(Options& options) {
  const std::string file = std::filesystem::absolute(options.Text("from")).lexically_normal().string();
  const PolicyBundle policy = InOption(options, "from", [&] { return LoadBundle(file); });
  const MdpSpec& mdp = policy.mdp;
  if (policy.layout.q == 0)
    throw Error(Join(options.Where("from"), ": expected a policy for clusters, found one of ",
                     policy.layout.size(), " observations: ", file));
  options.Assign("from", file);
  const auto take = [&](const std::string& name, const std::string& value) {
    if (!options.Given(name) || options.Text(name) == "auto") options.Assign(name, value);
  };
  take("network", policy.network);
  take("encoder", mdp.encoder);
  take("actions", mdp.actions);
  take("reread", YesNo(mdp.reread));
  take("semantics", ToString(mdp.semantics));
  take("visible", std::to_string(mdp.visible));
  take("order", ToString(mdp.order));
  take("commit-backfill", YesNo(mdp.commit_backfill));
  take("preemptive", YesNo(mdp.preemptive));
  take("on-change", YesNo(mdp.on_change));
  take("work-conserving", YesNo(mdp.work_conserving));
  const auto network = [](const std::string& spec) { return ResolveArchitecture(spec); };
  const auto encoder = [](const std::string& spec) { return ResolveEncoder(spec); };
  Fit(options, "network", InOption(options, "network", [&] { return network(options.Text("network")); }),
      network(policy.network));
  Fit(options, "encoder", InOption(options, "encoder", [&] { return encoder(options.Text("encoder")); }),
      encoder(mdp.encoder));
  Fit(options, "actions", InOption(options, "actions", [&] { return ResolveActions(options.Text("actions")); }),
      mdp.actions);
  Fit(options, "semantics", options.Text("semantics"), ToString(mdp.semantics));
}

}  // namespace berth

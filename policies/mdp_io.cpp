#include "policies/mdp_io.hpp"

#include "env/gym/encoder.hpp"
#include "policies/attributes.hpp"

namespace berth {
void WriteMdp(h5::Writer& out, const MdpSpec& mdp) {
  out.Text("encoder", mdp.encoder);
  out.Text("semantics", ToString(mdp.semantics));
  out.Integer("preemptive", mdp.preemptive);
  out.Text("knowledge", ToString(mdp.knowledge));
  out.Text("order", ToString(mdp.order));
  out.Integer("on_change", mdp.on_change);
  out.Integer("work_conserving", mdp.work_conserving);
  out.Integer("commit_backfill", mdp.commit_backfill);
  if (mdp.actions != kStartAlone) out.Text("actions", mdp.actions);
  if (mdp.reread) out.Integer("reread", 1);
  if (mdp.columns > 0) out.Integer("columns", mdp.columns);
  if (mdp.rows > 0) out.Integer("rows", mdp.rows);
  out.Integer("visible", mdp.visible);
  out.Text("reward", mdp.reward);
  out.Number("tau_s", mdp.tau_s);
}

MdpSpec ReadMdp(const h5::Reader& in) {
  MdpSpec mdp;
  mdp.encoder = in.Text("encoder");
  mdp.semantics = ParsedAttribute(in, "semantics", ParseSemantics);
  mdp.preemptive = BoundedAttribute(in, "preemptive", 0, 1) != 0;
  mdp.knowledge = ParsedAttribute(in, "knowledge", [](const std::string& text) {
    try {
      return ParseKnowledge(text);
    } catch (const Error& error) {  // which does not say of what it is
      throw Error(Join("knowledge: ", error.what()));
    }
  });
  mdp.order = ParsedAttribute(in, "order", ParseQueueOrder);
  mdp.on_change = BoundedAttribute(in, "on_change", 0, 1) != 0;
  mdp.work_conserving = BoundedAttribute(in, "work_conserving", 0, 1) != 0;
  // Files of before the option have none of it.
  if (in.HasAttribute("commit_backfill")) {
    mdp.commit_backfill = BoundedAttribute(in, "commit_backfill", 0, 1) != 0;
  }
  if (in.HasAttribute("actions")) mdp.actions = ParsedAttribute(in, "actions", ResolveActions);
  if (in.HasAttribute("reread")) mdp.reread = BoundedAttribute(in, "reread", 0, 1) != 0;
  if (in.HasAttribute("columns")) mdp.columns = static_cast<int>(BoundedAttribute(in, "columns", 1, 1 << 12));
  if (in.HasAttribute("rows")) mdp.rows = static_cast<int>(BoundedAttribute(in, "rows", 1, 1 << 12));
  mdp.visible = static_cast<int>(BoundedAttribute(in, "visible", 1, 1 << 16));
  mdp.reward = in.Text("reward");
  mdp.tau_s = in.Number("tau_s");
  ParsedAttribute(in, "encoder",
                  [&](const std::string&) { return MakeEncoder(mdp); });  // refuses what it is not for
  return mdp;
}

}  // namespace berth

#include "tools/explained.hpp"

#include <map>

#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/score_order.hpp"
#include "policies/architecture.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

std::string TypeName(const ClusterView& view, int type) {
  return view.types()[U(type)].name;
}

// What a column of the grid says of itself: ", widest 1.00". `channels`: EncoderInfo::Describe of the
// process.
std::string ColumnText(const DecisionPoint& point, const std::vector<std::string>& channels, int column) {
  const ObservationLayout& layout = point.layout();
  const std::string owner = Join("types action:", point.grid()->NameOf(column), " ");
  std::string text;
  int channel = 0;
  for (const std::string& line : channels) {
    if (!line.starts_with("types ")) continue;
    const std::size_t at = U(layout.types_offset() + column * layout.type_channels + channel++);
    if (!line.starts_with(owner)) continue;
    const std::string name = line.substr(owner.size(), line.find(':', owner.size()) - owner.size());
    if (name != "is_of_kind") text += Join(", ", name, " ", Fixed(point.observation()[at], 2));
  }
  return text;
}

// "start job 17 on v100", "clock 2, clock 0.80", "done".
std::string CommandText(const ClusterView& view, const DecisionPoint& point,
                        const std::vector<std::string>& channels, int action) {
  if (action == point.done()) return "done";
  const int columns = point.layout().g, row = action / columns, column = action % columns;
  const CommandGrid* grid = point.grid();
  const std::string name = grid == nullptr ? kStartAlone : grid->NameOf(column);
  const int job = grid == nullptr ? point.visible()[U(row)] : grid->JobOf(row);
  const int type = grid == nullptr ? column : grid->column(column).type;
  const std::string more = grid == nullptr ? "" : ColumnText(point, channels, column);
  if (job < 0) return Join(name, " ", grid->Subject(row, column), more);
  const bool stays = name == kStartAlone && view.IsRunning(job) && view.TypeOf(job) == type;
  std::string text = Join(stays ? "keep" : name, " job ", view.Id(job));
  if (type >= 0) text += Join(" on ", TypeName(view, type));
  return text + more;
}

// Of the devices that a command names: "node 3", "nodes 3 5".
std::string NodesText(const ClusterView& view, const Decision& decision, const Command& command) {
  std::string text;
  int last = -1, nodes = 0;
  for (int k = 0; k < command.devices_count; ++k) {
    const int node = view.NodeOf(decision.devices[U(command.devices_begin + k)]);
    if (node == last) continue;
    text += Join(" ", node);
    last = node, ++nodes;
  }
  return (nodes == 1 ? "node" : "nodes") + text;
}

}  // namespace

std::string DecisionText(const ClusterView& view, const Decision& decision) {
  constexpr const char* kNames[] = {"start", "stop", "move", "reject", "pack"};
  std::string text;
  for (const Command& c : decision.commands) {
    text += Join(text.empty() ? "" : ", ", kNames[static_cast<int>(c.kind)], " ", view.Id(c.job));
    if (c.type >= 0) text += Join(" on ", TypeName(view, c.type));
    if (c.width > 0) text += Join(" x ", c.width);
    if (c.host >= 0) text += Join(" beside ", view.Id(c.host));
    if (c.devices_count > 0) text += Join(" at ", NodesText(view, decision, c));
  }
  if (!decision.controls.empty())
    text += Join(text.empty() ? "" : ", ",
                 Counted(decision.controls.size(), "setting of features", "settings of features"));
  if (decision.wake_at < kNever)
    text += Join(text.empty() ? "" : ", ", "decide again by ", Fixed(decision.wake_at, 0), " s");
  return text.empty() ? "leave everything as it is" : text;
}

Explained::Explained(const PolicyBundle& bundle, const ClusterView& view, std::span<const float> state)
    : bundle_(bundle),
      view_(view),
      network_(Freeze(bundle)),
      state_(state.begin(), state.end()),
      point_(bundle.mdp),
      channels_(ObservationOf(bundle.mdp).Describe()) {
  const bool any_size = FindArchitecture(ParseSpec(bundle.network).name).any_size;
  point_.Begin(view);
  point_.Start(view);
  point_.Gather(view);
  point_.Observe(view, any_size ? 0 : bundle.mdp.visible);
  scores_ = Score(point_.observation());
  point_.OpenMask(view);
  BestLegal(view, point_, scores_, nullptr);  // offers `done`
  legal_.assign(point_.mask().bytes().begin(), point_.mask().bytes().end());
}

std::vector<int> Explained::Choose() {
  std::vector<int> taken;
  std::vector<float> scores = scores_;
  for (;;) {
    const int action = BestLegal(view_, point_, scores, nullptr);
    if (action < 0) return taken;
    taken.push_back(action);
    if (action == point_.done()) return taken;
    point_.Put(view_, action);
    if (bundle_.mdp.reread) scores = Score(point_.observation());
  }
}

Decision Explained::Decide() {
  Decision decision;
  point_.Close(view_, decision);
  return decision;
}

std::vector<Explained::Without> Explained::Occlude(int action) {
  std::map<std::string, std::vector<std::size_t>> floats;  // of the observation, by block
  std::vector<std::string> order;
  const ObservationLayout& layout = point_.layout();
  std::map<std::string, int> channel;  // so far, by part
  for (const std::string& line : channels_) {
    const std::string part = line.substr(0, line.find(' '));
    const std::size_t at = part.size() + 1;
    const std::string block = line.substr(at, line.find(' ', at) - at);
    if (floats.find(block) == floats.end()) order.push_back(block);
    const int index = channel[part]++;
    const auto add = [&](int offset, int rows, int width) {
      for (int row = 0; row < rows; ++row) floats[block].push_back(U(offset + row * width + index));
    };
    if (part == "jobs") add(layout.jobs_offset(), layout.q, layout.job_channels);
    if (part == "pairs") add(layout.pairs_offset(), layout.q * layout.g, layout.pair_channels);
    if (part == "types") add(layout.types_offset(), layout.g, layout.type_channels);
    if (part == "global") add(layout.global_offset(), 1, layout.global_channels);
  }
  std::vector<Without> found;
  for (const std::string& block : order) {
    if (block == "encoder") continue;  // whether a row is there
    std::vector<float> observation = first_;
    for (const std::size_t i : floats[block]) observation[i] = 0.0F;
    const std::vector<float> scores = Score(observation);
    found.push_back({block, static_cast<double>(scores[U(action)]) - scores_[U(action)],
                     BestLegal(legal_, scores, nullptr)});
  }
  return found;
}

std::string Explained::Text(int action) const {
  return CommandText(view_, point_, channels_, action);
}

std::vector<float> Explained::Score(std::span<const float> observation) {
  if (first_.empty()) first_.assign(observation.begin(), observation.end());
  std::vector<float> scores(U(point_.done()) + 1);
  network_->Evaluate(observation, point_.layout(), scores, state_);
  return scores;
}

}  // namespace berth

#include "env/gym/actions/action_set.hpp"

#include <algorithm>
#include <map>

#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "env/gym/actions/action_table.hpp"

namespace berth {
namespace {

// The grid's own.
constexpr ChannelInfo kPlanned = {"planned", "1 = the plan has a place for the job", 0, 1};
constexpr ChannelInfo kRoom = {"room", "GPUs of the type that the plan leaves, over those there are", 0, 1};
constexpr ChannelInfo kIsOfKind = {"is_of_kind", "1 = the column is of this kind of command", 0, 1};

std::vector<ActionInfo> AllActions() {
#define BERTH_ROW(function) function(),
  std::vector<ActionInfo> all = {BERTH_GYM_ACTIONS(BERTH_ROW)};
#undef BERTH_ROW
  for (const FeatureModule& feature : ShippedFeatures()) {
    for (const auto make : feature.actions) all.push_back(make());
  }
  return all;
}

const ActionInfo& FindAction(const std::string& name) {
  std::vector<std::string> names = {kStartAlone};
  for (const ActionInfo& info : Actions()) {
    if (name == info.name) return info;
    names.emplace_back(info.name);
  }
  throw Error(Join("actions: expected names of `berth list actions` (", Listed(names), "), found '", name,
                   "'", DidYouMean(name, names)));
}

}  // namespace

std::span<const ActionInfo> Actions() {
  static const std::vector<ActionInfo> kAll = AllActions();
  return kAll;
}

std::vector<ActionUse> ParseActions(const std::string& text) {
  std::vector<ActionUse> uses;
  bool starts = false;
  for (std::string part : SplitOutsideParentheses(text, ',')) {
    const bool optional = part.ends_with('?');
    if (optional) part.pop_back();
    Spec spec = ParseSpec(part);
    if (spec.name == kStartAlone && spec.params.empty() && !optional) {
      if (starts) throw Error(Join("actions: '", kStartAlone, "' twice"));
      starts = true;
      continue;
    }
    const ActionInfo& info = FindAction(spec.name);
    const auto same = [&](const ActionUse& use) { return use.info == &info; };
    if (std::any_of(uses.begin(), uses.end(), same)) throw Error(Join("actions: '", info.name, "' twice"));
    Params params(spec, info.params);
    info.make(params);  // a bad parameter shows now
    uses.push_back({&info, std::move(spec), optional});
  }
  if (!starts) throw Error(Join("actions: expected '", kStartAlone, "' among them, found '", text, "'"));
  std::sort(uses.begin(), uses.end(), [](const ActionUse& a, const ActionUse& b) { return a.info < b.info; });
  return uses;
}

std::string ResolveActions(const std::string& text) {
  std::string resolved = kStartAlone;
  for (const ActionUse& use : ParseActions(text)) {
    resolved += ',';
    resolved += use.info->params.empty() ? use.info->name : Params(use.params, use.info->params).Resolved();
    if (use.optional) resolved += '?';
  }
  return resolved;
}

std::string ActionsOf(const Features& features) {
  return ActionsOf({&features, 1});
}

std::string ActionsOf(std::span<const Features> clusters) {
  std::map<std::string, std::size_t> having;  // of the clusters
  for (const Features& features : clusters) {
    for (const Features::On& on : features.on()) {
      for (const auto make : on.module->actions) {
        if (const ActionInfo info = make(); !info.on_request) ++having[info.name];
      }
    }
  }
  std::string names = kStartAlone;
  for (const auto& [name, count] : having) {
    names += Join(',', name);
    if (count < clusters.size()) names += '?';
  }
  return ResolveActions(names);
}

ActionChannels ChannelsOf(std::span<const ActionUse> uses) {
  ActionChannels channels;
  if (uses.empty()) return channels;
  channels.job.push_back(kPlanned);
  channels.type.push_back(kRoom);
  const auto add = [](std::vector<ChannelInfo>& to, std::span<const ChannelInfo> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const ActionUse& use : uses) {
    channels.type.push_back(kIsOfKind);
    add(channels.type, use.info->column);
    add(channels.job, use.info->row);
    add(channels.pair, use.info->pair);
  }
  return channels;
}

}  // namespace berth

// From a spec to the list of blocks that it names, and their channels in order.
#include <algorithm>

#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "env/gym/block_table.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/encoder_presets.hpp"
#include "env/sim/entity_rows.hpp"

namespace berth {
namespace {

constexpr ParamInfo kBlocksParam[] = {
    {"blocks", "queue:1", "blocks by '+', side by side in the order written: name:version(parameters)"},
};
constexpr ChannelInfo kPresent = {"present", "1 = this row is a job", 0, 1};

constexpr const char* kRichest = "ObservationV3";

constexpr std::size_t kMostBlocks = 64;  // encoders point at them, so that they may not move

void AddBlocks(FeatureTable table, std::vector<BlockInfo>& all) {
  for (const FeatureModule& feature : table) {
    for (const auto make : feature.blocks) {
      const BlockInfo block = make();
      const auto same = [&](const BlockInfo& other) { return std::string_view(other.name) == block.name; };
      if (std::any_of(all.begin(), all.end(), same)) continue;
      BERTH_CHECK(all.size() < kMostBlocks, all.size(), " blocks");
      all.push_back(block);
    }
  }
}

std::vector<BlockInfo>& KnownBlocks() {
  static std::vector<BlockInfo> all = [] {
#define BERTH_ROW(function) function(),
    const BlockInfo own[] = {BERTH_GYM_BLOCKS(BERTH_ROW)};
#undef BERTH_ROW
    std::vector<BlockInfo> blocks;
    blocks.reserve(kMostBlocks);
    blocks.assign(std::begin(own), std::end(own));
    AddBlocks(ShippedFeatures(), blocks);
    return blocks;
  }();
  return all;
}

// "lookahead:1(samples=4)"; without a version: the present one.
BlockUse ParseBlock(const std::string& text) {
  const std::size_t colon = text.find(':'), open = std::min(text.find('('), text.size());
  const bool versioned = colon < open;
  BlockUse use{nullptr, ParseSpec(text.substr(0, versioned ? colon : open) + text.substr(open))};
  for (const BlockInfo& info : Blocks()) {
    if (use.params.name == info.name) use.info = &info;
  }
  if (use.info == nullptr) {
    std::vector<std::string> names;
    for (const BlockInfo& info : Blocks()) names.emplace_back(info.name);
    throw Error(Join("blocks: expected names of `berth list blocks`, found '", use.params.name, "'",
                     DidYouMean(use.params.name, names)));
  }
  if (versioned && text.substr(colon + 1, open - colon - 1) != Join(use.info->version)) {
    throw Error(Join("block ", use.params.name, ": expected version ", use.info->version, ", found '",
                     text.substr(colon + 1, open - colon - 1), "'"));
  }
  return use;
}

std::vector<BlockUse> ParseBlocks(const std::string& text) {
  std::vector<BlockUse> blocks;
  for (const std::string& part : SplitOutsideParentheses(text, '+')) {
    BlockUse use = ParseBlock(part);
    for (const BlockUse& other : blocks) {
      if (other.info == use.info) throw Error(Join("blocks: '", use.Name(), "' twice"));
    }
    blocks.push_back(std::move(use));
  }
  if (blocks.empty()) throw Error("blocks: expected at least one, found none");
  for (const BlockUse& use : blocks) {
    if (use.info->alone && blocks.size() > 1)
      throw Error(Join("blocks: expected '", use.Name(), "' alone, found it beside others"));
  }
  return blocks;
}

void AddChannels(EncoderInfo& info) {
  if (!info.alone()) info.job.push_back(kPresent);
  for (const BlockUse& use : info.blocks) {
    info.job.insert(info.job.end(), use.info->job.begin(), use.info->job.end());
    info.job.insert(info.job.end(), use.info->entity.begin(), use.info->entity.end());
    info.entities += use.Entities();
    if (use.info->edges > 0) {
      BERTH_CHECK(info.edges == 0, use.Name(), ": rows are named by one block alone");
      info.edges = use.info->edges;
      info.edge = static_cast<int>(info.job.size()) - info.edges;
    }
    info.pair.insert(info.pair.end(), use.info->pair.begin(), use.info->pair.end());
    info.type.insert(info.type.end(), use.info->type.begin(), use.info->type.end());
    info.global.insert(info.global.end(), use.info->global.begin(), use.info->global.end());
  }
}

// Puts the channels named in `last` behind the others, in that order; gives what stands where.
std::vector<std::size_t> PutLast(std::vector<ChannelInfo>& channels, const std::string& last) {
  const std::vector<std::string> names = SplitOutsideParentheses(last, ',');
  if (names.empty()) return {};
  const std::size_t kept = channels.size() - names.size();
  std::vector<std::size_t> order(names.size());
  std::vector<ChannelInfo> ordered(channels.begin(), channels.begin() + static_cast<std::ptrdiff_t>(kept));
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (order[i] = kept; order[i] < channels.size() && names[i] != channels[order[i]].name;) ++order[i];
    BERTH_CHECK(order[i] < channels.size(), "no channel ", names[i]);
    ordered.push_back(channels[order[i]]);
    order[i] -= kept;
  }
  channels = std::move(ordered);
  return order;
}

EncoderInfo FromPreset(const EncoderPreset& preset) {
  EncoderInfo info;
  info.name = preset.name;
  info.blocks = ParseBlocks(preset.blocks);
  const BlockInfo& first = *info.blocks.front().info;
  info.summary = *preset.summary != 0 ? preset.summary : first.summary;
  info.source = *preset.source != 0 ? preset.source : first.source;
  for (const BlockUse& use : info.blocks) {
    if (!use.info->params.empty()) info.params = use.info->params;
  }
  AddChannels(info);
  info.order = {PutLast(info.job, preset.job), PutLast(info.pair, preset.pair),
                PutLast(info.type, preset.type), PutLast(info.global, preset.global)};
  return info;
}

EncoderInfo FromBlocks(const std::string& blocks) {
  EncoderInfo info;
  info.name = "observation";
  info.summary = "any blocks, side by side";
  info.source = "Berth";
  info.params = kBlocksParam;
  info.blocks = ParseBlocks(blocks);
  AddChannels(info);
  return info;
}

}  // namespace

std::string BlockUse::Name() const {
  return Join(info->name, ":", info->version);
}

int BlockUse::Entities() const {
  if (info->entity.empty()) return 0;
  return static_cast<int>(Params(params, info->params).Integer("most", 1, kMostEntities)) + 1;
}

ObservationLayout EncoderInfo::Layout(int rows, int g) const {
  const auto count = [](const std::vector<ChannelInfo>& channels) {
    return static_cast<int>(channels.size());
  };
  return {rows, g, count(job), count(pair), count(type), count(global), edge, edges};
}

std::string EncoderInfo::Blocks() const {
  std::string text;
  for (const BlockUse& use : blocks) text += Join(text.empty() ? "" : "+", use.Name());
  return text;
}

std::vector<std::string> EncoderInfo::Describe() const {
  std::vector<std::string> lines;
  const auto add = [&](const char* part, const std::vector<ChannelInfo>& channels,
                       const std::vector<std::size_t>& moved, std::span<const ChannelInfo> BlockInfo::*of) {
    std::vector<std::string> owner;
    if (of == &BlockInfo::job && !alone()) owner.emplace_back("encoder");
    for (const BlockUse& use : blocks) {
      const std::size_t entity = of == &BlockInfo::job ? use.info->entity.size() : 0;
      owner.insert(owner.end(), (use.info->*of).size() + entity, use.Name());
    }
    const std::size_t kept = owner.size() - moved.size(), of_blocks = owner.size();
    if (!actions.empty() && (of == &BlockInfo::job || of == &BlockInfo::type)) owner.emplace_back("plan");
    for (const ActionUse& use : actions) {
      const auto count = of == &BlockInfo::job    ? use.info->row.size()
                         : of == &BlockInfo::pair ? use.info->pair.size()
                         : of == &BlockInfo::type ? 1 + use.info->column.size()
                                                  : 0;
      owner.insert(owner.end(), count, Join("action:", use.info->name));
    }
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const ChannelInfo& it = channels[c];
      lines.push_back(Join(part, " ", owner[c < kept || c >= of_blocks ? c : kept + moved[c - kept]], " ",
                           it.name, ": ", it.meaning, "; ", it.low, " to ", it.high));
    }
  };
  add("jobs", job, order.job, &BlockInfo::job);
  add("pairs", pair, order.pair, &BlockInfo::pair);
  add("types", type, order.type, &BlockInfo::type);
  add("global", global, order.global, &BlockInfo::global);
  return lines;
}

std::span<const BlockInfo> Blocks() {
  return KnownBlocks();
}

std::string RichestEncoder(const Features& features, Semantics semantics, Knowledge knowledge) {
  const std::string richest = EncoderOf(kRichest).Blocks();
  std::string blocks = richest;
  if (semantics == Semantics::kCommit && knowledge >= Knowledge::kEstimate) blocks += "+batch:1";
  std::vector<std::string> had;
  for (const Features::On& on : features.on()) {
    for (const auto make : on.module->blocks) {
      const BlockInfo block = make();
      const bool had_it = std::find(had.begin(), had.end(), block.name) != had.end();
      if (had_it || !block.entity.empty()) continue;  // entities are for who asks for them
      had.emplace_back(block.name);
      blocks += Join("+", block.name, ":", block.version);
    }
  }
  return blocks == richest ? kRichest : Join("observation(blocks=", blocks, ")");
}

AlsoKnownBlocks::AlsoKnownBlocks(FeatureTable table) : before_(KnownBlocks().size()) {
  AddBlocks(table, KnownBlocks());
}

AlsoKnownBlocks::~AlsoKnownBlocks() {
  KnownBlocks().resize(before_);
}

std::span<const EncoderInfo> Encoders() {
  static const std::vector<EncoderInfo> kAll = [] {
    std::vector<EncoderInfo> all;
    for (const EncoderPreset& preset : kEncoderPresets) all.push_back(FromPreset(preset));
    all.push_back(FromBlocks(kBlocksParam[0].default_value));
    return all;
  }();
  return kAll;
}

EncoderInfo EncoderOf(const std::string& text) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string> names;
  std::string known;
  for (const EncoderInfo& info : Encoders()) {
    if (spec.name == info.name) {
      Params params(spec, info.params);
      if (info.name == "observation") return FromBlocks(params.Text("blocks"));
      EncoderInfo named = info;
      for (BlockUse& use : named.blocks) {
        if (!use.info->params.empty()) use.params = spec;
      }
      return named;
    }
    names.emplace_back(info.name);
    known += Join(known.empty() ? "" : " or ", "'", info.name, "'");
  }
  throw Error(Join("encoder: expected ", known, ", found '", spec.name, "'", DidYouMean(spec.name, names)));
}

EncoderInfo ObservationOf(const MdpSpec& mdp) {
  EncoderInfo info = EncoderOf(mdp.encoder);
  info.actions = ParseActions(mdp.actions);
  const ActionChannels own = ChannelsOf(info.actions);
  info.job.insert(info.job.end(), own.job.begin(), own.job.end());
  info.pair.insert(info.pair.end(), own.pair.begin(), own.pair.end());
  info.type.insert(info.type.end(), own.type.begin(), own.type.end());
  return info;
}

std::string ResolveEncoder(const std::string& text) {
  const EncoderInfo info = EncoderOf(text);
  if (info.name != "observation") return Params(ParseSpec(text), info.params).Resolved();
  std::string blocks;
  for (const BlockUse& use : info.blocks) {
    const std::string resolved = Params(use.params, use.info->params).Resolved();
    blocks += Join(blocks.empty() ? "" : "+", use.Name(), resolved.substr(use.params.name.size()));
  }
  return Spec{info.name, {{"blocks", blocks}}}.ToString();
}

ObservationLayout ObservationV1::Layout(int q, int g) {
  return Encoders().front().Layout(q, g);
}

}  // namespace berth

#include "env/gym/encoder.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/entity_rows.hpp"

namespace berth {
namespace {

// The last channels of `rows` rows from the blocks' order into the encoder's.
void Reorder(std::span<const std::size_t> order, ChannelRows at, std::size_t rows, std::vector<float>& row) {
  if (order.empty()) return;
  row.resize(order.size());
  float* last = at.first + at.stride - order.size();
  for (std::size_t i = 0; i < rows; ++i, last += at.stride) {
    std::copy_n(last, order.size(), row.begin());
    for (std::size_t c = 0; c < order.size(); ++c) last[c] = row[order[c]];
  }
}

}  // namespace

Encoder::Encoder(const MdpSpec& mdp)
    : info_(EncoderOf(mdp.encoder)),
      channels_(info_.Layout(0, 0)),
      reordered_(!info_.order.job.empty() || !info_.order.pair.empty() || !info_.order.type.empty() ||
                 !info_.order.global.empty()) {
  const BlockSetup setup{mdp.knowledge,
                         mdp.preemptive,
                         mdp.semantics == Semantics::kCommit,
                         mdp.commit_backfill,
                         mdp.order == QueueOrder::kArrival,
                         shared_};
  Placed next{nullptr, info_.alone() ? 0U : 1U, 0, 0, 0, 0, 0, 0};
  for (const BlockUse& use : info_.blocks) {
    Params params(use.params, use.info->params);
    next.block = use.info->make(params, setup);
    params.CheckAllRead();
    if (use.info->selects && selector_ == nullptr) selector_ = next.block.get();
    next.entity = next.job + use.info->job.size();
    next.rows = U(use.Entities());
    blocks_.push_back({std::move(next.block), next.job, next.entity, next.pair, next.type, next.global,
                       next.row, next.rows});
    next.row += next.rows;
    next.job = next.entity + use.info->entity.size();
    next.pair += use.info->pair.size();
    next.type += use.info->type.size();
    next.global += use.info->global.size();
  }
}

ObservationLayout Encoder::Layout(int q, int g) const {
  ObservationLayout layout = channels_;
  layout.q = q + info_.entities;
  layout.g = g;
  return layout;
}

void Encoder::Begin(const ClusterView& view) {
  shared_.Begin(view);
  for (const Placed& it : blocks_) it.block->Begin(view);
}

void Encoder::Select(const ClusterView& view, std::span<const int> candidates, int q,
                     std::vector<int>& visible) {
  if (selector_ != nullptr) return selector_->Select(view, candidates, q, visible);
  const auto n = static_cast<int>(candidates.size());
  visible.assign(candidates.begin(), candidates.begin() + (n <= q ? n : (q + 1) / 2));
  if (n > q) visible.insert(visible.end(), candidates.end() - q / 2, candidates.end());
}

void Encoder::Encode(const ObservationInput& input, const ObservationLayout& layout, std::span<float> out) {
  const std::size_t rows = input.visible.size(), types = U(layout.g);
  const int queue = layout.q - info_.entities;  // rows of jobs
  BERTH_CHECK(static_cast<int>(out.size()) == layout.size() && static_cast<int>(rows) <= queue &&
                  layout == Layout(queue, input.view.num_types()),
              out.size(), " floats, ", rows, " jobs, layout of ", layout.q, " x ", layout.g);
  const ChannelRows job{out.data(), U(layout.job_channels)};
  const ChannelRows pair{out.data() + layout.pairs_offset(), U(layout.pair_channels)};
  const ChannelRows type{out.data() + layout.types_offset(), U(layout.type_channels)};
  float* global = out.data() + layout.global_offset();
  if (!info_.alone()) {
    if (info_.entities > 0) std::fill(job[0], job[rows], 0.0F);  // what is said of entities is not of jobs
    for (std::size_t row = 0; row < rows; ++row) job[row][0] = 1.0F;
    std::fill(job[rows], pair.first, 0.0F);
    std::fill(pair[rows * types], type.first, 0.0F);
  }
  shared_.Update(input);
  for (const Placed& it : blocks_) {
    const std::size_t first = U(queue) + it.row;
    const ChannelRows entities{job[first] + it.entity, job.stride};
    it.block->Write(input, {{job.first + it.job, job.stride},
                            {pair.first + it.pair, pair.stride},
                            {type.first + it.type, type.stride},
                            global + it.global,
                            U(queue),
                            entities,
                            first});
    for (std::size_t i = 0; i < it.rows; ++i) job[first + i][0] = entities[i][kEntityThere];
  }
  if (!reordered_) return;
  Reorder(info_.order.job, job, rows, row_);
  Reorder(info_.order.pair, pair, rows * types, row_);
  Reorder(info_.order.type, type, types, row_);
  Reorder(info_.order.global, {global, U(layout.global_channels)}, 1, row_);
}

}  // namespace berth

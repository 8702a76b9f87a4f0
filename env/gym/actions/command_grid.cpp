#include "env/gym/actions/command_grid.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// What a kind wrote, within what its channels say. A policy's input stays where a space says it is, also
// where a speed that is an estimate is above the best or a plan has promised more than there is.
void Bound(std::span<const ChannelInfo> channels, float* f) {
  for (const ChannelInfo& channel : channels) *f = std::clamp(*f, channel.low, channel.high), ++f;
}

}  // namespace

CommandGrid::CommandGrid(const MdpSpec& mdp) : least_columns_(mdp.columns), least_rows_(mdp.rows) {
  for (const ActionUse& use : ParseActions(mdp.actions)) {
    Kind kind;
    kind.info = use.info;
    kind.optional = use.optional;
    Params params(use.params, use.info->params);
    kind.kind = use.info->make(params);
    kind.type_channel = type_channels_;
    kind.pair_channel = pair_channels_;
    kind.row_channel = job_channels_;
    type_channels_ += 1 + static_cast<int>(use.info->column.size());
    pair_channels_ += static_cast<int>(use.info->pair.size());
    job_channels_ += static_cast<int>(use.info->row.size());
    kinds_.push_back(std::move(kind));
  }
}

void CommandGrid::Begin(const ClusterView& view) {
  types_ = view.num_types();
  columns_.clear();
  for (int type = 0; type < types_; ++type) columns_.push_back({type, -1});
  kind_of_.assign(columns_.size(), -1);
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    Kind& kind = kinds_[k];
    kind.first_column = columns();
    kind.there = true;
    kind.laid_out = 0;
    try {
      kind.kind->AddColumns(view, columns_);
    } catch (const Error&) {  // nothing for it to do here
      if (!kind.optional) throw;
      columns_.resize(U(kind.first_column));
      kind.there = false;
    }
    kind.last_column = columns();
    kind_of_.resize(columns_.size(), static_cast<int>(k));
    if (!kind.there) continue;
    kind.kind->Begin(view);
    kind.laid_out = kind.kind->RowsLaidOut();
  }
  const std::size_t all = std::max(columns_.size(), U(least_columns_));
  columns_.resize(all, {-1, -1});
  kind_of_.resize(all, -1);
}

void CommandGrid::Open(const ClusterView& view, Plan& plan) {
  for (const Kind& kind : kinds_) {
    if (kind.there) kind.kind->Open(view, plan);
  }
}

void CommandGrid::Close(const ClusterView& view, const Plan& plan, Decision& decision) {
  for (const Kind& kind : kinds_) {
    if (kind.there) kind.kind->Close(view, plan, decision);
  }
}

bool CommandGrid::Wakes() const {
  return std::any_of(kinds_.begin(), kinds_.end(),
                     [](const Kind& kind) { return kind.there && kind.kind->Wakes(); });
}

int CommandGrid::RowsLaidOut() const {
  int rows = 0;
  for (const Kind& kind : kinds_) rows += kind.laid_out;
  return std::max(rows, least_rows_);
}

ObservationLayout CommandGrid::Layout(const ObservationLayout& encoder, int rows) const {
  ObservationLayout layout = encoder;
  layout.q = rows;
  layout.g = columns();
  layout.job_channels += job_channels_;
  layout.pair_channels += pair_channels_;
  layout.type_channels += type_channels_;
  return layout;
}

void CommandGrid::Look(const ClusterView& view, std::span<const int> visible, int q, bool fixed_rows) {
  jobs_.assign(visible.begin(), visible.end());
  job_rows_ = rows_ = q;
  for (Kind& kind : kinds_) {
    if (kind.there) kind.kind->Look(view, visible);
    const int there = kind.there ? kind.kind->Rows(view) : 0;
    kind.first_row = rows_;
    kind.count = fixed_rows ? std::min(there, kind.laid_out) : there;
    rows_ += fixed_rows ? kind.laid_out : there;
  }
  if (fixed_rows) rows_ = std::max(rows_, q + least_rows_);
}

bool CommandGrid::Present(int row) const {
  if (row < job_rows_) return U(row) < jobs_.size();
  return std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return row >= kind.first_row && row < kind.first_row + kind.count;
  });
}

int CommandGrid::JobOf(int row) const {
  return row < job_rows_ && U(row) < jobs_.size() ? jobs_[U(row)] : -1;
}

int CommandGrid::RowBeside(const ClusterView& view, int row) const {
  const int job = JobOf(row), partner = job >= 0 ? view.Partner(job) : -1;
  if (partner < 0) return -1;
  const auto at = std::find(jobs_.begin(), jobs_.end(), partner);
  return at == jobs_.end() ? -1 : static_cast<int>(at - jobs_.begin());
}

int CommandGrid::SubjectOf(const Kind& kind, int row) const {
  if (kind.kind->OfJobs()) return JobOf(row);
  const int subject = row - kind.first_row;
  return subject >= 0 && subject < kind.count ? subject : -1;
}

const char* CommandGrid::NameOf(int column) const {
  return IsStart(column) ? kStartAlone : KindOf(column)->info->name;
}

void CommandGrid::Write(const ClusterView& view, const Plan& plan, const ObservationLayout& encoder,
                        std::span<const float> from, const ObservationLayout& layout,
                        std::span<float> to) const {
  std::fill(to.begin(), to.end(), 0.0F);
  const std::size_t fj = U(encoder.job_channels), fp = U(encoder.pair_channels),
                    ft = U(encoder.type_channels);
  float* job = to.data() + layout.jobs_offset();
  for (int row = 0; row < rows_; ++row, job += layout.job_channels) {
    if (row < encoder.q) std::copy_n(from.data() + U(encoder.jobs_offset()) + U(row) * fj, fj, job);
    for (const Kind& kind : kinds_) {
      const int subject = kind.kind->OfJobs() ? -1 : SubjectOf(kind, row);
      if (subject < 0) continue;
      job[0] = 1.0F;  // present
      float* own = job + fj + U(kind.row_channel);
      kind.kind->WriteRow(view, subject, own);
      Bound(kind.info->row, own);
    }
  }
  float* type = to.data() + layout.types_offset();
  for (int c = 0; c < columns(); ++c, type += layout.type_channels) {
    const ActionColumn& column = columns_[U(c)];
    if (column.type >= 0)
      std::copy_n(from.data() + U(encoder.types_offset()) + U(column.type) * ft, ft, type);
    const Kind* kind = KindOf(c);
    if (kind == nullptr) continue;
    float* own = type + ft + U(kind->type_channel);
    own[0] = 1.0F;
    kind->kind->WriteColumn(view, column, own + 1);
    Bound(kind->info->column, own + 1);
  }
  float* pair = to.data() + layout.pairs_offset();
  for (int row = 0; row < rows_; ++row) {
    const bool of_job = JobOf(row) >= 0;
    for (int c = 0; c < columns(); ++c, pair += layout.pair_channels) {
      const int its_type = columns_[U(c)].type;
      if (!of_job || its_type < 0) continue;
      const std::size_t cell = U(row) * U(types_) + U(its_type);
      std::copy_n(from.data() + U(encoder.pairs_offset()) + cell * fp, fp, pair);
    }
  }
  std::copy_n(from.data() + encoder.global_offset(), U(encoder.global_channels),
              to.data() + layout.global_offset());
  Rewrite(view, plan, layout, to);
}

void CommandGrid::Rewrite(const ClusterView& view, const Plan& plan, const ObservationLayout& layout,
                          std::span<float> to) const {
  const std::size_t fj = U(layout.job_channels - job_channels_),
                    fp = U(layout.pair_channels - pair_channels_),
                    ft = U(layout.type_channels - type_channels_);
  float* type = to.data() + layout.types_offset() + ft;
  for (int c = 0; c < columns(); ++c, type += layout.type_channels) {
    const int its_type = columns_[U(c)].type;
    if (its_type < 0) continue;
    // Who runs and is not shown keeps GPUs that were promised to others: then there are none.
    const auto room = static_cast<float>(std::max(plan.room(its_type), 0));
    type[0] = std::min(room / static_cast<float>(std::max(view.types()[U(its_type)].count, 1)), 1.0F);
  }
  float* job = to.data() + layout.jobs_offset() + fj;
  float* pair = to.data() + layout.pairs_offset() + fp;
  for (int row = 0; row < rows_; ++row, job += layout.job_channels) {
    const int its_job = JobOf(row);
    if (its_job >= 0) job[0] = plan.Placed(its_job) ? 1.0F : 0.0F;
    for (int c = 0; c < columns(); ++c, pair += layout.pair_channels) {
      const Kind* own = KindOf(c);
      std::fill_n(pair, pair_channels_, 0.0F);
      for (const Kind& kind : kinds_) {
        if (!kind.there || (own != nullptr ? own != &kind : columns_[U(c)].type < 0)) continue;
        const int subject = SubjectOf(kind, row);
        if (subject < 0 || (own == nullptr && !kind.kind->OfJobs())) continue;
        kind.kind->WritePair(view, plan, subject, columns_[U(c)], pair + kind.pair_channel);
        Bound(kind.info->pair, pair + kind.pair_channel);
      }
    }
  }
}

Legality CommandGrid::Legal(const ClusterView& view, const Plan& plan, int row, int column) const {
  const ActionColumn& it = columns_[U(column)];
  if (const Kind* kind = KindOf(column)) {
    const int subject = SubjectOf(*kind, row);
    return subject < 0 ? Legality::kNo : kind->kind->Legal(view, plan, subject, it);
  }
  const int job = JobOf(row);
  if (job < 0 || it.type < 0 || view.Rate(job, it.type) <= 0.0) return Legality::kNo;
  // On its whole gang also once it is there on fewer.
  return plan.FitsOn(view, job, it.type, view.Gang(job)) ? Legality::kYes : Legality::kNotYet;
}

int CommandGrid::RoomNeeded(const ClusterView& view, const Plan& plan, int job, int column) const {
  const ActionColumn& it = columns_[U(column)];
  if (it.type < 0) return -1;
  if (const Kind* kind = KindOf(column)) {
    return kind->kind->OfJobs() ? kind->kind->RoomNeeded(view, plan, job, it) : -1;
  }
  return view.Rate(job, it.type) > 0.0 ? plan.Takes(view, job, it.type, view.Gang(job))
                                       : ActionKind::kNeverFits;
}

void CommandGrid::Put(const ClusterView& view, Plan& plan, int row, int column) {
  const ActionColumn& it = columns_[U(column)];
  if (const Kind* kind = KindOf(column)) {
    kind->kind->Put(view, plan, SubjectOf(*kind, row), it);
  } else {
    plan.PutOn(view, JobOf(row), it.type, view.Gang(JobOf(row)));
  }
}

bool CommandGrid::Runs(const Plan& plan, int row, int column) const {
  const Kind* kind = KindOf(column);
  if (kind != nullptr && !kind->kind->OfJobs()) return kind->kind->Runs();
  const int job = JobOf(row);
  if (kind != nullptr && kind->kind->Widens()) return job >= 0;
  return job >= 0 && MakesRun(column) && !plan.Placed(job);
}

}  // namespace berth

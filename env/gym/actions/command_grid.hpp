// The commands of a decision point as one grid: rows are the visible jobs and what kinds of commands add to
// them, columns are `start` on each GPU type and then those of each kind (env/sim/action_kind.hpp). An action
// is row * columns + column; `done` follows them.
//
// An observation is the encoder's, laid out over the grid: a job's channels in its row, a type's in every
// column that names it, a job's on a type in every cell that names both. Behind them stand the kinds' own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "env/gym/actions/action_set.hpp"
#include "env/gym/mdp.hpp"
#include "env/gym/observation.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {

// Thread rule: one thread at a time. Allocates in Begin, and where a list outgrows all before it.
class CommandGrid {
 public:
  explicit CommandGrid(const MdpSpec& mdp);  // throws Error
  void Begin(const ClusterView& view);       // throws Error: a kind that has nothing to do here

  // After Begin. Columns beyond the cluster's, up to MdpSpec::columns, are all 0, and never legal.
  int columns() const { return static_cast<int>(columns_.size()); }
  // Of an observation with `rows`, those of kinds among them.
  ObservationLayout Layout(const ObservationLayout& encoder, int rows) const;
  int RowsLaidOut() const;  // beside those of jobs

  void Open(const ClusterView& view, Plan& plan);                             // a plan begins
  void Close(const ClusterView& view, const Plan& plan, Decision& decision);  // ActionKind::Close
  bool Wakes() const;                                                         // ActionKind::Wakes
  // A point begins, with these jobs in the first rows of `q` that there are for jobs.
  void Look(const ClusterView& view, std::span<const int> visible, int q, bool fixed_rows);
  int rows() const { return rows_; }
  // From the encoder's own observation, laid out for `q` jobs and the GPU types.
  void Write(const ClusterView& view, const Plan& plan, const ObservationLayout& encoder,
             std::span<const float> from, const ObservationLayout& layout, std::span<float> to) const;
  // The same once the plan has grown: what depends on it.
  void Rewrite(const ClusterView& view, const Plan& plan, const ObservationLayout& layout,
               std::span<float> to) const;

  Legality Legal(const ClusterView& view, const Plan& plan, int row, int column) const;
  // ActionKind::RoomNeeded of a command of the row's job.
  int RoomNeeded(const ClusterView& view, const Plan& plan, int job, int column) const;
  // REQUIRES: it is legal.
  void Put(const ClusterView& view, Plan& plan, int row, int column);
  // Would it have a job run that the plan has no place for?
  bool Runs(const Plan& plan, int row, int column) const;
  // Is the column about jobs, so that of the plan's room that of its type alone matters?
  bool OfJobs(int column) const {
    const Kind* kind = KindOf(column);
    return kind == nullptr || kind->kind->OfJobs();
  }
  bool MakesRun(int column) const {  // a job that the plan lacks: ActionKind::Runs
    const Kind* kind = KindOf(column);
    return kind == nullptr || kind->kind->Runs();
  }
  bool Awaits(int column) const {  // ActionKind::Awaits
    const Kind* kind = KindOf(column);
    return kind != nullptr && kind->kind->Awaits();
  }
  // A row with a job, or a subject of a kind.
  bool Present(int row) const;

  const ActionColumn& column(int column) const { return columns_[static_cast<std::size_t>(column)]; }
  // "start", "resize": of which kind the column is.
  const char* NameOf(int column) const;
  int JobOf(int row) const;  // -1 = it is not a job's
  // Of the job that shares a GPU with the row's now; -1 = there is none.
  int RowBeside(const ClusterView& view, int row) const;
  // Whom a command of the column is about: the row's job, or which of the kind's own; -1 = nobody.
  int Subject(int row, int column) const {
    const Kind* kind = KindOf(column);
    return kind == nullptr ? JobOf(row) : SubjectOf(*kind, row);
  }

 private:
  struct Kind {
    const ActionInfo* info;
    std::unique_ptr<ActionKind> kind;
    bool optional = false, there = true;  // the cluster has it
    int first_column = 0, last_column = 0;
    int first_row = 0, count = 0, laid_out = 0;  // rows of its own
    int type_channel = 0, pair_channel = 0, row_channel = 0;
  };
  bool IsStart(int column) const { return kind_of_[static_cast<std::size_t>(column)] < 0; }
  const Kind* KindOf(int column) const {
    const int kind = kind_of_[static_cast<std::size_t>(column)];
    return kind < 0 ? nullptr : &kinds_[static_cast<std::size_t>(kind)];
  }
  // The subject that a kind sees in the row; -1 = none.
  int SubjectOf(const Kind& kind, int row) const;

  std::vector<Kind> kinds_;
  int least_columns_, least_rows_;
  int job_channels_ = 1, pair_channels_ = 0, type_channels_ = 1;  // of the grid and of all kinds
  int types_ = 0;
  std::vector<ActionColumn> columns_;
  std::vector<int> kind_of_;  // [columns] -1 = start
  std::vector<int> jobs_;     // visible
  int job_rows_ = 0, rows_ = 0;
};

}  // namespace berth

// A kind of command that a policy may choose beside "this job on that GPU type": on more or fewer GPUs,
// beside another job, turned away, a clock or a layout set. Which kinds a policy has is its process's
// (MdpSpec::actions); how they stand side by side is env/gym/actions/command_grid.hpp's.
//
// A command is a row and a column of one grid. A row is what it is about: a visible job, or one of the rows
// that a kind adds for what is not a job. A column is what is done: "on v100", "on v100 as wide as room is",
// "turned away". So what an encoder says of a job, of a type, and of a job on a type holds for every command
// that names them, and a kind adds what is its own.
//
// A kind is one file and one line: of a feature in its folder and FeatureModule::actions, of the cluster as
// it always is in env/gym/actions. What is legal is the simulator's to say (env/sim/decision_rules.cpp): a
// plan that was filled by legal commands alone must be a legal decision, and a test holds the two together.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/observation_block.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// A column of the grid. `level` is the kind's own.
struct ActionColumn {
  int type = -1;  // GPU type; -1 = none
  int level = 0;
};

enum class Legality : std::uint8_t {
  kNo,      // nor will it be while this plan grows
  kNotYet,  // it may be once the plan has more in it
  kYes,
};

// Thread rule: one thread at a time. Allocates in Begin alone, and where a list outgrows all before it.
class ActionKind {
 public:
  virtual ~ActionKind() = default;
  // Its columns on this cluster, which depend on the cluster and its features alone. Throws Error where these
  // have nothing for it to do.
  virtual void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const = 0;
  virtual void Begin(const ClusterView& /*view*/) {}  // an episode begins
  // A plan begins: GPUs that this kind keeps from it.
  virtual void Open(const ClusterView& /*view*/, Plan& /*plan*/) {}
  // The plan is complete, and this is what it decides.
  virtual void Close(const ClusterView& /*view*/, const Plan& /*plan*/, Decision& /*decision*/) {}
  // A decision point begins, with these jobs in rows.
  virtual void Look(const ClusterView& /*view*/, std::span<const int> /*visible*/) {}

  // Its commands are about jobs, or about rows of its own. Of these so many (after Begin) are laid out where
  // an observation has a fixed size, and the others not offered; else as many as Rows says. Rows that are not
  // there are all 0.
  virtual bool OfJobs() const { return true; }
  virtual int RowsLaidOut() const { return 0; }
  virtual int Rows(const ClusterView& /*view*/) { return 0; }

  // Channels (ActionInfo): of one of its columns, of one of its rows, and of a command. A command of a job's
  // row is described in its own columns and in those of `start`, with level -1. All 0 before it is called;
  // what is beyond a channel's range is brought to its edge.
  virtual void WriteColumn(const ClusterView& /*view*/, const ActionColumn& /*column*/, float* /*f*/) {}
  virtual void WriteRow(const ClusterView& /*view*/, int /*row*/, float* /*f*/) {}
  virtual void WritePair(const ClusterView& /*view*/, const Plan& /*plan*/, int /*subject*/,
                         const ActionColumn& /*column*/, float* /*f*/) {}

  // `subject`: a job, or of a kind with rows of its own which of them.
  virtual Legality Legal(const ClusterView& view, const Plan& plan, int subject,
                         const ActionColumn& column) const = 0;
  // Legal in a number, for a job that the plan lacks and that shares its GPU with nobody: legal where the
  // column's type has room for so many GPUs, kNeverFits where it never is; -1 = Legal alone can tell.
  virtual int RoomNeeded(const ClusterView& /*view*/, const Plan& /*plan*/, int /*job*/,
                         const ActionColumn& /*column*/) const {
    return -1;
  }
  static constexpr int kNeverFits = std::numeric_limits<int>::max();
  virtual void Put(const ClusterView& view, Plan& plan, int subject, const ActionColumn& column) = 0;
  // Legal for a job that the plan lacks, it makes the job run; of a kind with rows of its own it decides one
  // that must be decided. `done` waits for both (MdpSpec::work_conserving).
  virtual bool Runs() const { return false; }
  // Legal for a job that the plan has, it makes the job faster, and `done` waits for that too.
  virtual bool Widens() const { return false; }
  // kNotYet may end with a command of another row; else only with one of its own.
  virtual bool Awaits() const { return false; }
  // Does what it closed last ask for another decision though nothing may happen until then? That point is not
  // passed over (MdpSpec::on_change).
  virtual bool Wakes() const { return false; }
};

// ActionInfo::make of a kind that has no parameters.
template <class Kind>
std::unique_ptr<ActionKind> MakeAction(Params& /*params*/) {
  return std::make_unique<Kind>();
}

// The settings of the feature that `action` is of. Throws Error where it is off.
template <class Settings>
const Settings& FeatureFor(const char* action, const ClusterView& view) {
  const Settings* settings = view.features().Find<Settings>();
  if (settings != nullptr) return *settings;
  throw Error(
      Join("actions: ", action, ": expected a cluster with the feature ", Settings::kName, ", found it off"));
}

struct ActionInfo {
  const char* name;     // "resize"
  const char* summary;  // of a command: "a job on fewer or more GPUs than its gang"
  const char* source = "Berth";
  std::span<const ParamInfo> params = {};
  std::span<const ChannelInfo> column = {}, row = {}, pair = {};
  std::unique_ptr<ActionKind> (*make)(Params& params) = nullptr;
  // A term of the reward (env/gym/rewards.hpp) without which the command would cost nothing; null = none.
  const char* needs_reward = nullptr;
  bool on_request = false;  // `--actions auto` leaves it out: whether training gains by it was not measured
  bool resizes = false;     // it may give a job another number of GPUs than its gang
};

}  // namespace berth

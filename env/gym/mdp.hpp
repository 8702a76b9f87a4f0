// What the decision process is, apart from the workload: recorded in checkpoints and bundles, so that a
// policy is only ever run the way it was trained.
#pragma once

#include <cstdint>
#include <string>

#include "env/sim/scenario.hpp"

namespace berth {

// Named, because they matter more than the learner does. A table never mixes the two.
enum class Semantics : std::uint8_t {
  kRedecide,  // every decision point looks afresh; done is an action
  kCommit,    // the chosen job blocks until it fits; no done, and the mask does not test fit
};
const char* ToString(Semantics semantics);
Semantics ParseSemantics(const std::string& text);  // throws Error

// Order of the candidates. Where there are more, the visible Q are its first ceil(Q/2) and its last
// floor(Q/2), unless a block says otherwise (Encoder::Select).
enum class QueueOrder : std::uint8_t { kArrival, kShortest };
const char* ToString(QueueOrder order);
QueueOrder ParseQueueOrder(const std::string& text);  // throws Error

// What the best-scored job does on a type that has no room for it (semantics redecide, non-preemptive):
// nothing, hold all others back from the type until it starts (the strict order of a queue), or those only
// that would delay it (EASY, Lifka 1995: one reservation a type, worked out at every decision, others in
// score order). A frozen policy's, not the process's in training.
enum class Reserve : std::uint8_t { kNone, kHead, kEasy };
const char* ToString(Reserve reserve);
Reserve ParseReserve(const std::string& text);  // throws Error

struct MdpSpec {
  std::string encoder = "ObservationV1";
  Semantics semantics = Semantics::kRedecide;
  bool preemptive = true;
  Knowledge knowledge = Knowledge::kOracle;
  QueueOrder order = QueueOrder::kArrival;
  // Decision points are passed over, and the plan stays, where since the last one nothing arrived or
  // completed and the cluster did not change (ClusterView::capacity_changed), unless that one asked for it
  // (`wait`).
  bool on_change = true;
  // redecide: `done` is masked while any job fits anywhere, so no GPU idles that a candidate could use. Where
  // stopping is free this loses nothing: whoever was put on a slow GPU leaves it as soon as a better one is
  // there.
  bool work_conserving = true;
  // commit: while the chosen job waits, others are started by the published rule (commit_backfill.hpp). Needs
  // estimates where jobs request nothing.
  bool commit_backfill = false;
  int visible = 64;  // Q during training; a frozen policy scores every candidate
  // Kinds of commands by ',' (actions/action_set.hpp): `start` alone, or with others beside it, for semantics
  // redecide.
  std::string actions = "start";
  // With more commands than `start`: at least so many columns, and in training rows beside those of jobs, are
  // laid out, so that episodes on clusters of other types and features have observations of one size. 0 =
  // those of the cluster.
  int columns = 0, rows = 0;
  // With more commands than `start`: is the observation taken anew after each of them, with what the plan
  // then has (true), or once a point?
  bool reread = false;
  std::string reward = "jct";    // sum of terms: "jct", "jct+0.5*slowdown", see rewards.hpp
  double tau_s = 36000.0;        // discount = exp(-dt / tau_s); 1 within an instant
  std::string ToString() const;  // "ObservationV1 redecide preemptive oracle ..."
};

}  // namespace berth

// Pod groups that run whole or not at all: kube-scheduler asks about one pod at a time, and says nothing of
// the others.
//
// A group starts when one of its pods is asked about while the nodes shown, of one GPU type, would hold all
// of its members beside those that other groups still wait for. From then on it holds room for its members on
// that type until the last one has been let through, or for `timeout_s`. A group whose time is over holds
// nothing, and its pods are refused for as long again, in which others can start; then it may start anew, as
// if nothing of it ran. Since a group starts only beside what others hold, two halves never wait for each
// other.
//
// The state is this object's alone: what was let through before it was made is not known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "tools/serve/extender_request.hpp"

namespace berth {

// Thread rule: one thread at a time. Times in seconds, of any clock that does not go back.
class GangBook {
 public:
  // `whole_nodes`: a node is room for one pod, whatever its size (all that kube-scheduler says when it shows
  // a node); else slots are counted in GPUs.
  GangBook(double timeout_s, bool whole_nodes) : timeout_s_(timeout_s), whole_nodes_(whole_nodes) {}

  struct Verdict {
    int type = -1;    // the GPU type whose nodes the pod may have; -1 = none now
    std::string why;  // where that is so
  };
  // Whether this pod, a member, may start. scores [G]: the policy's, -infinity = not there; slots [G]: how
  // many pods of this size the nodes shown would hold. A pod that is asked about again is let through again.
  Verdict Admit(const ExtenderPod& pod, std::span<const float> scores, std::span<const std::int64_t> slots,
                double now);

  // How many slots of a pod of `gpus` GPUs groups hold on a type.
  std::int64_t Held(int type, int gpus, double now);

 private:
  enum class State { kGathering, kWhole, kRefused };
  struct Group {
    State state = State::kGathering;
    int type = -1, gpus = 0, members = 0;
    bool owned = false;
    // Of one that gathers: names of pods, which a pod's successor has again where its controller names pods.
    std::set<std::string> through;
    double until = 0.0;  // when the state ends; of a whole group whose controller is known never
  };
  void Expire(double now);
  // Why no further pod can be remembered; "" where one can.
  std::string WhyFull() const;

  // Slots on a type held by other groups than `key` that began before one whose time is over at `until`.
  std::int64_t HeldByOthers(int type, int gpus, const std::string& key, double until) const;

  double timeout_s_;
  bool whole_nodes_;
  std::map<std::string, Group> groups_;
};

}  // namespace berth

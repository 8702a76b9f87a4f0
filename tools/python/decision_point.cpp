// berth._berth.DecisionPoint: what HeteroCluster-v0 shows and forbids at a decision, for a scheduler that
// decides elsewhere, step by step as env.step does (env/gym/sched_env.cpp).
#include "env/gym/decision_point.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "tools/python/environments.hpp"
#include "tools/python/learning.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/python/python_workload.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

constexpr const char* kEnvironment = "HeteroCluster-v0";

template <class To, class From>
ArrayObject<To> CopyOf(std::span<const From> values) {
  auto* copy = new std::vector<std::uint8_t>(values.size() * sizeof(To));
  std::copy(values.begin(), values.end(), reinterpret_cast<To*>(copy->data()));
  const nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
  const std::size_t shape[] = {values.size()};
  return nb::cast(nb::ndarray<nb::numpy, To>(copy->data(), 1, shape, owner));
}

class PythonPoint {
 public:
  PythonPoint(const std::map<std::string, std::string>& keywords, nb::object jobs)
      : named_(ResolveEnvironment(kEnvironment, keywords, WithPythonJobs(std::move(jobs)))),
        point_(*named_.mdp) {
    const std::unique_ptr<VecEnv> env = named_.make(named_.seed, /*num_envs=*/1, /*threads=*/1);
    layout_ = env->layout();
    actions_ = env->num_actions();
  }

  const MdpSpec& mdp() const { return point_.mdp(); }
  int size() const { return static_cast<int>(layout_.size()); }
  int num_actions() const { return actions_; }

  void Begin(nb::handle object) {
    const ClusterView& view = ViewOf(object);
    point_.Begin(view);
    std::vector<std::string> types;
    for (const GpuType& type : view.types()) types.push_back(type.name);
    if (point_.Layout(mdp().visible, view.num_types()) == layout_ && types == named_.gpu_types) return;
    throw Error(Join("expected the GPU types and commands of the environment, ", Listed(named_.gpu_types),
                     ", found a cluster of ", Listed(types)));
  }

  // Is there anything to choose?
  bool Open(nb::handle object) {
    const ClusterView& view = ViewOf(object);
    passed_ = !point_.commits() && point_.PassesOver(view);
    if (passed_) return false;
    point_.Start(view);
    if (point_.commits()) return Next(view);
    point_.Gather(view);
    Look(view);
    OfferDone(view);
    return point_.mask().pairs() > 0;
  }

  // Takes the action; is there more to choose?
  bool Put(nb::handle object, std::int64_t action) {
    const ClusterView& view = ViewOf(object);
    if (action < 0 || action >= actions_ || point_.mask().bytes()[U(action)] == 0)
      throw Error(Join("action: expected a legal one of 0 to ", actions_ - 1, ", found ", action));
    if (point_.commits()) {
      point_.Choose(view, point_.PlacementOf(static_cast<int>(action)));
      return Next(view);
    }
    if (action == point_.done()) return false;
    point_.Put(view, static_cast<int>(action));
    moved_ = mdp().reread;
    const bool done = OfferDone(view);
    return point_.mask().pairs() > 0 || !done;
  }

  void Close(nb::handle object, nb::handle decision) {
    if (!passed_) point_.Close(ViewOf(object), DecisionOf(decision));
  }

  bool TakeMoved() { return std::exchange(moved_, false); }
  ArrayObject<float> Observation() const { return CopyOf<float>(point_.observation()); }
  ArrayObject<bool> Mask() const { return CopyOf<bool>(point_.mask().bytes()); }

 private:
  // semantics commit
  bool Next(const ClusterView& view) {
    if (point_.blocked() || !point_.Gather(view)) return false;
    Look(view);
    return point_.mask().pairs() > 0;
  }
  void Look(const ClusterView& view) {
    point_.Observe(view, mdp().visible);
    point_.OpenMask(view);
    moved_ = true;
  }
  // As frozen policies do (env/gym/score_order.cpp), who cannot know whether jobs are still to come either.
  bool OfferDone(const ClusterView& view) {
    return point_.OfferDone(point_.Runs(view) || point_.mask().starts() == 0);
  }

  NamedEnvironment named_;
  DecisionPoint point_;
  ObservationLayout layout_;
  int actions_ = 0;
  bool passed_ = true, moved_ = false;
};

}  // namespace

void AddDecisionPoint(nb::module_& module) {
  nb::class_<PythonPoint>(
      module, "DecisionPoint",
      "What HeteroCluster-v0 shows and forbids, within decide of a berth.Scheduler: open, "
      "put while there is more to choose, close. One thread at a time.")
      .def(
          nb::init<const std::map<std::string, std::string>&, nb::object>(), nb::arg("keywords"),
          nb::arg("jobs") = nb::none(),
          "Keywords of HeteroCluster-v0, and the berth.jobs.Jobs that are its workload; ValueError names the "
          "one that is wrong.")
      .def("begin", &PythonPoint::Begin, nb::arg("view"),
           "A run begins. ValueError where its cluster is another one than the environment's.")
      .def("open", &PythonPoint::Open, nb::arg("view"), "True where there is anything to choose.")
      .def("put", &PythonPoint::Put, nb::arg("view"), nb::arg("action"),
           "Takes a legal action; True where there is more to choose.")
      .def("close", &PythonPoint::Close, nb::arg("view"), nb::arg("decision"),
           "Orders what was chosen, and nothing where the process passes over the point.")
      .def("take_moved", &PythonPoint::TakeMoved, "Has the observation changed since the last call?")
      .def_prop_ro("observation", &PythonPoint::Observation, "float32 [D], a copy.")
      .def_prop_ro("mask", &PythonPoint::Mask, "bool [A], True = legal; a copy.")
      .def_prop_ro("size", &PythonPoint::size, "D")
      .def_prop_ro("num_actions", &PythonPoint::num_actions, "A")
      .def_prop_ro(
          "knowledge", [](const PythonPoint& point) { return ToString(point.mdp().knowledge); },
          "What the environment grants: 'oracle'.");
}

}  // namespace berth

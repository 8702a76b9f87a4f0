// berth._berth: VectorEnvironment as NumPy arrays. What Python people see is in berth/*.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <stdexcept>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/python/learning.hpp"
#include "tools/python/python_blocks.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/python/python_types.hpp"
#include "tools/python/python_workload.hpp"
#include "tools/python/runs.hpp"
#include "tools/python/studies.hpp"
#include "tools/python/table_scenario.hpp"
#include "tools/python/vector_environment.hpp"
#include "tools/python_schedulers.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

template <class T>
using Array = nb::ndarray<nb::numpy, T>;

// What Python holds. While step and reset work, other Python threads run: whoever of them asks meanwhile is
// told so, and nothing has happened.
struct SharedEnvironment : VectorEnvironment {
  using VectorEnvironment::VectorEnvironment;
  std::atomic_flag busy;
};

class Exclusive {
 public:
  explicit Exclusive(SharedEnvironment& env) : env_(env) {
    if (env_.busy.test_and_set(std::memory_order_acquire)) {
      throw std::runtime_error(
          "expected one thread at a time, found another one within step or reset of this environment");
    }
  }
  ~Exclusive() { env_.busy.clear(std::memory_order_release); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  SharedEnvironment& env_;
};

// A view that keeps `owner` alive; one row of it where `columns` is 0.
template <class T, class Of>
Array<T> View(std::vector<Of>& data, std::size_t rows, std::size_t columns, nb::handle owner) {
  const std::size_t shape[] = {rows, columns};
  return Array<T>(data.data(), columns == 0 ? 1 : 2, shape, owner);
}

Record Buffers(SharedEnvironment& env, int turn) {
  if (turn != 0 && turn != 1) throw Error(Join("turn: expected 0 or 1, found ", turn));
  const nb::object self = nb::find(env);
  StepStorage& storage = env.storage(turn);
  const std::size_t n = U(env.num_envs()), d = U(env.layout().size()), a = U(env.num_actions());
  nb::dict views;
  views["observation"] = View<float>(storage.observation, n, d, self);
  // int8 is what gymnasium.spaces.Discrete.sample takes. Read-only: Step believes it. The rest is for whoever
  // has it to change: Stable-Baselines3's PPO adds to rewards.
  views["action_mask"] = View<const std::int8_t>(storage.action_mask, n, a, self);
  views["reward"] = View<float>(storage.reward, n, 0, self);
  views["terminated"] = View<bool>(storage.terminated, n, 0, self);
  views["truncated"] = View<bool>(storage.truncated, n, 0, self);
  views["discount"] = View<float>(storage.discount, n, 0, self);
  if (env.named().signal) views["signal"] = View<float>(storage.signal, n, 0, self);
  views["final_observation"] = View<float>(storage.final_observation, n, d, self);
  views["final_mask"] = View<const std::int8_t>(storage.final_mask, n, a, self);
  if (StepMetrics* const metrics = env.named().metrics.get())
    views["metrics"] = View<const double>(metrics->values, metrics->names.size(), n, self);
  return views;
}

// What Python adds to an environment; None = nothing of it.
EnvironmentExtras ExtrasOf(bool metrics, nb::object blocks, nb::object jobs) {
  EnvironmentExtras extras = WithPythonJobs(std::move(jobs));
  extras.metrics = metrics;
  if (!blocks.is_none()) AddPythonBlocks(std::move(blocks), extras);
  return extras;
}

using Actions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

bool Step(SharedEnvironment& env, const Actions& actions) {
  const Exclusive exclusive(env);
  if (actions.size() != U(env.num_envs())) {
    throw Error(Join("actions: expected shape (", env.num_envs(), ",), found (", actions.size(), ",)"));
  }
  const nb::gil_scoped_release release;
  return env.Step({actions.data(), actions.size()});
}

void Reset(SharedEnvironment& env, std::optional<std::uint64_t> seed) {
  const Exclusive exclusive(env);
  const nb::gil_scoped_release release;
  env.Reset(seed);
}

nb::typed<nb::dict, nb::str, nb::float_> TakeStats(SharedEnvironment& env) {
  const Exclusive exclusive(env);
  const EpisodeStats stats = env.TakeStats();
  nb::dict means;
  means["episodes"] = stats.episodes;
  means["mean_return"] = stats.return_sum / static_cast<double>(stats.episodes);
  means["mean_jct_s"] = stats.metric_sum / static_cast<double>(stats.measured);
  return means;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const NamedEnvironmentInfo& info : NamedEnvironments()) names.emplace_back(info.name);
  return names;
}

nb::typed<nb::list, nb::typed<nb::tuple, nb::str, bool>> RewardTerms() {
  nb::list terms;
  for (const RewardInfo& info : Rewards()) terms.append(nb::make_tuple(info.name, info.terminal));
  return terms;
}

std::string Help(const std::string& name) {
  const NamedEnvironmentInfo& info = FindEnvironment(name);
  return Join(info.name, ": ", info.summary, "\n\n", info.options().Help());
}

Record WriteTable(const std::string& csv, const std::string& out,
                  const std::map<std::string, std::string>& keywords) {
  const WrittenScenario written = [&] {
    const nb::gil_scoped_release release;
    return WriteTableScenario(csv, out, keywords);
  }();
  nb::dict said;
  said["jobs"] = written.jobs, said["notes"] = written.notes, said["refused"] = written.refused;
  return said;
}

int IndexOf(const SharedEnvironment& env, int index) {
  if (index >= 0 && index < env.num_envs()) return index;
  throw Error(Join("index: expected 0 to ", env.num_envs() - 1, ", found ", index));
}

}  // namespace
}  // namespace berth

NB_MODULE(_berth, module) {
  using namespace berth;
  h5::SetSourceCommit("Python package " BERTH_VERSION);  // who refuses a file says so
  module.doc() = "Berth's environments as NumPy arrays; see the package berth.";
  nb::set_leak_warnings(false);  // what an uncaught exception's traceback holds is no leak
  module.attr("__version__") = BERTH_VERSION;
  static constexpr PythonApi kHere{kPythonApiVersion, MakePythonFile};
  UsePython(kHere);
  AddSchedulerTypes(module);
  AddRuns(module);
  AddLearning(module);
  AddStudies(module);
  module.def("rewards", RewardTerms, "Of each term of a reward: its name, and whether it is paid at an end.");
  module.def("names", Names, "Names of the environments.");
  module.def(
      "help", Help, nb::arg("name"),
      "The keywords of an environment, one a line. ValueError where there is none, with the nearest name.");

  module.def(
      "write_table", WriteTable, nb::arg("csv"), nb::arg("out"), nb::arg("keywords"),
      "A CSV of jobs as a scenario file `out`; see berth.Scenario.from_frame. ValueError names the keyword "
      "or the line.");

  nb::class_<SharedEnvironment>(
      module, "VectorEnvironment",
      "N environments stepped together. Every step writes one of two sets of buffers, in "
      "turn. RuntimeError where another thread is within step or reset.")
      .def(
          "__init__",
          [](SharedEnvironment* self, const std::string& name,
             const std::map<std::string, std::string>& keywords, int num_envs, int threads,
             const std::string& illegal, bool metrics, nb::object blocks, nb::object jobs) {
            new (self) SharedEnvironment(name, keywords, num_envs, threads, illegal,
                                         ExtrasOf(metrics, std::move(blocks), std::move(jobs)));
          },
          nb::arg("name"), nb::arg("keywords"), nb::arg("num_envs"), nb::arg("threads"), nb::arg("illegal"),
          nb::arg("metrics") = false, nb::arg("blocks") = nb::none(), nb::arg("jobs") = nb::none(),
          "illegal: 'next_legal' or 'error'; metrics: buffers has those of a step; blocks: "
          "berth.block.Blocks; jobs: berth.jobs.Jobs. ValueError names the argument.")
      .def("reset", Reset, nb::arg("seed").none(),
           "Episode 0 of `seed`, or where it is None the episodes after the present ones.")
      .def("step", Step, nb::arg("actions"),
           "actions: int64 [N]. True where an episode ended: that environment has begun the next one.")
      .def("buffers", Buffers, nb::arg("turn"),
           "Views, overwritten every second step, masks read-only: observation float32 [N, D], action_mask "
           "int8 [N, A], "
           "reward float32 "
           "[N], terminated bool [N], truncated bool [N], discount float32 [N], with a signal other than the "
           "reward signal float32 [N]; where an episode ended, "
           "final_observation float32 [N, D], and where it was truncated final_mask int8 [N, A].")
      .def_prop_ro(
          "turn", [](const SharedEnvironment& env) { return env.turn(); },
          "Which buffers hold the present step: 0 or 1.")
      .def_prop_ro(
          "replaced", [](const SharedEnvironment& env) { return env.replaced(); },
          "Actions of the last step that were illegal and made way for the next legal one.")
      .def_prop_ro(
          "played",
          [](SharedEnvironment& env) {
            const Exclusive exclusive(env);
            return std::vector<std::int32_t>(env.played().begin(), env.played().end());
          },
          "Actions [N] of the last step, as played.")
      .def_prop_ro(
          "num_envs", [](const SharedEnvironment& env) { return env.num_envs(); }, "N")
      .def_prop_ro(
          "num_actions", [](const SharedEnvironment& env) { return env.num_actions(); }, "A")
      .def_prop_ro(
          "layout",
          [](const SharedEnvironment& env) -> nb::typed<nb::dict, nb::str, int> {
            const ObservationLayout layout = env.layout();
            nb::dict shape;
            shape["q"] = layout.q, shape["g"] = layout.g;
            shape["job_channels"] = layout.job_channels;
            shape["pair_channels"] = layout.pair_channels;
            shape["type_channels"] = layout.type_channels;
            shape["global_channels"] = layout.global_channels - env.named().tail;
            return shape;
          },
          "Blocks of an observation, in this order: jobs [q, job_channels], pairs [q, g, pair_channels], "
          "types "
          "[g, type_channels], global [global_channels].")
      .def_prop_ro(
          "metrics",
          [](const SharedEnvironment& env) {
            return env.named().metrics ? env.named().metrics->names : std::vector<std::string>();
          },
          "Names of the rows of the buffer `metrics`, float64 [names, N] of the last step.")
      .def_prop_ro(
          "low", [](const SharedEnvironment& env) { return env.named().low; },
          "Least values of an observation [D].")
      .def_prop_ro(
          "high", [](const SharedEnvironment& env) { return env.named().high; },
          "Largest values of an observation [D].")
      .def_prop_ro(
          "description", [](const SharedEnvironment& env) { return env.named().description; },
          "Every keyword as resolved, one 'name=value' a line.")
      .def(
          "take_stats", TakeStats,
          "Of the episodes that ended since the last call: how many, their mean undiscounted return, and the "
          "mean "
          "over those in which a job completed of the mean job completion time, s; nan where there are none.")
      .def(
          "time",
          [](SharedEnvironment& env, int index) {
            const Exclusive exclusive(env);
            return env.now(IndexOf(env, index));
          },
          nb::arg("index") = 0, "Simulated seconds since the scenario's origin.")
      .def(
          "signature",
          [](SharedEnvironment& env, int index) {
            const Exclusive exclusive(env);
            return env.signature(IndexOf(env, index));
          },
          nb::arg("index") = 0, "Hash of the event log so far, as `berth simulate` prints of a whole run.");
}

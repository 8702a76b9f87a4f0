// berth.train: the learners of libberth_learn.so, in this process.
#include "tools/training.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "tools/learn_library.hpp"
#include "tools/python/keywords.hpp"
#include "tools/python/learning.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/side_library.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

// The folder of one training, which no other one of this process may write to meanwhile.
class RunFolder {
 public:
  explicit RunFolder(const std::string& folder)
      : path_(std::filesystem::weakly_canonical(std::filesystem::absolute(folder))) {
    const std::lock_guard lock(Mutex());
    if (!Taken().insert(path_).second)
      throw Error(Join("out: expected a folder of its own, found ", folder,
                       ", to which another training of this process writes"));
  }
  ~RunFolder() {
    const std::lock_guard lock(Mutex());
    Taken().erase(path_);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

 private:
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::set<std::filesystem::path>& Taken() {
    static std::set<std::filesystem::path> taken;
    return taken;
  }
  std::filesystem::path path_;
};

// nan where there is none.
nb::dict ProgressOf(const TrainProgress& now, const std::vector<std::string>& notes) {
  nb::dict said;
  said["steps"] = now.steps, said["total_steps"] = now.total_steps;
  said["steps_per_s"] = now.steps_per_s, said["wall_s"] = now.wall_s;
  said["member"] = now.member, said["members"] = now.members;
  said["mean_jct_s"] = now.recent_metric, said["mean_return"] = now.recent_return;
  said["running_jct_s"] = now.running_metric, said["running_return"] = now.running_return;
  said["backlog_begin"] = now.backlog_begin, said["backlog_end"] = now.backlog_end;
  said["env_share"] = now.env_share, said["act_share"] = now.act_share, said["learn_share"] = now.learn_share;
  nb::dict losses;
  for (const auto& [name, value] : now.losses) losses[name.c_str()] = value;
  said["losses"] = losses;
  nb::list lines;
  for (const std::string& note : notes) lines.append(note);
  said["notes"] = lines;
  return said;
}

// Asks `callback`, on the thread that trains; what it raises is kept for the caller of train.
class Asked {
 public:
  Asked(nb::object callback, PythonCalls& calls) : callback_(std::move(callback)), calls_(calls) {}

  void operator()(const TrainProgress& now, const std::vector<std::string>& notes) {
    const nb::gil_scoped_acquire gil;
    if (raised_ || calls_.stopped || callback_.is_none()) return;
    const unsigned long thread = PyThread_get_thread_ident();
    calls_.inside.insert(thread);  // where Ctrl-C reaches it
    try {
      const nb::object said = callback_(ProgressOf(now, notes));
      const int stop = PyObject_IsTrue(said.ptr());
      if (stop < 0) nb::raise_python_error();
      if (stop > 0) calls_.stopped = true;
    } catch (...) {
      raised_ = std::current_exception();
      calls_.stopped = true;
    }
    calls_.inside.erase(thread);
  }
  void Rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  nb::object callback_;
  PythonCalls& calls_;
  std::exception_ptr raised_;
};

void CheckOneProcess(const World& world) {
  if (!world.many()) return;
  throw Error(Join("train: expected one process, found ", world.size, " (", world.size_variable,
                   "): several train together by `berth train`"));
}

// The outcome as `berth train --json` has it, as text; the policy is in OUT/policy.h5 then.
std::string Train(const Keywords& keywords, nb::object callback) {
  const auto calls = std::make_shared<PythonCalls>();
  Asked ask(std::move(callback), *calls);
  std::string said;
  RunInterruptibly(*calls, [&] {
    Options options("train", "", "", OptionNames::kKeywords);
    AddTrainingOptions(options, /*flags=*/false);
    Give(options, keywords);
    const RunFolder folder(options.Required("out"));
    Training training(options, "Python package " BERTH_VERSION);
    CheckOneProcess(training.request.world);
    training.Open(options);
    training.request.interrupted = &calls->stopped;
    training.request.on_progress = [&](const TrainProgress& now) { ask(now, training.Notes(now)); };
    const TrainOutcome outcome = training.Run(options);
    const std::string& out = training.request.out_dir;
    training.learners().export_policy({out, out + "/policy.h5", "", training.request.commit});
    said = training.ToJson(outcome, options).dump();
    ask.Rethrow();
  });
  return said;
}

std::string Learners() {
  return OpenLearnLibrary().build();
}

std::string Help() {
  Options options("train", "", "", OptionNames::kKeywords);
  AddTrainingOptions(options, /*flags=*/false);
  return options.Help();
}

}  // namespace

void AddLearning(nb::module_& module) {
#ifdef BERTH_LIBRARIES
  // A wheel has them within the package; in a checkout tools/berth builds them.
  const std::filesystem::path packaged = ProgramFolder() / "bin";
  LookForLibrariesIn(std::filesystem::exists(packaged) ? packaged.string() : BERTH_LIBRARIES);
#endif
  module.def("train", Train, nb::arg("keywords"), nb::arg("callback").none(),
             "The outcome as JSON, with the policy in OUT/policy.h5; see berth.train.");
  module.def("learners", Learners, "What the learners were built with: 'LibTorch 2.11.0, CPU only'.");
  module.def("train_help", Help, "The keywords of berth.train, one a line.");
  AddPolicies(module);
  AddDecisionPoint(module);
}

}  // namespace berth

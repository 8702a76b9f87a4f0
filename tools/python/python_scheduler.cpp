#include "tools/python/python_scheduler.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "env/base/spec.hpp"
#include "policies/schedulers.hpp"
#include "tools/python/scheduler_help.hpp"
#include "tools/python/view_columns.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

// -- what decide() is handed

struct PyView {
  std::shared_ptr<ViewColumns> columns;
  const ClusterView* view;  // null once the call is over
  std::optional<std::span<const int>> visible;

  const ClusterView& Now() const {
    if (view != nullptr) return *view;
    throw std::runtime_error(
        "expected the view within decide or reset alone, found it used after that: keep arrays or copies of "
        "what is needed later");
  }
  ViewColumns& Columns() const {
    (void)Now();
    return *columns;
  }
};

struct PyDecision {
  const ClusterView* view;
  Decision* decision;

  Decision& Now() const {
    if (decision != nullptr) return *decision;
    throw std::runtime_error("expected orders within decide alone, found one after it");
  }
};

#define BERTH_PLACE_SIGNATURE(name)                                                                    \
  "def " name                                                                                          \
  "(self, job: typing.SupportsIndex, type: typing.SupportsIndex | str, width: typing.SupportsIndex | " \
  "None = None, devices: collections.abc.Iterable[typing.SupportsIndex] | None = None) -> None"

std::string Repr(nb::handle object) {
  return TextOf(nb::repr(object));
}

// Of a str of Python's; "" where it cannot be had.
std::string Utf8(PyObject* text) {
  PyObject* const bytes =
      text != nullptr ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : nullptr;
  if (bytes == nullptr) return "";
  std::string utf8(PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes)));
  Py_DECREF(bytes);
  return utf8;
}

// An integer of Python's or NumPy's.
std::optional<std::int64_t> Integer(nb::handle value) {
  if (PyIndex_Check(value.ptr()) == 0) return std::nullopt;
  const Py_ssize_t number = PyNumber_AsSsize_t(value.ptr(), nullptr);  // the nearest where it is beyond
  if (number == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return number;
}

int JobOf(const ClusterView& view, nb::handle job) {
  const std::optional<std::int64_t> index = Integer(job);
  if (index && *index >= 0 && *index < view.num_jobs()) return static_cast<int>(*index);
  throw Error(Join("job: expected an index of view.active, found ", Repr(job)));
}

int ArrivedOf(const PyView& seen, nb::handle job) {
  const std::optional<std::int64_t> index = Integer(job);
  if (index && *index >= 0 && *index < seen.Columns().arrived()) return static_cast<int>(*index);
  throw Error(
      Join("job: expected one that has arrived, 0 to ", seen.Columns().arrived() - 1, ", found ", Repr(job)));
}

int TypeOf(const ClusterView& view, int job, nb::handle type) {
  const std::optional<std::int64_t> index = Integer(type);
  if (index && *index >= 0 && *index < view.num_types()) return static_cast<int>(*index);
  std::vector<std::string> names;
  for (const GpuType& its : view.types()) names.push_back(its.name);
  std::string nearest;
  if (nb::isinstance<nb::str>(type)) {
    const std::string name = TextOf(type);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return static_cast<int>(i);
    }
    nearest = DidYouMean(name, names);
  }
  throw Error(Join("job ", job, ": type: expected a GPU type, 0 to ", view.num_types() - 1, " or one of ",
                   Listed(names), ", found ", Repr(type), nearest));
}

int WidthOf(int job, nb::handle width) {
  const std::optional<std::int64_t> gpus = Integer(width);
  if (gpus && *gpus > 0 && *gpus <= std::numeric_limits<int>::max()) return static_cast<int>(*gpus);
  throw Error(Join("job ", job, ": width: expected a number of GPUs, found ", Repr(width)));
}

std::vector<int> DevicesOf(const ClusterView& view, int job, nb::handle devices) {
  std::vector<int> list;
  for (const nb::handle device : nb::borrow<nb::object>(devices)) {
    const std::optional<std::int64_t> index = Integer(device);
    if (!index || *index < 0 || *index >= view.num_gpus())
      throw Error(Join("job ", job, ": devices: expected numbers from 0 to ", view.num_gpus() - 1, ", found ",
                       Repr(device)));
    list.push_back(static_cast<int>(*index));
  }
  return list;
}

void Place(const PyDecision& to, CommandKind kind, nb::handle job, nb::handle type, nb::handle width,
           nb::handle devices) {
  Decision& decision = to.Now();
  const int j = JobOf(*to.view, job), t = TypeOf(*to.view, j, type);
  const bool start = kind == CommandKind::kStart;
  if (!devices.is_none()) {
    if (!width.is_none()) throw Error(Join("job ", j, ": expected width or devices, found both"));
    const std::vector<int> on = DevicesOf(*to.view, j, devices);
    start ? decision.Start(j, t, on) : decision.Move(j, t, on);
    decision.commands.back().width = static_cast<int>(on.size());
  } else if (!width.is_none()) {
    const int gpus = WidthOf(j, width);
    start ? decision.StartAt(j, t, gpus) : decision.Resize(j, t, gpus);
  } else {
    start ? decision.Start(j, t) : decision.Move(j, t);
  }
}

void WakeAt(PyDecision& to, double time) {
  Decision& decision = to.Now();
  if (!(time > to.view->now()))
    throw Error(Join("wake_at: expected a time after now, ", to.view->now(), " s, found ", time));
  decision.wake_at = time;
}

// -- the scheduler

constexpr double kNoTime = -1.0;

// A thread that Python does not know gets a state of its own there once, not with every decision.
class PythonThread {
 public:
  static void Enter() {
    if (PyGILState_GetThisThreadState() == nullptr) thread_local PythonThread here;
  }
  PythonThread() : gil_(PyGILState_Ensure()), state_(PyEval_SaveThread()) {}
  ~PythonThread() {
    PyEval_RestoreThread(state_);
    PyGILState_Release(gil_);
  }
  PythonThread(const PythonThread&) = delete;
  PythonThread& operator=(const PythonThread&) = delete;

 private:
  PyGILState_STATE gil_;
  PyThreadState* state_;
};

Knowledge KnowledgeOf(nb::handle object, const std::string& name) {
  const nb::object declared = nb::getattr(object, "knowledge", nb::str("none"));
  if (!nb::isinstance<nb::str>(declared))
    throw Error(Join(name, ": knowledge: expected a string, found ", Repr(declared)));
  try {
    return ParseKnowledge(TextOf(declared));
  } catch (const Error& error) {
    throw Error(Join(name, ": ", error.what()));
  }
}

class PythonScheduler final : public Scheduler {
 public:
  PythonScheduler(nb::object object, std::string name, std::shared_ptr<PythonCalls> calls)
      : name_(std::move(name)), calls_(std::move(calls)) {
    knowledge_ = KnowledgeOf(object, name_);
    decide_ = nb::getattr(object, "decide", nb::none());
    reset_ = nb::getattr(object, "reset", nb::none());
    if (PyCallable_Check(decide_.ptr()) == 0)
      throw Error(Join(name_, ": expected a method decide(self, view, decision), found none"));
  }
  ~PythonScheduler() override {
    PythonThread::Enter();
    const nb::gil_scoped_acquire gil;
    columns_.reset(), decide_.reset(), reset_.reset();
  }
  PythonScheduler(const PythonScheduler&) = delete;
  PythonScheduler& operator=(const PythonScheduler&) = delete;

  Knowledge knowledge() const override { return knowledge_; }

  void Reset(const ClusterView& view) override {
    PythonThread::Enter();
    const nb::gil_scoped_acquire gil;
    columns_ = std::make_shared<ViewColumns>();
    columns_->BeginPoint(view);
    if (reset_.is_none()) return;
    const Inside inside(calls_.get());
    try {
      const HandedView seen(columns_, view);
      (void)reset_(seen.object());
    } catch (const nb::python_error& error) {
      Fail(error, kNoTime);
    }
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    PythonThread::Enter();
    const nb::gil_scoped_acquire gil;
    const Inside inside(calls_.get());
    if (!columns_) columns_ = std::make_shared<ViewColumns>();
    columns_->BeginPoint(view);
    try {
      const HandedView seen(columns_, view);
      const HandedDecision ordered(view, decision);
      const nb::object given = decide_(seen.object(), ordered.object());
      if (given.is_none()) return;
      throw Error(Join("scheduler '", name_,
                       "': decide: expected orders by decision.start and the like, and None ",
                       "returned, found ", Repr(given)));
    } catch (const nb::python_error& error) {
      Fail(error, view.now());
    }
  }

 private:
  // As HandedView.
  class HandedDecision {
   public:
    HandedDecision(const ClusterView& view, Decision& decision)
        : object_(nb::cast(PyDecision{&view, &decision})) {}
    ~HandedDecision() { *nb::inst_ptr<PyDecision>(object_) = {nullptr, nullptr}; }
    HandedDecision(const HandedDecision&) = delete;
    HandedDecision& operator=(const HandedDecision&) = delete;
    const nb::object& object() const { return object_; }

   private:
    nb::object object_;
  };
  [[noreturn]] void Fail(const nb::python_error& error, double now) const {
    if (!error.matches(PyExc_Exception)) throw nb::python_error(error);  // KeyboardInterrupt, SystemExit
    const std::string when = now == kNoTime ? std::string("in reset") : Join("at ", now, " s");
    throw PythonFailure(Join("scheduler '", name_, "' fails ", when, ": ", InWords(error)),
                        Share(nb::borrow(error.value())));
  }

  std::string name_;
  std::shared_ptr<PythonCalls> calls_;
  Knowledge knowledge_ = Knowledge::kNone;
  nb::object decide_, reset_;
  std::shared_ptr<ViewColumns> columns_;
};

// What Python raised where it is behind `error`.
SharedObject CauseOf(const Error& error) {
  if (const auto* failure = dynamic_cast<const PythonFailure*>(&error)) return failure->exception();
  try {
    std::rethrow_if_nested(error);
  } catch (const Error& within) {
    return CauseOf(within);
  }
  return nullptr;
}

// Ctrl-C, or whatever a signal raises.
void Interrupt(PythonCalls& calls) {
  calls.stopped = true;
  for (const unsigned long thread : calls.inside) PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
}

}  // namespace

HandedView::HandedView(std::shared_ptr<ViewColumns> columns, const ClusterView& view,
                       std::optional<std::span<const int>> visible)
    : object_(nb::cast(PyView{std::move(columns), &view, visible})) {}

HandedView::~HandedView() {
  *nb::inst_ptr<PyView>(object_) = {nullptr, nullptr, {}};
}

SharedObject Share(nb::object object) {
  return SharedObject(new nb::object(std::move(object)), [](nb::object* shared) {
    const nb::gil_scoped_acquire gil;
    delete shared;
  });
}

const ClusterView& ViewOf(nb::handle object) {
  if (!nb::isinstance<PyView>(object)) throw nb::type_error("view: expected a berth.View");
  return nb::cast<const PyView&>(object).Now();
}

Decision& DecisionOf(nb::handle object) {
  if (!nb::isinstance<PyDecision>(object)) throw nb::type_error("decision: expected a berth.Decision");
  return nb::cast<const PyDecision&>(object).Now();
}

std::string TextOf(nb::handle object) {
  return Utf8(nb::str(object).ptr());
}

std::string InWords(const nb::python_error& error) {
  std::string text = TextOf(error.value());
  for (char& c : text) c = c == '\n' ? ' ' : c;
  const std::string type = TextOf(nb::getattr(error.type(), "__name__"));
  std::string where, file;
  nb::object trace = error.traceback();
  while (trace.is_valid() && !trace.is_none()) {  // the innermost line of the scheduler's own file
    const nb::object code = nb::getattr(nb::getattr(trace, "tb_frame"), "f_code");
    const std::string here = TextOf(nb::getattr(code, "co_filename"));
    if (file.empty()) file = here;
    if (here == file)
      where = Join(" (", here, ":", nb::cast<int>(nb::getattr(trace, "tb_lineno")), ", in ",
                   TextOf(nb::getattr(code, "co_name")), ")");
    trace = nb::getattr(trace, "tb_next");
  }
  return Join(type, text.empty() ? "" : ": ", text, where);
}

std::string TakeRaised() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* const text = PyObject_Str(value);
  return text != nullptr ? Utf8(text) : "no reason given";
}

std::unique_ptr<Scheduler> MakePythonScheduler(nb::object object, const std::string& name,
                                               std::shared_ptr<PythonCalls> calls) {
  return std::make_unique<PythonScheduler>(std::move(object), name, std::move(calls));
}

std::unique_ptr<Scheduler> MakePythonFile(const std::string& text) {
  PythonThread::Enter();
  const nb::gil_scoped_acquire gil;
  try {
    const nb::object made = nb::module_::import_("berth.scheduler").attr("load")(text);
    return MakePythonScheduler(made, text.substr(text.rfind(':') + 1));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    if (nb::hasattr(error.value(), "of_spec")) throw Error(TextOf(error.value()));
    throw PythonFailure(Join("python: file: ", text, ": ", InWords(error)), Share(nb::borrow(error.value())));
  }
}

MakeSchedulerOf MakerOf(Factories factories, const std::shared_ptr<PythonCalls>& calls) {
  return
      [shared = Share(std::move(factories)), calls](const std::string& spec) -> std::unique_ptr<Scheduler> {
        {
          PythonThread::Enter();
          const nb::gil_scoped_acquire gil;
          PyObject* const factory = PyDict_GetItemString(shared->ptr(), spec.c_str());
          if (factory != nullptr) {
            try {
              const nb::object made = nb::handle(factory)();
              if (nb::isinstance<HeldPolicy>(made)) {
                const auto& policy = nb::cast<const HeldPolicy&>(made);
                return MakePolicyScheduler(*policy.bundle, policy.file, /*sample=*/false);
              }
              return MakePythonScheduler(made, spec, calls);
            } catch (const nb::python_error& error) {
              if (!error.matches(PyExc_Exception)) throw;
              const PythonFailure failure(Join("scheduler '", spec, "': ", InWords(error)),
                                          Share(nb::borrow(error.value())));
              calls->unmade = failure;
              throw failure;
            }
          }
        }
        return MakeScheduler(spec, AllSchedulers());
      };
}

void CheckNotStopped(const PythonCalls& calls) {
  if (calls.stopped) throw Error("interrupted");
}

void RunInterruptibly(PythonCalls& calls, const std::function<void()>& work) {
  constexpr std::chrono::milliseconds kLook{50};
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failure;
  std::optional<nb::python_error> interrupted;
  {
    const nb::gil_scoped_release release;
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kLook, [&] { return done; })) {
      lock.unlock();
      {
        const nb::gil_scoped_acquire gil;
        if (!interrupted && PyErr_CheckSignals() != 0) interrupted.emplace();
        if (interrupted) Interrupt(calls);  // until the last has left
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (interrupted) throw nb::python_error(*interrupted);
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    const std::string words = error.what();
    if (calls.unmade && !CauseOf(error) && words.find(calls.unmade->what()) != std::string::npos)
      throw PythonFailure(words, calls.unmade->exception());
    throw;
  }
}

void AddSchedulerTypes(nb::module_& module) {
  static PyObject* const error_type =
      PyErr_NewExceptionWithDoc("berth.Error", kErrorHelp, PyExc_ValueError, nullptr);
  module.attr("Error") = nb::handle(error_type);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      std::string words = error.what();  // one line, whatever was handed in
      std::replace(words.begin(), words.end(), '\n', ' ');
      const nb::object raised = nb::handle(error_type)(words);
      if (const SharedObject cause = CauseOf(error))
        PyException_SetCause(raised.ptr(), nb::object(*cause).release().ptr());
      PyErr_SetObject(error_type, raised.ptr());
    }
  });

  nb::class_<PyView> view(module, "View", kViewHelp);
  for (std::size_t i = 0; i < NumberColumns().size(); ++i) {
    const auto get = [i](const PyView& v) -> ArrayObject<const double> {
      return v.Columns().Numbers(v.Now(), i);
    };
    view.def_prop_ro(NumberColumns()[i].name, get, NumberColumns()[i].help);
  }
  for (std::size_t i = 0; i < IndexColumns().size(); ++i) {
    const auto get = [i](const PyView& v) -> ArrayObject<const std::int64_t> {
      return v.Columns().Indices(v.Now(), i);
    };
    view.def_prop_ro(IndexColumns()[i].name, get, IndexColumns()[i].help);
  }
  for (std::size_t i = 0; i < Lists().size(); ++i) {
    const auto get = [i](const PyView& v) -> ArrayObject<const std::int64_t> {
      return v.Columns().List(v.Now(), i);
    };
    view.def_prop_ro(Lists()[i].name, get, Lists()[i].help);
  }
  view.def_prop_ro(
          "rates", [](const PyView& v) -> ArrayObject<const double, 2> { return v.Columns().Rates(v.Now()); },
          "float64 [n, G] steps/s of the job's gang on each type, 0 = cannot run there")
      .def_prop_ro(
          "visible",
          [](const PyView& v) -> ArrayObject<const std::int64_t> {
            (void)v.Now();
            if (!v.visible)
              throw Error("view.visible: expected a view of an observation, found a scheduler's");
            auto* const jobs = new std::vector<std::int64_t>(v.visible->begin(), v.visible->end());
            const nb::capsule owner(
                jobs, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
            return nb::cast(
                nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(jobs->data(), {jobs->size()}, owner));
          },
          "int64 [.] jobs by the rows of the observation, of views that berth.Block.fill is handed")
      .def_prop_ro(
          "now", [](const PyView& v) { return v.Now().now(); }, "float s since the scenario's origin")
      .def_prop_ro(
          "n", [](const PyView& v) { return v.Columns().arrived(); },
          "int: jobs that have arrived, up to the last one that could run: those behind it that wait for "
          "others (stages) do not count yet")
      .def_prop_ro(
          "num_jobs", [](const PyView& v) { return v.Now().num_jobs(); },
          "int: jobs of the scenario, those to come included: a size for arrays of one's own")
      .def_prop_ro(
          "num_gpus", [](const PyView& v) { return v.Now().num_gpus(); }, "int: D, devices of the cluster")
      .def_prop_ro(
          "types",
          [](const PyView& v) -> nb::typed<nb::tuple, nb::str, nb::ellipsis> {
            nb::list names;
            for (const GpuType& type : v.Now().types()) names.append(type.name);
            return nb::tuple(names);
          },
          "tuple of str [G]: names of GPU types")
      .def_prop_ro(
          "clock", [](const PyView& v) { return v.Now().clock().ToString(); },
          "str: when decisions are made, as 'event' or 'rounds(360)'")
      .def_prop_ro(
          "knowledge", [](const PyView& v) { return ToString(v.Now().granted()); },
          nb::for_getter(
              nb::sig("def knowledge(self) -> typing.Literal['none', 'blind', 'estimate', 'oracle']")),
          "str: what this scheduler declared")
      .def_prop_ro(
          "seed", [](const PyView& v) { return v.Now().seed(); },
          "int: of the scenario, for schedulers that draw")
      .def_prop_ro(
          "capacity_changed", [](const PyView& v) { return v.Now().capacity_changed(); },
          "bool: devices failed or came back since the previous decision; True at the first")
      .def(
          "devices",
          [](const PyView& v, nb::handle job) {
            nb::list devices;
            for (const int device : v.Now().Devices(ArrivedOf(v, job))) devices.append(device);
            return devices;
          },
          nb::arg("job"), nb::sig("def devices(self, job: typing.SupportsIndex) -> list[int]"),
          "Devices that the job holds, by number; empty where it does not run.")
      .def(
          "rate_at",
          [](const PyView& v, nb::handle job, nb::handle type, int width) {
            const int j = ArrivedOf(v, job), t = TypeOf(v.Now(), j, type);
            if (width < v.Now().MinGang(j) || width > v.Now().MaxGang(j)) return 0.0;
            return v.Now().RateAt(j, t, width);
          },
          nb::arg("job"), nb::arg("type"), nb::arg("width"),
          nb::sig("def rate_at(self, job: typing.SupportsIndex, type: typing.SupportsIndex | str, width: "
                  "int) -> float"),
          "steps/s on `width` GPUs, 0 where it may not run so.")
      .def(
          "pair_rate",
          [](const PyView& v, nb::handle job, nb::handle other, nb::handle type) {
            const int j = ArrivedOf(v, job);
            return v.Now().PairRate(j, ArrivedOf(v, other), TypeOf(v.Now(), j, type));
          },
          nb::arg("job"), nb::arg("other"), nb::arg("type"),
          nb::sig("def pair_rate(self, job: typing.SupportsIndex, other: typing.SupportsIndex, type: "
                  "typing.SupportsIndex | str) -> float"),
          "steps/s of `job` while it shares one GPU with `other`; 0 = they cannot.");

  nb::class_<PyDecision>(module, "Decision", kDecisionHelp)
      .def(
          "start",
          [](const PyDecision& d, nb::handle job, nb::handle type, nb::handle width, nb::handle devices) {
            Place(d, CommandKind::kStart, job, type, width, devices);
          },
          nb::arg("job"), nb::arg("type"), nb::arg("width") = nb::none(), nb::arg("devices") = nb::none(),
          nb::sig(BERTH_PLACE_SIGNATURE("start")),
          "A job that waits begins on GPUs of `type`: as many as its gang; `width` of them where it is "
          "elastic; or all of these `devices`.")
      .def(
          "stop", [](const PyDecision& d, nb::handle job) { d.Now().Stop(JobOf(*d.view, job)); },
          nb::arg("job"), nb::sig("def stop(self, job: typing.SupportsIndex) -> None"),
          "A job that runs is stopped and waits.")
      .def(
          "move",
          [](const PyDecision& d, nb::handle job, nb::handle type, nb::handle width, nb::handle devices) {
            Place(d, CommandKind::kMove, job, type, width, devices);
          },
          nb::arg("job"), nb::arg("type"), nb::arg("width") = nb::none(), nb::arg("devices") = nb::none(),
          nb::sig(BERTH_PLACE_SIGNATURE("move")),
          "A job that runs goes on on another type or width, or on all of these `devices`.")
      .def(
          "reject", [](const PyDecision& d, nb::handle job) { d.Now().Reject(JobOf(*d.view, job)); },
          nb::arg("job"), nb::sig("def reject(self, job: typing.SupportsIndex) -> None"),
          "A job that waits is turned away for good.")
      .def(
          "pack",
          [](const PyDecision& d, nb::handle job, nb::handle host) {
            d.Now().Pack(JobOf(*d.view, job), JobOf(*d.view, host));
          },
          nb::arg("job"), nb::arg("host"),
          nb::sig("def pack(self, job: typing.SupportsIndex, host: typing.SupportsIndex) -> None"),
          "A job of one GPU that waits or runs shares that of `host`, a job that runs on one.")
      .def("wake_at", WakeAt, nb::arg("time"),
           "Decide also at this time, s, whatever happens until then; with rounds only while nothing runs. "
           "The last call counts.");
}

}  // namespace berth

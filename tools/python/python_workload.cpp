#include "tools/python/python_workload.hpp"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "data/csv_file.hpp"
#include "data/throughputs.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/scenario_options.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

// Gone with it.
class TemporaryText {
 public:
  explicit TemporaryText(const std::string& text) {
    path_ = (std::filesystem::temp_directory_path() / "berth-jobs-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) throw Error(Join(path_, ": cannot be written"));
    close(file);
    std::ofstream out(path_, std::ios::binary);
    out << text;
    if (!out.flush()) throw Error(Join(path_, ": cannot be written"));
  }
  ~TemporaryText() { std::remove(path_.c_str()); }
  TemporaryText(const TemporaryText&) = delete;
  TemporaryText& operator=(const TemporaryText&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A shipped table as a file of speeds (data/tables/README.md).
std::string SpeedsText(const ShippedThroughputs& table) {
  std::string text = "job_type,gpu_type,gpus,steps_per_s\n";
  for (const ThroughputFigure& figure : table.figures) {
    const std::string fields[] = {figure.job_type, figure.gpu_type, std::to_string(figure.gang),
                                  Shortest(figure.steps_per_s)};
    text += CsvLine(fields);
  }
  return text;
}

std::string Replaced(std::string message, const std::string& path, const std::string& called) {
  for (std::size_t at = message.find(path); at != std::string::npos; at = message.find(path, at)) {
    message.replace(at, path.size(), called);
    at += called.size();
  }
  return message;
}

// "PATH:17: column 'gpus': ..." of the job that stands there: line 2 is job 0.
std::string ByJob(std::string message, const std::string& path, const std::string& called) {
  const std::string head = path + ":";
  for (std::size_t at = message.find(head); at != std::string::npos; at = message.find(head, at)) {
    std::size_t end = at + head.size();
    while (end < message.size() && std::isdigit(static_cast<unsigned char>(message[end])) != 0) ++end;
    const int line = std::atoi(message.c_str() + at + head.size());
    const std::string job = line > 1 ? Join(called, ": job ", line - 2) : called;
    message.replace(at, end - at, job);
    at += job.size();
  }
  return Replaced(std::move(message), path, called);
}

// A shipped table, in a file while it is asked for.
struct ShippedSpeeds {
  TemporaryText file;
  std::string called;
};

class PythonWorkload final : public ScenarioSource {
 public:
  PythonWorkload(SharedObject jobs, std::string name, Options options, JobTableRequest request,
                 std::shared_ptr<const ShippedSpeeds> speeds, std::shared_ptr<PythonCalls> calls)
      : jobs_(std::move(jobs)),
        name_(Join("workload '", name, "'")),
        options_(std::move(options)),
        request_(std::move(request)),
        speeds_(std::move(speeds)),
        calls_(std::move(calls)) {}

  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    if (split == Split::kTrain) {
      Stream stream(seed, Purpose::kJobs, split, env, episode);
      seed = std::uint64_t{stream.Bits()} << 31 | stream.Bits() >> 1;
    }
    const std::string text = Text(seed, jobs);
    const TemporaryText table(text);
    JobTableRequest request = request_;
    for (const std::string& field : SplitOutsideParentheses(text.substr(0, text.find('\n')), ','))
      request.columns += Join(request.columns.empty() ? "" : ",", field, "=", field);
    Options options = options_;
    try {
      ScenarioData data = ReadTableQuietly(table.path(), request, options).scenario.data();
      data.seed = seed;
      data.provenance = name_;
      return Scenario(std::move(data));
    } catch (const Error& error) {
      std::string words = error.what();
      if (speeds_) words = Replaced(std::move(words), speeds_->file.path(), speeds_->called);
      throw Error(ByJob(std::move(words), table.path(), Join(name_, ", seed ", seed)));
    }
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return name_; }

 private:
  std::string Text(std::uint64_t seed, int jobs) const {
    const nb::gil_scoped_acquire gil;
    const Inside inside(calls_.get());
    try {
      return nb::cast<std::string>(jobs_->attr("text")(seed, jobs));
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
      throw PythonFailure(Join(name_, " fails with seed ", seed, ": ", InWords(error)),
                          Share(nb::borrow(error.value())));
    }
  }

  SharedObject jobs_;
  std::string name_;
  Options options_;
  JobTableRequest request_;
  std::shared_ptr<const ShippedSpeeds> speeds_;
  std::shared_ptr<PythonCalls> calls_;
};

}  // namespace

std::shared_ptr<const ScenarioSource> MakePythonWorkload(nb::object jobs, Options& options,
                                                         std::shared_ptr<PythonCalls> calls) {
  if (!options.Text("scenario").empty()) {
    throw Error(
        Join("expected ", options.Where("scenario"), " or ", options.Where("workload"), ", found both"));
  }
  if (!options.Given("cluster")) options.Assign("cluster", kDefaultCluster);
  if (!options.Given("clock")) options.Assign("clock", Clock{ClockKind::kRounds, 360.0}.ToString());
  const std::string name = TextOf(jobs.attr("name"));
  JobTableRequest request;
  request.speeds = nb::cast<std::string>(jobs.attr("throughputs"));
  std::shared_ptr<const ShippedSpeeds> speeds;
  const std::span<const ShippedThroughputs> shipped = ThroughputTables();
  const auto table = std::find_if(shipped.begin(), shipped.end(),
                                  [&](const ShippedThroughputs& its) { return its.name == request.speeds; });
  if (table != shipped.end()) {
    speeds.reset(new ShippedSpeeds{TemporaryText(SpeedsText(*table)), Join("the table ", request.speeds)});
    request.speeds = speeds->file.path();
  }
  return std::make_shared<const PythonWorkload>(Share(std::move(jobs)), name, options, request, speeds,
                                                std::move(calls));
}

EnvironmentExtras WithPythonJobs(nb::object jobs) {
  EnvironmentExtras extras;
  if (!jobs.is_none()) {
    extras.source = [shared = Share(std::move(jobs))](Options& options) {
      return MakePythonWorkload(*shared, options);
    };
  }
  return extras;
}

}  // namespace berth

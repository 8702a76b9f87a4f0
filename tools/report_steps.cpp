// berth progress: a job says how far it is, for the controller of `berth serve --slurm`.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "tools/json.hpp"
#include "tools/options.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As scontrol calls it: 17, or 17_3 of an array.
std::string JobId() {
  const std::string array = Variable("SLURM_ARRAY_JOB_ID");
  return array.empty() ? Variable("SLURM_JOB_ID") : Join(array, "_", Variable("SLURM_ARRAY_TASK_ID"));
}

}  // namespace

int RunProgress(const std::vector<std::string>& arguments) {
  Options options("progress", "STEPS [--folder DIR]",
                  "says, inside a Slurm job, how many steps it has done since its first start");
  options.Positional("steps", "done so far");
  options.Value("folder", "", "progress/ in the controller's --out [BERTH_PROGRESS in the environment]");
  options.Value("job", "", "the job [that which it runs in]");
  if (!options.Parse(arguments)) return 0;
  (void)options.Required("steps");
  const double steps = options.Number("steps", 0.0, 1e300);
  const std::string folder = options.Given("folder") ? options.Text("folder") : Variable("BERTH_PROGRESS");
  if (folder.empty())
    throw Error("--folder: expected a folder, or BERTH_PROGRESS in the environment, found neither");
  const std::string job = options.Given("job") ? options.Text("job") : JobId();
  if (job.empty() || job.find('/') != std::string::npos)
    throw Error(
        Join("--job: expected a job's number, or SLURM_JOB_ID in the environment, found '", job, "'"));
  const std::string path = folder + "/" + job;
  options.AddWritten("folder", path);
  CheckJsonWritable(options);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string line = Join(now, " ", steps, "\n");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool wrote = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const std::string why = std::strerror(errno);
  if (file >= 0) close(file);
  if (!wrote) throw Error(Join(path, ": expected a file to append to, found ", why));
  WriteJson(options, {{"job", job}, {"steps", steps}, {"file", path}, {"config", ConfigJson(options)}});
  return 0;
}

}  // namespace berth

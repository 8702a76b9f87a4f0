// Slurm's accounting as rows: `sacct -P` with its header line, or `sacct --json`; and `sacctmgr show event
// -P`. Formats: sacct(1), sacctmgr(1) and the OpenAPI plugin dbv0.0.38 of Slurm 22.05.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace berth {

// One run of a job: what is requeued has several, which share their id.
struct SacctRow {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr const char* kUnnamed = "?";  // no name of a reservation
  std::string where;                            // "file:line", or "file: job 17" of JSON
  int line = 0;                                 // of JSON: which of the jobs, from 1
  std::int64_t id = 0;
  std::int64_t array_job = 0, array_task = -1;  // 0, -1 = of no array
  std::string user, account, partition, qos, state, nodes, constraints;
  std::string reservation;  // its name; kUnnamed where only its number is stated
  double submit = 0.0;      // s since 1970
  double eligible = kUnknown, start = kUnknown, end = kUnknown;  // s since 1970
  double elapsed = 0.0;    // s, with those for which it was suspended: it keeps its GPUs (Slurm's gres.html)
  double suspended = 0.0;  // s, of these
  bool heterogeneous = false;  // a part of a job of several parts, which start together
  double limit = kUnknown;     // s; infinite = unlimited
  int num_nodes = 0;
  // GPUs by type as asked for and as given; "" = of any type, which counts those of all types.
  std::map<std::string, int> asked, given;
  std::string dependency;    // of --dependency, "" = none stated
  bool array_limit = false;  // tasks may run only so many at once
};

struct SacctTable {
  std::vector<SacctRow> rows;  // in the order of the file, job steps left out
  int steps = 0;               // rows that are steps of jobs
  bool says_dependencies = false;
};

// Throws Error "file:line: column 'NAME': expected ..., found ...".
SacctTable ReadSacctText(const std::string& path);
SacctTable ReadSacctJson(const std::string& path);

struct NodeEvent {
  int line = 0;
  std::string node, state;
  double start = 0.0, end = 0.0;  // s since 1970; infinite = it lasts
  int gpu = -1;                   // of the node, the only one that it is about; -1 = the whole node
};
// Rows of nodes; those of the cluster as a whole are passed over.
std::vector<NodeEvent> ReadNodeEvents(const std::string& path);

// "billing=1,cpu=1,gres/gpu:v100=2,gres/gpu=2": GPUs by type. Errors begin with `what`.
std::map<std::string, int> GpusOf(const std::string& tres, const std::string& what);

// What the line that submitted a job says of it: `dependency`, `array_limit`, the reservation where no other
// column does. Lines #SBATCH of its script do not stand there.
void ReadSubmitLine(const std::string& line, SacctRow& row);

// The value of an option of sbatch in the line that submitted a job: "--dependency=afterok:1", "-d
// afterok:1", "--dep=afterok:1" as sbatch takes it; "" = none. Of several the last, as there. What stands
// behind the script's name is the script's, and read only where there is none before: a value with blanks has
// no quotes in that line.
std::string OptionOf(const std::string& submit_line, const std::string& name, const std::string& letter);

}  // namespace berth

// Measured speeds as a table: job type, gang size and GPU type a row.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "data/tables/words.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

// Columns: job_type; gpu_type; gpus (gang size, 1 where there is no such column); steps_per_s or s_per_step,
// of the whole gang, 0 steps_per_s = cannot run there. And where wanted: spread_steps_per_s (the gang over
// several nodes; empty or 0 = not measured) and with (another job type: the speed beside it on one GPU). A
// column `source` is for people.
class Speeds {
 public:
  explicit Speeds(const std::string& path);  // Error "path:line: ..."

  const std::string& path() const { return path_; }
  const std::vector<std::string>& job_types() const { return job_types_.names(); }  // in order of appearance
  // Steps/s as measured, on any GPU type that the file names; NaN where it says nothing.
  double Measured(int job_type, int gang, const std::string& gpu_type) const;
  std::vector<std::string> GpuTypes() const;  // in lower case
  // The columns of the cluster's types, in its order; all gang sizes of the file. What was not measured, of
  // the job types and sizes that `used` says occur, is estimated where `estimated` is given, which then names
  // it, a line each; otherwise, or where nothing was measured of a job type, or of a gang size on a GPU type,
  // an Error names it.
  ThroughputTable Table(const ClusterSpec& cluster, std::span<const std::pair<int, int>> used,
                        std::vector<std::string>* estimated = nullptr) const;

 private:
  struct Cell {
    double alone = 0.0, spread = 0.0;  // steps/s; spread 0 = not measured
  };
  using Key = std::tuple<int, int, std::string>;      // job type, gang size, GPU type
  using PairKey = std::tuple<int, int, std::string>;  // job type, the other, GPU type; lower case
  struct Missing {
    std::size_t at;  // of ThroughputTable::alone
    std::string name;
  };
  const Cell* Find(int job_type, int gang, const std::string& gpu_type) const;
  void Estimate(const std::vector<Missing>& missing, const ClusterSpec& cluster,
                ThroughputTable& table) const;
  std::string path_;
  NameList job_types_;
  std::map<Key, Cell> cells_;
  std::map<PairKey, double> pairs_;
  bool spread_ = false;  // does a row state it
};

}  // namespace berth

// The rows of a table of jobs, read one by one: what each says, or why it cannot be read.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "data/csv_file.hpp"
#include "data/tables/columns.hpp"
#include "data/tables/speeds.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

struct JobRow {
  static constexpr double kUnstated = std::numeric_limits<double>::quiet_NaN();
  int line = 0;
  std::string id;
  double arrival = 0.0;                                // s, of the table's own origin, as the deadline
  double duration = kUnstated, steps = kUnstated;      // s; one of the two
  double weight = 1.0, deadline = kNever, limit = kUnstated;
  int gang = 1, type = 0, tenant = 0;  // indices into job_types and tenants
  int ran_on = -1;                     // GPU type of the cluster; -1 = not stated
  int gang_min = 0, gang_max = 0;      // 0 = not stated: the gang
  int gpu_milli = 1000;
  Qos qos = Qos::kGuaranteed;
  std::uint64_t allowed = ~std::uint64_t{0};  // bit g: GPU type g of the cluster
  std::vector<double> demand;                 // as many for every job
};

// Thread rule: one thread at a time.
class JobRows {
 public:
  // Throws Error where a column is missing that every table needs, or `speeds` has none for the types of jobs.
  JobRows(const std::string& path, const std::string& columns, const Speeds* speeds, const ClusterSpec& cluster,
          int skip_bad);

  std::vector<JobRow> Read();
  // A row that is left out; Error where these are more than may be.
  void Refuse(const std::string& why);

  const std::vector<std::string>& names() const { return file_.names(); }
  const JobColumns& columns() const { return columns_; }
  const std::vector<std::string>& job_types() const { return job_types_; }
  const std::vector<std::string>& tenants() const { return tenants_; }
  const std::vector<std::string>& refused() const { return refused_; }
  int steps_of_jobs() const { return steps_of_jobs_; }  // rows of sacct that are no jobs, passed over

 private:
  bool Has(JobField field) const { return columns_.Has(field); }
  bool Stated(JobField field) const { return Has(field) && !Text(field).empty(); }
  const std::string& Text(JobField field) const { return file_.Text(columns_.Of(field)); }
  std::string Where(JobField field) const { return file_.Where(columns_.Of(field)); }
  void CheckColumns() const;
  bool IsStep() const;
  JobRow ReadRow();
  double Moment(JobField field);
  double AboveZero(double value, JobField field) const;
  int Type();
  int GpuTypeOf(const std::string& name, JobField field) const;
  std::uint64_t Allowed() const;
  std::vector<double> Demand();
  void CheckFits(const JobRow& row) const;

  std::string path_;
  const ClusterSpec& cluster_;
  const Speeds* speeds_;
  int skip_bad_, steps_of_jobs_ = 0;
  std::optional<std::size_t> resources_;  // numbers of a demand
  CsvFile file_;
  JobColumns columns_;
  std::vector<std::string> job_types_, tenants_, refused_;
  std::optional<bool> dates_;  // are moments written as dates
};

}  // namespace berth

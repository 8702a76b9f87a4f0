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
#include "data/tables/words.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

inline constexpr const char* kNoName = "(none)";  // of an empty cell of types and tenants

struct JobRow {
  static constexpr double kUnstated = std::numeric_limits<double>::quiet_NaN();
  int line = 0;
  std::string id;
  double arrival = 0.0;                            // s, of the table's own origin, as the deadline
  double duration = kUnstated, steps = kUnstated;  // s; one of the two
  double weight = 1.0, deadline = kNever, limit = kUnstated;
  int gang = 1, type = 0, tenant = 0;  // indices into job_types and tenants
  int ran_on = -1;                     // GPU type of the cluster; -1 = not stated, or none of those
  double ran_at = kUnstated;           // steps/s where it ran, on a type that the cluster lacks
  int gang_min = 0, gang_max = 0;      // 0 = not stated: the gang
  int gpu_milli = 1000;
  int batch_size = 0;  // samples a step; 0 = not stated
  Qos qos = Qos::kGuaranteed;
  std::uint64_t allowed = ~std::uint64_t{0};  // bit g: GPU type g of the cluster
  std::vector<double> demand;                 // as many for every job

  bool MayRunOn(std::size_t type_of_gpu) const { return (allowed >> type_of_gpu & 1U) != 0; }
};

// Thread rule: one thread at a time.
class JobRows {
 public:
  // Throws Error where a column is missing that every table needs. `speeds` (null = none) and `cluster`
  // outlive it.
  JobRows(const std::string& path, const std::string& columns, const Speeds* speeds,
          const ClusterSpec& cluster);

  // Those that can be read; Refused has the others.
  std::vector<JobRow> Read();
  void Refuse(const std::string& why) { refused_.push_back(why); }
  const std::vector<std::string>& refused() const { return refused_; }  // a line each

  const std::vector<std::string>& header() const { return file_.names(); }
  const JobColumns& columns() const { return columns_; }
  const std::vector<std::string>& job_types() const { return job_types_.names(); }
  const std::vector<std::string>& tenants() const { return tenants_.names(); }
  // Rows that are no jobs here: steps of Slurm's jobs, its jobs that never ran, those that have not ended,
  // and jobs without a GPU.
  int job_steps() const { return job_steps_; }
  int never_ran() const { return never_ran_; }
  int unended() const { return unended_; }
  int without_gpu() const { return without_gpu_; }
  bool digits() const { return digits_; }                // is every arrival a date without '-', 20240301
  bool dates() const { return dates_.value_or(false); }  // are moments written as dates

 private:
  bool Has(JobField field) const { return columns_.Has(field); }
  bool Stated(JobField field) const { return Has(field) && !Text(field).empty(); }
  const std::string& Text(JobField field) const { return file_.Text(columns_.Of(field)); }
  std::string Where(JobField field) const { return file_.Where(columns_.Of(field)); }
  void CheckColumns() const;
  bool IsJobStep() const;
  bool NeverRan() const;
  bool HasNotEnded() const;
  void AddRow(std::vector<JobRow>& rows);  // or counts it among those that are no jobs here
  std::optional<JobRow> ReadRow();         // none: it has no GPU
  void ReadWork(JobRow& row);
  void ReadPlace(JobRow& row);
  double Moment(JobField field);
  double AboveZero(double value, JobField field) const;
  double Number(JobField field) const;
  double Span(JobField field) const;
  int Whole(JobField field, double low, double high) const;
  bool MayLackGpus() const;
  int Gpus() const;
  int Type();
  int FindGpuType(const std::string& name) const;  // of the cluster, -1 = none
  int GpuTypeOf(const std::string& name, JobField field) const;
  void ReadRanOn(JobRow& row);
  void CheckFits(const JobRow& row) const;

  std::string path_;
  const ClusterSpec& cluster_;
  const Speeds* speeds_;
  CsvFile file_;
  JobColumns columns_;
  NameList job_types_, tenants_;
  std::vector<std::string> refused_;
  std::string last_id_;  // of the last row that is no step, kept or not: its steps may follow
  int job_steps_ = 0, never_ran_ = 0, unended_ = 0, without_gpu_ = 0;
  bool digits_ = true;
  std::optional<bool> dates_, row_dates_;  // row_dates_: of the row that is being read
  std::optional<std::size_t> resources_;   // numbers of a demand
};

}  // namespace berth

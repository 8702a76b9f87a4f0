// Which column of a table of jobs says what: as the user names them, or by the names that logs usually have.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace berth {

enum class JobField {
  kId,
  kArrival,
  kDuration,
  kStart,
  kEnd,
  kSteps,
  kGpus,
  kGpusMin,
  kGpusMax,
  kShare,
  kBatch,
  kQos,
  kAllowed,
  kDemand,
  kType,
  kTenant,
  kWeight,
  kDeadline,
  kLimit,
  kRanOn,
  kState
};

struct JobFieldInfo {
  JobField field;
  const char* name;
  std::vector<const char*> usual;  // column names, the surest first; case and the signs "_- ./" do not matter
};
std::span<const JobFieldInfo> JobFields();
std::string JobFieldNames();  // "id, arrival, ..."

class JobColumns {
 public:
  // `text` is "arrival=submit_ts,gpus=n_gpu", "" = none; "tenant=" leaves a field out that would be guessed.
  // A field may also be called as a column that usually has it: "user=team".
  // Fields that it does not name are guessed from `header`; of steps, a duration, and a start with an end
  // only the first that is named, else a duration before the others. Error for a field or column that there
  // is not.
  JobColumns(const std::string& text, const std::vector<std::string>& header);

  bool Has(JobField field) const { return !Of(field).empty(); }
  const std::string& Of(JobField field) const;  // the column's name, "" = none
  // "arrival from 'Submit' (guessed), gpus from 'n_gpu', ...".
  std::string Describe() const;
  std::vector<std::string> Unread(const std::vector<std::string>& header) const;

 private:
  void ChooseWork();
  struct Choice {
    std::string column;
    bool named = false;
  };
  std::vector<Choice> choices_;  // by JobField
};

}  // namespace berth

// What training leaves for people to look at: RUN/progress.csv, flushed row by row, and a TensorBoard event
// file, both with CleanRL's names.
#pragma once

#include <fstream>
#include <string>

#include "agents/train/event_writer.hpp"
#include "agents/train/learn_api.hpp"

namespace berth {

class ProgressLog {
 public:
  // Rows of `out_dir`/progress.csv up to `from_step` are kept when a run is continued (from_step > 0).
  ProgressLog(const std::string& out_dir, std::int64_t from_step);
  // Rows begin with the first update: the columns are known then.
  void Write(const TrainProgress& progress);

 private:
  std::string path_;
  std::int64_t from_step_;
  std::ofstream csv_;
  EventWriter events_;
};

}  // namespace berth

// What training leaves for people to look at: RUN/progress.csv, flushed row by row, and a TensorBoard event
// file, both with CleanRL's names.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/train/learn_api.hpp"

namespace berth {

// CRC-32C (Castagnoli), as TFRecord uses.
std::uint32_t Crc32c(std::string_view bytes);

// A TensorBoard event file: TFRecord frames of Event messages, written without protobuf.
class EventWriter {
 public:
  // Creates `path`; throws Error where it cannot be written.
  explicit EventWriter(const std::string& path);
  // One scalar of one step; wall_time in seconds since 1970. Flushed by Flush.
  void Scalar(const std::string& tag, std::int64_t step, double wall_time, float value);
  void Flush();  // throws Error where it cannot be written

 private:
  void Record(const std::string& data);

  std::string path_;
  std::ofstream out_;
};

class ProgressLog {
 public:
  // Rows of `out_dir`/progress.csv up to `from_step` are kept when a run is continued (from_step > 0).
  // `noted`: names of Note's figures that have a column.
  ProgressLog(const std::string& out_dir, std::int64_t from_step, std::vector<std::string> noted = {});
  // Rows begin with the first update: the columns are known then.
  void Write(const TrainProgress& progress);
  // Figures of something else than an update: to TensorBoard, and into the next row.
  void Note(std::int64_t steps, const std::vector<std::pair<std::string, double>>& figures);

 private:
  std::string path_;
  std::int64_t from_step_;
  std::vector<std::pair<std::string, double>> noted_;  // NaN: not since the last row
  std::ofstream csv_;
  EventWriter events_;
};

}  // namespace berth

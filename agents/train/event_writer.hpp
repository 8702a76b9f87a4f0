// TensorBoard event files: TFRecord frames of Event messages, written without protobuf.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace berth {

// CRC-32C (Castagnoli), as TFRecord uses.
std::uint32_t Crc32c(std::string_view bytes);

class EventWriter {
 public:
  // Creates `path`; throws Error where it cannot be written.
  explicit EventWriter(const std::string& path);
  // One scalar of one step; wall_time in seconds since 1970. Flushed by Flush.
  void Scalar(const std::string& tag, std::int64_t step, double wall_time, float value);
  void Flush() { out_.flush(); }

 private:
  void Record(const std::string& data);

  std::ofstream out_;
};

}  // namespace berth

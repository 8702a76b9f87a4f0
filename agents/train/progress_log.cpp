#include "agents/train/progress_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/whole_file.hpp"

namespace berth {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
void AppendFixed(std::string& out, T value) {  // little endian, as this machine is
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void AppendVarint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Protocol buffers: key = field * 8 + wire type (0 varint, 1 64 bits, 2 bytes, 5 32 bits).
void AppendKey(std::string& out, int field, int wire) {
  AppendVarint(out, static_cast<std::uint64_t>(field * 8 + wire));
}

void AppendBytes(std::string& out, int field, const std::string& bytes) {
  AppendKey(out, field, 2);
  AppendVarint(out, bytes.size());
  out += bytes;
}

std::string EventAt(double wall_time, std::int64_t step) {
  std::string event;
  AppendKey(event, 1, 1);
  AppendFixed(event, wall_time);
  AppendKey(event, 2, 0);
  AppendVarint(event, static_cast<std::uint64_t>(step));
  return event;
}

std::uint32_t MaskedCrc(std::string_view bytes) {
  const std::uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace

std::uint32_t Crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> rows{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) ? (crc >> 1) ^ 0x82f63b78U : crc >> 1;
      rows[i] = crc;
    }
    return rows;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xffU] ^ (crc >> 8);
  return ~crc;
}

EventWriter::EventWriter(const std::string& path) : path_(path), out_(path, std::ios::binary) {
  if (!out_) throw Error(Join(path, ": expected a file that can be written, found ", std::strerror(errno)));
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  std::string event = EventAt(now.count(), 0);
  AppendBytes(event, 3, "brain.Event:2");
  Record(event);
}

void EventWriter::Scalar(const std::string& tag, std::int64_t step, double wall_time, float value) {
  std::string entry;
  AppendBytes(entry, 1, tag);
  AppendKey(entry, 2, 5);
  AppendFixed(entry, value);
  std::string summary;
  AppendBytes(summary, 1, entry);
  std::string event = EventAt(wall_time, step);
  AppendBytes(event, 5, summary);
  Record(event);
}

void EventWriter::Record(const std::string& data) {
  std::string frame;
  AppendFixed(frame, static_cast<std::uint64_t>(data.size()));
  AppendFixed(frame, MaskedCrc(frame));
  frame += data;
  AppendFixed(frame, MaskedCrc(data));
  out_.write(frame.data(), static_cast<std::streamsize>(frame.size()));
}

void EventWriter::Flush() {
  if (!out_.flush()) throw Error(Join(path_, ": cannot be written: ", std::strerror(errno)));
}

namespace {

std::vector<std::pair<std::string, double>> Row(const TrainProgress& p) {
  std::vector<std::pair<std::string, double>> row = {
      {"charts/SPS", p.steps_per_s},         {"charts/episodic_return", p.mean_return},
      {"charts/metric", p.mean_metric},      {"charts/backlog_begin", p.backlog_begin},
      {"charts/backlog_end", p.backlog_end}, {"time/wall_s", p.wall_s},
      {"time/env_share", p.env_share},       {"time/act_share", p.act_share},
      {"time/learn_share", p.learn_share},
  };
  row.insert(row.end(), p.losses.begin(), p.losses.end());
  return row;
}

// None that is there: two sessions may begin in one second, and clocks are set back.
std::string EventPath(const std::string& out_dir) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  for (auto second = std::chrono::duration_cast<std::chrono::seconds>(now).count();; ++second) {
    std::string path = Join(out_dir, "/events.out.tfevents.", second, ".berth");
    if (!std::filesystem::exists(path)) return path;
  }
}

// The header and the whole rows of steps up to `last`: a killed run may have left half a row at the end.
std::vector<std::string> OldRows(const std::string& path, std::int64_t last) {
  std::vector<std::string> rows;
  const auto fields = [](const std::string& row) { return std::count(row.begin(), row.end(), ','); };
  if (!std::filesystem::exists(path)) return rows;
  TextFile in(path);
  for (std::string line; in.Next(line);) {
    const bool whole = rows.empty() || fields(line) == fields(rows[0]);
    if (whole && (rows.empty() || std::strtoll(line.c_str(), nullptr, 10) <= last)) rows.push_back(line);
  }
  return rows;
}

void Replace(const std::string& path, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  WriteWhole(path, text);
}

}  // namespace

ProgressLog::ProgressLog(const std::string& out_dir, std::int64_t from_step, std::vector<std::string> noted)
    : path_(out_dir + "/progress.csv"), from_step_(from_step), events_(EventPath(out_dir)) {
  for (std::string& name : noted) noted_.emplace_back(std::move(name), kNan);
}

void ProgressLog::Note(std::int64_t steps, const std::vector<std::pair<std::string, double>>& figures) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  for (const auto& [name, value] : figures) {
    if (!std::isnan(value)) events_.Scalar(name, steps, now.count(), static_cast<float>(value));
    for (auto& column : noted_) {
      if (column.first == name) column.second = value;
    }
  }
  events_.Flush();
}

void ProgressLog::Write(const TrainProgress& progress) {
  if (progress.losses.empty()) return;
  const auto row = Row(progress);
  if (!csv_.is_open()) {
    std::string header = "global_step";
    for (const auto& [name, value] : row) header += "," + name;
    for (auto [name, value] : noted_) {
      std::replace(name.begin(), name.end(), ',', ';');  // of a baseline's parameters
      header += "," + name;
    }
    std::vector<std::string> old;
    if (from_step_ > 0) old = OldRows(path_, from_step_);
    if (old.empty() || old[0] != header) {
      if (!old.empty()) Replace(Join(path_, ".until_", from_step_), old);  // of other columns
      old.assign(1, header);
    }
    Replace(path_, old);
    csv_.open(path_, std::ios::app);
    if (!csv_)
      throw Error(Join(path_, ": expected a file that can be written, found ", std::strerror(errno)));
    csv_.precision(9);
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  csv_ << progress.steps;
  for (const auto& [name, value] : row) {
    csv_ << ',';
    if (std::isnan(value)) continue;  // an empty field
    csv_ << value;
    events_.Scalar(name, progress.steps, now.count(), static_cast<float>(value));
  }
  for (auto& [name, value] : noted_) {
    csv_ << ',';
    if (!std::isnan(value)) csv_ << value;
    value = kNan;
  }
  csv_ << std::endl;
  if (!csv_) throw Error(Join(path_, ": cannot be written: ", std::strerror(errno)));
  events_.Flush();
}

}  // namespace berth

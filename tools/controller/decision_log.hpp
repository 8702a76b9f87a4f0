// What the controller writes down (DIR/decisions.jsonl): what it saw of jobs and nodes, what it decided, what
// it asked of Slurm and what Slurm answered. One JSON object a line, each with "at" (s since 1970) and
// "kind"; tools/controller/README.md lists them. `berth convert
// --format decisions` makes a scenario of it.
#pragma once

#include <string>

#include "tools/json.hpp"

namespace berth {

// Thread rule: one thread at a time.
class DecisionLog {
 public:
  // Appends to the file; a last line that was cut short (the machine went down) is ended first. Throws Error
  // where it cannot be written.
  explicit DecisionLog(const std::string& path);
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void Add(double at_s, const char* kind, Json what);
  void Flush();  // to the disk; once a cycle. Throws Error, as when the disk is full

 private:
  std::string path_, lines_;
  int file_ = -1;
};

}  // namespace berth

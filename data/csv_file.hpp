// Comma-separated files with a header line: columns by name, errors by file and line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/text_file.hpp"

namespace berth {

// No quoting: none of the traces read has it. Thread rule: one thread at a time.
class CsvFile {
 public:
  // Throws Error where one of `required` is not in the header.
  CsvFile(const std::string& path, std::span<const char* const> required);
  bool Next();                              // the next row that is not empty; false at the end
  bool Has(const std::string& name) const;  // is there such a column
  std::string Text(const std::string& name) const;
  double Number(const std::string& name) const;
  int Integer(const std::string& name) const;
  int line() const { return file_.number(); }
  std::string Where() const { return file_.Where(); }

 private:
  std::size_t Column(const std::string& name) const;
  TextFile file_;
  std::vector<std::string> names_, fields_;
};

}  // namespace berth

#include "data/csv_file.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

void Split(const std::string& line, std::vector<std::string>& fields) {
  fields.clear();
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    if (end == line.size()) return;
    begin = end + 1;
  }
}

}  // namespace

CsvFile::CsvFile(const std::string& path, std::span<const char* const> required) : file_(path) {
  std::string line;
  if (!file_.Next(line)) throw Error(Join(path, ": expected a header line, found an empty file"));
  Split(line, names_);
  for (const std::string name : required) {
    if (!Has(name))
      throw Error(Join(Where(), ": expected a column '", name, "'", DidYouMean(name, names_), ", found '",
                       line.substr(0, 80), "'"));
  }
}

bool CsvFile::Next() {
  std::string line;
  do {
    if (!file_.Next(line)) return false;
  } while (line.empty());
  Split(line, fields_);
  if (fields_.size() != names_.size()) {
    throw Error(
        Join(Where(), ": expected ", names_.size(), " comma-separated columns, found ", fields_.size()));
  }
  return true;
}

bool CsvFile::Has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::size_t CsvFile::Column(const std::string& name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  BERTH_CHECK(it != names_.end(), "no column '", name, "'");
  return static_cast<std::size_t>(it - names_.begin());
}

std::string CsvFile::Text(const std::string& name) const {
  return fields_[Column(name)];
}

double CsvFile::Number(const std::string& name) const {
  return ParseNumber(fields_[Column(name)], Join(Where(), ": ", name));
}

int CsvFile::Integer(const std::string& name) const {
  const long long value = ParseInteger(fields_[Column(name)], Join(Where(), ": ", name));
  if (value < -1000000000 || value > 1000000000) {
    throw Error(Join(Where(), ": ", name, ": expected at most 1000000000 in size, found ", value));
  }
  return static_cast<int>(value);
}

}  // namespace berth

// `sacct -P` and `sacctmgr -P`: a header line, then fields between '|', as they are: nothing is quoted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "data/tables/times.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {

inline std::vector<std::string> SplitAt(const std::string& line, char separator) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// Rows by the names of their header. Thread rule: one thread at a time.
class PipeFile {
 public:
  explicit PipeFile(const std::string& path) : file_(path) {
    std::string line;
    if (!file_.Next(line)) throw Error(Join(path, ": expected a header line, found an empty file"));
    names_ = SplitAt(line, '|');
    if (names_.size() > 1 && names_.back().empty()) names_.pop_back();  // -p ends lines with '|'
    if (names_.size() < 2) {
      throw Error(Join(file_.Where(),
                       ": expected names between '|', as sacct -P and sacctmgr -P write, found '",
                       line.substr(0, 60), "'"));
    }
  }
  bool Next() {
    std::string line;
    do
      if (!file_.Next(line)) return false;
    while (line.empty());
    fields_ = SplitAt(line, '|');
    if (fields_.size() == names_.size() + 1 && fields_.back().empty()) fields_.pop_back();
    // The line that submitted a job may hold a '|' of its own: as the last column it is read whole.
    if (fields_.size() > names_.size() && names_.back() == "SubmitLine") {
      for (std::size_t i = names_.size(); i < fields_.size(); ++i)
        fields_[names_.size() - 1] += "|" + fields_[i];
      fields_.resize(names_.size());
    }
    if (fields_.size() != names_.size()) {
      throw Error(Join(file_.Where(), ": expected ", names_.size(), " fields, found ", fields_.size(),
                       fields_.size() > names_.size()
                           ? " (a name with '|' in it? SubmitLine may have one as last column)"
                           : ""));
    }
    return true;
  }
  bool Has(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  void Need(const char* name) const {
    if (!Has(name))
      throw Error(Join(file_.Where(), ": expected a column '", name, "'", DidYouMean(name, names_),
                       ", found ", Listed(names_)));
  }
  // "" where there is no such column.
  std::string Text(const std::string& name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? "" : Trim(fields_[static_cast<std::size_t>(at - names_.begin())]);
  }
  std::string Where() const { return file_.Where(); }
  std::string Where(const std::string& name) const { return Join(file_.Where(), ": column '", name, "'"); }
  int line() const { return file_.number(); }

  // Seconds since 1970; `otherwise` for what Slurm does not know.
  double Moment(const std::string& name, double otherwise) const {
    const std::string text = Text(name);
    if (text.empty() || text == "Unknown" || text == "None" || text == "N/A") return otherwise;
    if (!LooksLikeDate(text)) {
      throw Error(Join(Where(name), ": expected a time such as 2026-03-01T14:05:06, found '", text, "'"));
    }
    return ParseMoment(text, Where(name));
  }
  std::int64_t Whole(const std::string& name) const {
    const std::int64_t value = ParseInteger(Text(name), Where(name));
    if (value < 0 || value > 1'000'000'000'000) {
      throw Error(Join(Where(name), ": expected 0 to 1000000000000, found ", value));
    }
    return value;
  }

 private:
  TextFile file_;
  std::vector<std::string> names_, fields_;
};

}  // namespace berth

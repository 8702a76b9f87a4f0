// `sacct -P` and `sacctmgr -P`: a header line, then fields between '|', as they are: nothing is quoted. So a
// constraint "v100|p100", the line that submitted a job and the reason of a drain may hold a '|' of their
// own, and of the line that submitted a job also line breaks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "data/tables/times.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
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
  explicit PipeFile(const std::string& path) : file_(path), path_(path) {
    std::string line;
    if (!NextLine(line)) throw Error(Join(path, ": expected a header line, found an empty file"));
    names_ = SplitAt(line, '|');
    closed_ = names_.size() > 1 && names_.back().empty();  // -p ends lines with '|'
    if (closed_) names_.pop_back();
    if (names_.size() < 2) {
      throw Error(Join(file_.Where(),
                       ": expected names between '|', as sacct -P and sacctmgr -P write, found '",
                       line.substr(0, 60), "'"));
    }
  }
  bool Next() {
    std::string line = std::move(ahead_);
    ahead_.clear();
    while (line.empty())
      if (!NextLine(line)) return false;
    number_ = file_.number();
    const bool submit_line = names_.back() == "SubmitLine";
    if (submit_line) {
      while (NextLine(ahead_) && GoesOn(ahead_)) line += "\n" + ahead_, ahead_.clear();
    }
    fields_ = SplitAt(line, '|');
    if (closed_ && fields_.back().empty()) fields_.pop_back();
    if (fields_.size() > names_.size()) {
      if (Has("Reason")) {
        Gather("Reason", fields_.size() - names_.size());
      } else if (submit_line) {
        Gather("Constraints", BeforeSubmitLine());
        Gather("SubmitLine", fields_.size() - names_.size());
      } else {
        Gather("Constraints", fields_.size() - names_.size());
      }
    }
    if (fields_.size() != names_.size()) {
      throw Error(Join(Where(), ": expected ", names_.size(), " fields, found ", fields_.size(),
                       fields_.size() > names_.size()
                           ? " (a name with '|' in it? SubmitLine may have one as last column)"
                       : Has("Reason") ? " (a Reason with a line break? Leave that column out)"
                                       : ""));
    }
    return true;
  }
  bool Has(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  void Need(const char* name) const {
    if (!Has(name))
      throw Error(Join(Where(), ": expected a column '", name, "'", DidYouMean(name, names_), ", found ",
                       Listed(names_)));
  }
  // "" where there is no such column.
  std::string Text(const std::string& name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? "" : Trim(fields_[static_cast<std::size_t>(at - names_.begin())]);
  }
  std::string Where() const { return Join(path_, ":", number_); }
  std::string Where(const std::string& name) const { return Join(Where(), ": column '", name, "'"); }
  int line() const { return number_; }

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
  bool NextLine(std::string& line) {
    if (!file_.Next(line)) return false;
    CheckText(line, file_.Where());
    return true;
  }
  // A line behind a break in the line that submitted a job: too few fields, and no id of a job in front.
  bool GoesOn(const std::string& line) const {
    const std::vector<std::string> fields = SplitAt(line, '|');
    return line.empty() || (fields.size() < names_.size() &&
                            fields[0].find_first_not_of("0123456789_.") != std::string::npos);
  }
  // How many of the '|' too many stand before the line that submitted a job, which sbatch, salloc or srun
  // begins.
  std::size_t BeforeSubmitLine() const {
    const std::size_t many = fields_.size() - names_.size();
    for (std::size_t bars = 0; bars <= many; ++bars) {
      const std::string& text = fields_[names_.size() - 1 + bars];
      const std::string word = text.substr(0, text.find(' '));
      const std::string program = word.substr(word.find_last_of('/') + 1);
      if (program == "sbatch" || program == "salloc" || program == "srun") return bars;
    }
    return fields_.back().empty() ? many : 0;  // of a job that came another way it is empty
  }
  // Puts the field of this name together again, where there is one.
  void Gather(const std::string& name, std::size_t bars) {
    const auto column = std::find(names_.begin(), names_.end(), name);
    if (column == names_.end()) return;
    const auto at = fields_.begin() + (column - names_.begin());
    for (std::size_t i = 1; i <= bars; ++i) *at += "|" + at[static_cast<std::ptrdiff_t>(i)];
    fields_.erase(at + 1, at + 1 + static_cast<std::ptrdiff_t>(bars));
  }

  TextFile file_;
  std::string path_, ahead_;  // a line that was read but not given out, "" = none
  int number_ = 1;            // of the row's first line
  bool closed_ = false;       // by a '|' at the end
  std::vector<std::string> names_, fields_;
};

}  // namespace berth

#include "data/csv_file.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr std::string_view kBlanks = " \t";

char MostOf(const std::string& header) {
  char best = ',';
  for (const char c : {',', ';', '|', '\t'}) {
    if (std::count(header.begin(), header.end(), c) > std::count(header.begin(), header.end(), best))
      best = c;
  }
  return best;
}

}  // namespace

std::string CsvField(const std::string& text) {
  const bool bare =
      text.find_first_of(",\"\t;|\n") == std::string::npos && !text.starts_with(' ') && !text.ends_with(' ');
  if (bare) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string CsvLine(std::span<const std::string> fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields[0]) line += ',';
    line += CsvField(field);
  }
  return line + "\n";
}

void CsvFile::Split(const std::string& line, std::vector<std::string>& fields) const {
  fields.clear();
  for (std::size_t at = 0;;) {
    std::string field;
    const std::size_t begin = line.find_first_not_of(separator_ == '\t' ? " " : kBlanks, at);
    if (begin != std::string::npos && line[begin] == '"') {
      std::size_t quote = begin;
      for (std::size_t from = begin + 1;; from = quote + 1) {
        quote = line.find('"', from);
        if (quote == std::string::npos)
          throw UnclosedQuote(
              Join(Where(), ": expected a quote at the end of a field, found none on this line"));
        field += line.substr(from, quote - from);
        if (quote + 1 >= line.size() || line[quote + 1] != '"') break;
        field += line[quote++];
      }
      at = line.find(separator_, quote);
      const std::size_t behind = line.find_first_not_of(kBlanks, quote + 1);
      if (behind < std::min(at, line.size()))
        throw Error(Join(Where(), ": expected nothing behind a field in quotes, found '",
                         line.substr(behind, 20), "'"));
    } else {
      const std::size_t end = std::min(line.find(separator_, at), line.size());
      field = line.substr(at, end - at);
      field.erase(field.find_last_not_of(kBlanks) + 1);
      field.erase(0, std::min(field.find_first_not_of(kBlanks), field.size()));
      at = line.find(separator_, at);
    }
    fields.push_back(std::move(field));
    if (at == std::string::npos) return;
    ++at;
  }
}

CsvFile::CsvFile(const std::string& path, std::span<const char* const> required, Separator separator)
    : file_(path) {
  std::string line;
  do {
    if (!file_.Next(line)) throw Error(Join(path, ": expected a header line, found an empty file"));
  } while (line.empty() || line.rfind("sep=", 0) == 0);
  if (line.rfind("\x89HDF", 0) == 0)
    throw Error(Join(path, ": expected a table of text, found an HDF5 file"));
  const auto control = [](unsigned char c) { return c < 0x20 && c != '\t'; };
  if (std::any_of(line.begin(), line.end(), control))
    throw Error(
        Join(Where(),
             ": expected a header line of text, found other bytes (UTF-16, a spreadsheet's own format, or "
             "lines that end with a carriage return alone?)"));
  CheckText(line, Where());
  if (separator == Separator::kGuess) separator_ = MostOf(line);
  Split(line, names_);
  for (const std::string name : required) {
    if (!Has(name))
      throw Error(Join(Where(), ": expected a column '", name, "'", DidYouMean(name, names_), ", found '",
                       line.substr(0, 80), "'"));
  }
  for (auto it = names_.begin(); it != names_.end(); ++it) {
    if (!it->empty() && std::find(it + 1, names_.end(), *it) != names_.end())
      throw Error(Join(Where(), ": expected each column once, found '", *it, "' twice"));
  }
}

CsvFile::CsvFile(const std::string& path, NoHeader, std::span<const char* const> names)
    : file_(path), names_(names.begin(), names.end()) {}

bool CsvFile::Next() {
  std::string line;
  do {
    if (!file_.Next(line)) return false;
  } while (line.empty());
  Split(line, fields_);
  CheckText(line, Where());
  if (fields_.size() != names_.size()) {
    const std::string what = separator_ == ',' ? "comma-separated columns" : "columns, as in the header";
    throw Error(Join(Where(), ": expected ", names_.size(), " ", what, ", found ", fields_.size()));
  }
  const bool header = file_.number() == 1 && fields_ == names_;  // put before a table that has none
  return header ? Next() : true;
}

bool CsvFile::Has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::size_t CsvFile::Column(const std::string& name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  BERTH_CHECK(it != names_.end(), "no column '", name, "'");
  return static_cast<std::size_t>(it - names_.begin());
}

const std::string& CsvFile::Text(const std::string& name) const {
  static const std::string kNone;
  const std::size_t column = Column(name);
  return column < fields_.size() ? fields_[column] : kNone;
}

double CsvFile::Number(const std::string& name) const {
  return ParseNumber(Text(name), Join(Where(), ": ", name));
}

int CsvFile::Integer(const std::string& name) const {
  const long long value = ParseInteger(Text(name), Join(Where(), ": ", name));
  if (value < -1000000000 || value > 1000000000) {
    throw Error(Join(Where(), ": ", name, ": expected at most 1000000000 in size, found ", value));
  }
  return static_cast<int>(value);
}

std::string CsvFile::Where(const std::string& name) const {
  return Join(Where(), ": column '", name, "'");
}

}  // namespace berth

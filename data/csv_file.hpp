// Tables as text, with a header line or names that are known: columns by name, errors by file and line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/text_file.hpp"
#include "env/base/check.hpp"

namespace berth {

enum class Separator {
  kComma,
  kGuess
};  // kGuess: of ',', ';', '|' and tab the one that the header has most of

struct NoHeader {};  // the first line is a row; one that is the names themselves is passed over

// A quote that does not end on its line: what follows may stand inside it, so that nobody can go on.
class UnclosedQuote : public Error {
 public:
  using Error::Error;
};

// The text of a field to write: in quotes where it would not be read back as it is (RFC 4180), whatever the
// separator.
std::string CsvField(const std::string& text);
std::string CsvLine(std::span<const std::string> fields);

// A field may stand in quotes, "" inside them for one (RFC 4180), on one line. Spaces around a field that is
// not in quotes do not count. Thread rule: one thread at a time.
class CsvFile {
 public:
  // Throws Error where one of `required` is not in the header, a name is there twice, or it is no text. Empty
  // lines above the header do not count, nor does the "sep=;" that spreadsheets write.
  explicit CsvFile(const std::string& path, std::span<const char* const> required = {},
                   Separator separator = Separator::kComma);
  // Of a table whose names stand elsewhere.
  CsvFile(const std::string& path, NoHeader, std::span<const char* const> names);
  // The next row that is not empty; false at the end. Error for one with more or fewer fields than the
  // header, after which the next call goes on with the row behind it.
  bool Next();
  const std::vector<std::string>& names() const { return names_; }
  bool Has(const std::string& name) const;  // is there such a column
  // Of a row for which Next threw: what was read of it, "" for the rest.
  const std::string& Text(const std::string& name) const;
  double Number(const std::string& name) const;
  int Integer(const std::string& name) const;
  int line() const { return file_.number(); }
  std::string Where() const { return file_.Where(); }
  std::string Where(const std::string& name) const;  // "path:line: column 'name'"

 private:
  void Split(const std::string& line, std::vector<std::string>& fields) const;
  std::size_t Column(const std::string& name) const;
  TextFile file_;
  char separator_ = ',';
  std::vector<std::string> names_, fields_;
};

}  // namespace berth

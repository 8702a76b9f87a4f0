// The page of a reproduction: Markdown with tables, the comma-separated files behind its pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace berth {

class ReproductionPage {
 public:
  using Cells = std::vector<std::string>;

  void Heading(const std::string& text);
  void Paragraph(const std::string& text);
  void Rows(const Cells& header, const std::vector<Cells>& rows);  // one width for all
  void Picture(const std::string& file, const std::string& caption);
  void Csv(const std::string& file, const Cells& header, std::vector<Cells> rows);

  void Append(const ReproductionPage& part);  // its text and its files

  const std::string& text() const { return text_; }
  // The page under `name` and its files into `folder`; pictures that are not there stay as links.
  void Write(const std::string& folder, const std::string& name) const;

 private:
  std::string text_;
  std::vector<std::pair<std::string, std::string>> files_;  // name, content
};

std::string Exact(double value);                           // all digits, "" where it is NaN
std::string Scientific(double value);                      // "1.2e-07"
std::string Range(double low, double high, int decimals);  // "16–18", or one number

}  // namespace berth

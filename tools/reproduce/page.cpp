#include "tools/reproduce/page.hpp"

#include <cmath>
#include <cstdio>

#include "data/csv_file.hpp"
#include "env/base/check.hpp"
#include "tools/output_file.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

std::string Line(const ReproductionPage::Cells& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

}  // namespace

void ReproductionPage::Heading(const std::string& text) {
  text_ += "## " + text + "\n\n";
}

void ReproductionPage::Paragraph(const std::string& text) {
  text_ += text + "\n\n";
}

void ReproductionPage::Rows(const Cells& header, const std::vector<Cells>& rows) {
  text_ += Line(header) + Line(Cells(header.size(), "---"));
  for (const Cells& row : rows) {
    BERTH_CHECK(row.size() == header.size(), row.size(), " cells under ", header.size(), " headers");
    text_ += Line(row);
  }
  text_ += "\n";
}

void ReproductionPage::Picture(const std::string& file, const std::string& caption) {
  text_ += Join("![", caption, "](", file, ")\n\n");
}

void ReproductionPage::Csv(const std::string& file, const Cells& header, std::vector<Cells> rows) {
  std::string content = CsvLine(header);
  for (const Cells& row : rows) content += CsvLine(row);
  files_.emplace_back(file, std::move(content));
}

void ReproductionPage::Append(const ReproductionPage& part) {
  text_ += part.text_;
  files_.insert(files_.end(), part.files_.begin(), part.files_.end());
}

void ReproductionPage::Write(const std::string& folder, const std::string& name) const {
  for (const auto& [file, content] : files_) WriteTextFile(folder + "/" + file, content);
  WriteTextFile(folder + "/" + name, text_);
}

std::string Exact(double value) {
  return std::isnan(value) ? "" : Join(value);
}

std::string Scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1e", value);
  return text;
}

std::string Range(double low, double high, int decimals) {
  const std::string a = Fixed(low, decimals), b = Fixed(high, decimals);
  return a == b ? a : a + "–" + b;
}

}  // namespace berth

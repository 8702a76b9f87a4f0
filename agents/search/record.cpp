#include "agents/search/record.hpp"

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::search {
namespace {

constexpr const char* kKind = "search";
constexpr int kVersion = 1;

// A column of what was told, by its name in the file.
constexpr struct {
  const char* name;
  double Told::*member;
} kColumns[] = {{"told/wall_s", &Told::wall_s}, {"told/value", &Told::value}, {"told/step", &Told::step}};

}  // namespace

void WriteRecord(const Record& record, const std::string& path) {
  h5::Writer out(path, kKind, kVersion);
  out.Text("definition", record.definition);
  out.Integer("decisions", record.decisions);
  out.Integer("generations", static_cast<std::int64_t>(record.told.size()));
  out.Array<double>("state", record.state);
  out.Array<std::int32_t>("kept/generation", record.generations);
  std::vector<double> points;
  for (const std::vector<double>& point : record.kept)
    points.insert(points.end(), point.begin(), point.end());
  out.Array<double>("kept/point", points);
  for (const auto& [name, member] : kColumns) {
    std::vector<double> column;
    for (const Told& told : record.told) column.push_back(told.*member);
    out.Array<double>(name, column);
  }
  out.Commit();
}

Record ReadRecord(const std::string& path, const Record& begun) {
  const h5::Reader in(path, kKind, kVersion);
  Record record;
  record.definition = in.Text("definition");
  record.decisions = in.Integer("decisions");
  const std::size_t numbers = begun.kept.front().size();
  record.state = in.Array<double>("state", static_cast<std::int64_t>(begun.state.size()));
  record.generations = in.Array<std::int32_t>("kept/generation");
  const std::vector<double> points =
      in.Array<double>("kept/point", static_cast<std::int64_t>(record.generations.size() * numbers));
  for (std::size_t i = 0; i < record.generations.size(); ++i) {
    const auto from = points.begin() + static_cast<std::ptrdiff_t>(i * numbers);
    record.kept.emplace_back(from, from + static_cast<std::ptrdiff_t>(numbers));
  }
  if (record.kept.empty() || record.kept.front() != begun.kept.front()) {
    throw Error(Join(path, ": expected a search from the numbers that this one starts from, found another"));
  }
  const std::int64_t generations = in.Integer("generations");
  for (std::int64_t i = 0; i < generations; ++i) record.told.push_back({static_cast<int>(i) + 1});
  for (const auto& [name, member] : kColumns) {
    const std::vector<double> column = in.Array<double>(name, generations);
    for (std::size_t i = 0; i < column.size(); ++i) record.told[i].*member = column[i];
  }
  return record;
}

std::string ReadDefinition(const std::string& file) {
  return h5::Reader(file, kKind, kVersion).Text("definition");
}

}  // namespace berth::search

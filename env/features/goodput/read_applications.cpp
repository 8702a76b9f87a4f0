// Applications from the folders of the Pollux and Sia artifacts.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string_view>
#include <system_error>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/readable.hpp"
#include "env/base/spec.hpp"
#include "env/features/goodput/application.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;

// Of all that was read, in order: FNV-1a, texts with their end.
class Digest {
 public:
  void Add(std::string_view text) {
    for (char c : text) Byte(static_cast<unsigned char>(c));
    Byte(0);
  }
  void Add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    for (int shift = 0; shift < 64; shift += 8) Byte(static_cast<unsigned char>(bits >> shift & 255));
  }
  std::uint64_t value() const { return hash_; }

 private:
  void Byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

// Rows of a CSV file by the names of its header; quotes are not read, since no such file has any. What is
// asked for goes into the digest too.
class Table {
 public:
  Table(std::string path, const std::vector<std::string>& columns, Digest& digest)
      : path_(std::move(path)), columns_(columns), digest_(digest) {
    try {
      CheckReadable(path_);
    } catch (const Error& error) {
      throw Error(Join("feature 'goodput': ", error.what()));
    }
    file_.open(path_);
    const std::vector<std::string> header = Line();
    for (const std::string& column : columns_) {
      digest_.Add(column);
      const auto found = std::find(header.begin(), header.end(), column);
      if (found == header.end())
        throw Error(
            Join(path_, ":1: expected a column '", column, "', found none", DidYouMean(column, header)));
      at_.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    width_ = header.size();
  }
  bool Next() {
    cells_ = Line();
    if (cells_.empty()) return false;
    if (cells_.size() != width_)
      throw Error(Join(Where(), ": expected ", width_, " columns, found ", cells_.size()));
    return true;
  }
  const std::string& Text(std::size_t column) const {
    digest_.Add(Cell(column));
    return Cell(column);
  }
  double Number(std::size_t column, double above) const {
    const double x = ParseNumber(Cell(column), Where(column));
    if (!(x > above))
      throw Error(Join(Where(column), ": expected more than ", above, ", found ", Cell(column)));
    digest_.Add(x);
    return x;
  }
  int Whole(std::size_t column) const {
    const double x = Number(column, 0.0);
    if (x != static_cast<int>(x))
      throw Error(Join(Where(column), ": expected a whole number, found ", Cell(column)));
    return static_cast<int>(x);
  }
  const std::string& Cell(std::size_t column) const { return cells_[at_[column]]; }  // for messages
  std::string Where() const { return Join(path_, ":", line_); }
  std::string Where(std::size_t column) const { return Join(Where(), ": column '", columns_[column], "'"); }

 private:
  std::vector<std::string> Line() {
    std::string line;
    while (std::getline(file_, line)) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty()) continue;
      std::vector<std::string> cells(1);
      for (char c : line) {
        if (c == ',') {
          cells.emplace_back();
        } else {
          cells.back() += c;
        }
      }
      return cells;
    }
    return {};
  }
  std::string path_;
  std::vector<std::string> columns_;
  Digest& digest_;
  std::ifstream file_;
  int line_ = 0;
  std::size_t width_ = 0;
  std::vector<std::size_t> at_;
  std::vector<std::string> cells_;
};

// "42" or "4-2" to GPUs per node.
std::vector<int> ParsePlacement(const Table& table, std::size_t column) {
  std::vector<int> nodes;
  for (char c : table.Text(column)) {
    if (c == '-') continue;
    if (c < '1' || c > '9')
      throw Error(Join(table.Where(column), ": expected GPUs per node as digits 1 to 9, found '",
                       table.Cell(column), "'"));
    nodes.push_back(c - '0');
  }
  return nodes;
}

// validation-B.csv of an application: what stands between "NAME-" and ".csv", "" where it is "NAME.csv".
// `setting` is what named the folder.
std::map<std::string, std::string> FilesOf(const fs::path& folder, const std::string& name,
                                           const char* setting) {
  std::map<std::string, std::string> files;
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  if (error)
    throw Error(Join("feature 'goodput': ", setting, ": expected a folder with ", name, " files, found '",
                     folder.string(), "': ", error.message()));
  for (const auto& entry : entries) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".csv" || file.rfind(name, 0) != 0) continue;
    std::string kind = entry.path().stem().string().substr(name.size());
    if (!kind.empty() && kind.front() != '-') continue;
    files[kind.empty() ? "" : kind.substr(1)] = entry.path().string();
  }
  return files;
}

TrainingCurve ReadCurve(const fs::path& folder, const char* setting, Digest& digest) {
  std::vector<TrainingRun> runs;
  std::string where;
  for (const auto& [batch, path] : FilesOf(folder, "validation", setting)) {
    const long long samples = ParseInteger(batch, path + ": batch");
    if (samples < 1 || samples > 1'000'000'000)
      throw Error(Join(path, ": expected a batch of at least 1, found ", batch));
    TrainingRun run{static_cast<int>(samples), {}, {}, {}, {}};
    digest.Add(static_cast<double>(samples));
    Table table(path, {"progress", "iteration", "grad_sqr", "grad_var"}, digest);
    while (table.Next()) {
      const double before = run.progress.empty() ? 0.0 : run.progress.back();
      run.progress.push_back(table.Number(0, before));
      run.iterations.push_back(table.Number(1, 0.0));
      run.sqr.push_back(table.Number(2, -1e-300));
      run.var.push_back(table.Number(3, -1e-300));
    }
    if (run.progress.empty()) throw Error(Join(path, ": expected an epoch a row, found none"));
    if (!runs.empty() && run.progress.size() != runs.front().progress.size())
      throw Error(Join(path, ": expected as many epochs as ", where, ", ", runs.front().progress.size(),
                       ", found ", run.progress.size()));
    if (runs.empty()) where = path;
    runs.push_back(std::move(run));
  }
  if (runs.empty())
    throw Error(Join("feature 'goodput': ", folder.string(), ": expected validation-BATCH.csv, found none"));
  return TrainingCurve(std::move(runs));
}

SpeedOnType ReadSpeed(const std::string& gpus, const std::string& placements, const std::string& scalability,
                      Digest& digest) {
  SpeedOnType speed{gpus, {}, 0, 0};
  digest.Add(gpus);
  Table rows(placements, {"placement", "local_bsz", "step_time", "sync_time"}, digest);
  const auto time = [](const Table& table, std::size_t step, std::size_t sync) {
    const double all = table.Number(step, 0.0), exchange = table.Number(sync, -1e-300);
    if (exchange > all)
      throw Error(Join(table.Where(sync), ": expected at most the step's ", table.Cell(step), " s, found ",
                       table.Cell(sync)));
    return goodput::StepTime{all, all - exchange};
  };
  while (rows.Next()) speed.steps.AddPlacement(ParsePlacement(rows, 0), rows.Whole(1), time(rows, 2, 3));
  if (!scalability.empty()) {
    Table shapes(scalability, {"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"}, digest);
    while (shapes.Next())
      speed.steps.AddShape(shapes.Whole(0), shapes.Whole(1), shapes.Whole(2), time(shapes, 3, 4));
  }
  if (speed.steps.empty()) throw Error(Join(placements, ": expected measured placements, found no row"));
  speed.steps.Finish();
  speed.min_local = speed.steps.min_atomic(), speed.max_local = speed.steps.max_atomic();
  return speed;
}

void ReadKnown(const std::string& path, Digest& digest, std::vector<Application>& applications) {
  Table rows(path, {"application", "placement", "local_bsz", "step_time_s", "sync_time_s"}, digest);
  while (rows.Next()) {
    const std::string& name = rows.Text(0);
    const auto found = std::find_if(applications.begin(), applications.end(),
                                    [&name](const Application& a) { return a.name == name; });
    if (found == applications.end()) throw Error(Join(rows.Where(0), ": no application '", name, "'"));
    const double step = rows.Number(3, 0.0);
    for (SpeedOnType& speed : found->speeds)
      speed.steps.AddKnown(PlacementName(ParsePlacement(rows, 1)), rows.Whole(2),
                           {step, step - rows.Number(4, -1e-300)});
  }
}

}  // namespace

goodput::StepTime SpeedOnType::At(std::span<const int> gpus_per_node, int atomic) const {
  if (!fit) return steps.At(gpus_per_node, atomic);
  if (atomic < min_local || atomic > max_local) return {};
  goodput::Shape shape{0, 0};
  for (int on_node : gpus_per_node) shape.nodes += on_node > 0, shape.replicas += on_node;
  return fit->At(shape).Time(atomic);
}

double SpeedOnType::SamplesPerSecond() const {
  const int one[] = {1}, most = MaxAtomic(one);
  return most / At(one, most).step;
}

const SpeedOnType* Application::On(const std::string& gpu_type) const {
  // What the artifact of Sia calls them.
  static const std::map<std::string, std::string> kAlias = {
      {"t4", "aws"}, {"a100_40gb", "dgx-ext"}, {"a100", "dgx-ext"}, {"rtx2080ti", "rtx"}};
  const auto alias = kAlias.find(gpu_type);
  const SpeedOnType* any = nullptr;
  for (const SpeedOnType& speed : speeds) {
    if (speed.gpus == gpu_type || (alias != kAlias.end() && speed.gpus == alias->second)) return &speed;
    if (speed.gpus.empty()) any = &speed;
  }
  return any;
}

std::vector<Application> ReadApplications(const std::string& folder, const std::string& curves,
                                          const std::string& known, std::uint64_t* content) {
  Digest digest;
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Application> applications;
  for (const fs::path& path : folders) {
    const std::map<std::string, std::string> placements = FilesOf(path, "placements", "profiles");
    if (placements.empty()) continue;
    const std::string name = path.filename().string();
    digest.Add(name);
    const bool elsewhere = !curves.empty();
    Application application{
        name,
        ReadCurve(elsewhere ? fs::path(curves) / name : path, elsewhere ? "curves" : "profiles", digest),
        {}};
    const std::map<std::string, std::string> scalability = FilesOf(path, "scalability", "profiles");
    for (const auto& [gpus, file] : placements) {
      const auto shapes = scalability.find(gpus);
      application.speeds.push_back(
          ReadSpeed(gpus, file, shapes == scalability.end() ? "" : shapes->second, digest));
      const int least = application.speeds.back().min_local, most = application.max_batch();
      if (least > most)
        throw Error(Join(file, ": column 'local_bsz': expected a least batch of at most ", most,
                         ", the largest of ", name, "'s validation-BATCH.csv, found ", least));
    }
    applications.push_back(std::move(application));
  }
  if (applications.empty())
    throw Error(
        Join("feature 'goodput': profiles: expected a folder of applications with placements.csv, found "
             "none in '",
             folder, "'"));
  if (!known.empty()) ReadKnown(known, digest, applications);
  if (content != nullptr) *content = digest.value();
  return applications;
}

}  // namespace berth

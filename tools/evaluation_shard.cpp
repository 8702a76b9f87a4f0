#include "tools/evaluation_shard.hpp"

#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <type_traits>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// [K, s] of one figure of the runs.
template <class T, class Field>
void WriteColumn(h5::Writer& out, const std::string& name, const std::vector<ResultRow>& rows,
                 const Field& field) {
  std::vector<T> values;
  for (const ResultRow& row : rows) {
    for (const RunResult& run : row.runs) values.push_back(static_cast<T>(field(run)));
  }
  const std::int64_t schedulers = std::ssize(rows);
  out.Array<T>(name, values, {schedulers, std::ssize(values) / schedulers});
}

template <class T, class Set>
void ReadColumn(const h5::Reader& in, const std::string& name, std::vector<ResultRow>& rows, const Set& set) {
  const std::size_t runs = rows.front().runs.size();
  const std::vector<T> values = in.Array<T>(name, static_cast<std::int64_t>(rows.size() * runs));
  for (std::size_t k = 0; k < values.size(); ++k) set(rows[k / runs].runs[k % runs], values[k]);
}

// What a shard holds of a run beside its metrics, once for both directions: its name, a value of the type in
// the file, and where it is in a RunResult.
template <class Visit>
void EachColumn(const Visit& visit) {
  visit(
      "signatures", std::uint64_t{}, [](auto& run) -> auto& { return run.signature; });
  visit(
      "jobs", std::int64_t{}, [](auto& run) -> auto& { return run.metrics.jobs; });
  visit(
      "unfinished", std::int64_t{}, [](auto& run) -> auto& { return run.metrics.unfinished; });
  visit(
      "decisions", std::int64_t{}, [](auto& run) -> auto& { return run.decisions; });
  visit(
      "decision_us_mean", double{}, [](auto& run) -> auto& { return run.decision_us_mean; });
  visit(
      "decision_us_p99", double{}, [](auto& run) -> auto& { return run.decision_us_p99; });
  visit(
      "wall_s", double{}, [](auto& run) -> auto& { return run.wall_s; });
}

std::string WindowText(const Window& window) {
  return Join(window.begin, ":", window.end);
}

// The first line in which two configurations differ, as "expected A, found B".
std::string FirstDifference(const std::string& expected, const std::string& found) {
  std::istringstream a(expected), b(found);
  std::string line, other;
  do {
    line.clear(), other.clear();
    std::getline(a, line), std::getline(b, other);
    if (line != other) {
      return Join("expected ", line.empty() ? "nothing more" : line, ", found ",
                  other.empty() ? "nothing more" : other);
    }
  } while (a || b);
  return "";
}

std::string SeedsText(const std::vector<std::int64_t>& seeds) {
  std::string text;
  for (const std::int64_t seed : seeds) text += Join(text.empty() ? "" : ", ", seed);
  return text;
}

void Agree(const h5::Reader& in, const std::string& first, const char* what, const std::string& expected,
           const std::string& found) {
  if (expected == found) return;
  throw Error(Join("--merge: ", in.path(), ": expected a shard of the run of ", first, ", found another ",
                   what, ": ", FirstDifference(expected, found)));
}

struct Place {
  int rank = 0, ranks = 1;
};

Place PlaceOf(const h5::Reader& in) {
  const std::int64_t rank = in.Integer("rank"), ranks = in.Integer("ranks");
  if (ranks < 1 || ranks > (1 << 20) || rank < 0 || rank >= ranks) {
    throw Error(
        Join(in.path(), ": rank, ranks: expected a rank below their number, found ", rank, " and ", ranks));
  }
  return {static_cast<int>(rank), static_cast<int>(ranks)};
}

}  // namespace

std::string ShardConfig(const Options& options) {
  static const std::set<std::string> kOwn = {"out", "threads", "merge", "metrics"};
  std::string text;
  for (const auto& [name, value] : options.Resolved()) {
    if (options.Given(name) && kOwn.count(name) == 0) text += name + "=" + value + "\n";
  }
  return text;
}

std::string ShardPath(const std::string& path, const World& world) {
  const std::filesystem::path whole(path);
  const std::string name =
      Join(whole.stem().string(), ".", world.rank, "-of-", world.size, whole.extension().string());
  return (whole.parent_path() / name).string();
}

EvaluationPlan ShardOf(const EvaluationPlan& plan, const World& world) {
  EvaluationPlan shard = plan;
  shard.workloads.clear();
  shard.seeds.clear();
  for (std::size_t i = U(world.rank); i < plan.seeds.size(); i += U(world.size)) {
    shard.workloads.push_back(plan.workloads[i]);
    shard.seeds.push_back(plan.seeds[i]);
  }
  return shard;
}

void WriteShard(const EvaluationPlan& shard, const std::vector<ResultRow>& rows, const std::string& config,
                const World& world, const std::string& path) {
  h5::Writer out(path, kShardKind, kShardVersion);
  out.Text("config", config);
  out.Integer("rank", world.rank);
  out.Integer("ranks", world.size);
  out.Text("window", WindowText(shard.window));
  std::vector<std::string> hashes;
  for (const Scenario& scenario : shard.workloads) hashes.push_back(HexSignature(scenario.Hash()));
  out.Strings("schedulers", shard.schedulers);
  out.Strings("scenario_hashes", hashes);
  out.Array<std::int64_t>("seeds", shard.seeds);
  EachColumn([&]<class T>(const std::string& name, T, const auto& field) {
    WriteColumn<T>(out, name, rows, field);
  });
  for (const MetricField& field : MetricFields()) {
    WriteColumn<double>(out, Join("metrics/", field.key), rows,
                        [&](const RunResult& run) { return field.Get(run.metrics); });
  }
  std::vector<double> jct;
  for (const ResultRow& row : rows) {
    for (const RunResult& run : row.runs) jct.insert(jct.end(), run.jct_s.begin(), run.jct_s.end());
  }
  out.Array<double>("jct_s", jct,
                    {std::ssize(rows), std::ssize(shard.seeds), shard.window.end - shard.window.begin});
  out.Commit();
}

EvaluationShards::EvaluationShards(const std::vector<std::string>& paths) : first_(paths.front()) {
  std::string commit;
  for (const std::string& path : paths) {
    if (h5::IfKindOf(path) == "evaluation")
      throw Error(Join("--merge: ", path,
                       ": expected a shard, which one of several processes wrote, found a whole evaluation; "
                       "--report DIR --report-with FILE shows whole ones together"));
    const h5::Reader in(path, kShardKind, kShardVersion);
    const Place place = PlaceOf(in);
    if (paths_.empty()) {
      paths_.resize(U(place.ranks));
      config_ = in.Text("config");
      commit = in.Text("source_commit");
    }
    Agree(in, paths.front(), "setting", config_, in.Text("config"));
    Agree(in, paths.front(), "source commit", commit, in.Text("source_commit"));
    Agree(in, paths.front(), "number of shards", std::to_string(paths_.size()), std::to_string(place.ranks));
    std::string& of_rank = paths_[U(place.rank)];
    if (!of_rank.empty()) {
      throw Error(Join("--merge: expected every shard once, found shard ", place.rank, " of ", place.ranks,
                       " in both ", of_rank, " and ", path));
    }
    of_rank = path;
  }
}

std::vector<ResultRow> EvaluationShards::Rows(const EvaluationPlan& plan) const {
  std::vector<ResultRow> rows = EmptyRows(plan);
  for (std::size_t rank = 0; rank < paths_.size(); ++rank) {
    World world;
    world.rank = static_cast<int>(rank), world.size = static_cast<int>(paths_.size());
    const EvaluationPlan shard = ShardOf(plan, world);
    if (shard.seeds.empty()) continue;  // more processes than workloads
    if (paths_[rank].empty()) {
      throw Error(Join("--merge: shard ", rank, " of ", paths_.size(), " is missing, which holds seeds ",
                       SeedsText(shard.seeds)));
    }
    const h5::Reader in(paths_[rank], kShardKind, kShardVersion);
    const auto expect = [&](const char* what, const std::string& wanted, const std::string& found) {
      if (wanted == found) return;
      throw Error(
          Join("--merge: ", in.path(), ": ", what, ": expected ", wanted, " by its settings, found ", found));
    };
    expect("seeds", SeedsText(shard.seeds), SeedsText(in.Array<std::int64_t>("seeds")));
    expect("window", WindowText(plan.window), in.Text("window"));
    const std::vector<std::string> hashes = in.Strings("scenario_hashes"),
                                   schedulers = in.Strings("schedulers");
    for (std::size_t i = 0; i < shard.seeds.size(); ++i) {
      expect(Join("workload of seed ", shard.seeds[i]).c_str(), HexSignature(shard.workloads[i].Hash()),
             i < hashes.size() ? hashes[i] : "none");
    }
    for (std::size_t k = 0; k < plan.schedulers.size(); ++k)
      expect("schedulers", plan.schedulers[k], k < schedulers.size() ? schedulers[k] : "none");
    std::vector<ResultRow> read = EmptyRows(shard);
    EachColumn([&]<class T>(const std::string& name, T, const auto& field) {
      ReadColumn<T>(in, name, read, [&](RunResult& run, T value) {
        auto& figure = field(run);
        figure = static_cast<std::remove_reference_t<decltype(figure)>>(value);
      });
    });
    for (const MetricField& field : MetricFields()) {
      ReadColumn<double>(in, Join("metrics/", field.key), read,
                         [&](RunResult& run, double value) { field.Set(run.metrics, value); });
    }
    const auto width = U(plan.window.end - plan.window.begin), workloads = shard.seeds.size();
    const auto jct = in.Array<double>("jct_s", static_cast<std::int64_t>(read.size() * workloads * width));
    for (std::size_t k = 0; k < read.size(); ++k) {
      for (std::size_t i = 0; i < workloads; ++i) {
        const auto begin = jct.begin() + static_cast<std::ptrdiff_t>((k * workloads + i) * width);
        read[k].runs[i].jct_s.assign(begin, begin + static_cast<std::ptrdiff_t>(width));
        rows[k].runs[rank + i * paths_.size()] = std::move(read[k].runs[i]);
      }
    }
  }
  return rows;
}

}  // namespace berth

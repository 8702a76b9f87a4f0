// Which kinds of jobs may share a GPU, and how fast each then runs.
#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "tools/solve/solve_table.hpp"

namespace berth {
namespace {

constexpr std::size_t kMostSpeeds = 50'000'000;  // kinds x kinds x types
constexpr double kUnread = -1.0;

}  // namespace

void ReadPairs(const std::string& path, SolveTable& table) {
  gavel::PackedProblem& problem = table.problem;
  const std::vector<std::string>& types = problem.base.type_names;
  const std::size_t kinds = table.kinds.size(), speeds = kinds * kinds * types.size();
  if (speeds > kMostSpeeds)
    throw Error(Join("--beside: expected at most ", kMostSpeeds, " speeds of kinds by kinds by types, found ",
                     kinds, " kinds on ", types.size(), " types"));
  constexpr const char* kColumns[] = {"kind", "other", "type", "speed", "other_speed"};
  CsvFile file(path, kColumns);
  for (const std::string& name : file.names()) {
    if (std::find(std::begin(kColumns), std::end(kColumns), name) == std::end(kColumns))
      throw Error(
          Join(file.Where(), ": column '", name, "': expected kind, other, type, speed or other_speed"));
  }
  problem.kinds = static_cast<int>(kinds);
  problem.beside.assign(speeds, kUnread);
  const auto find = [&file](const std::vector<std::string>& names, const char* column) {
    const auto found = std::find(names.begin(), names.end(), file.Text(column));
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
  };
  bool any = false;
  while (file.Next()) {
    const int first = find(table.kinds, "kind"), second = find(table.kinds, "other"),
              type = find(types, "type");
    const double speed = ReadNumber(file, "speed"), other = ReadNumber(file, "other_speed");
    for (const char* column : {"kind", "other"}) {
      if (file.Text(column).empty())
        throw Error(Join(file.Where(column), ": expected the name of a kind, found none"));
    }
    if (type < 0)
      throw Error(Join(file.Where("type"), ": expected a GPU type of --workers, found '", file.Text("type"),
                       "'", DidYouMean(file.Text("type"), types)));
    if (file.Text("kind") == file.Text("other") && speed != other)
      throw Error(Join(file.Where("other_speed"), ": expected ", file.Text("speed"),
                       ", the speed of the other of one kind, found ", file.Text("other_speed")));
    if (first < 0 || second < 0) continue;
    double& its = problem.beside[problem.base.at(first * problem.kinds + second, type)];
    if (its != kUnread)
      throw Error(Join(file.Where(), ": expected ", file.Text("kind"), " and ", file.Text("other"),
                       " once on ", file.Text("type"), ", found them again"));
    its = speed;
    problem.beside[problem.base.at(second * problem.kinds + first, type)] = other;
    any = true;
  }
  if (!any) throw Error(Join(path, ": expected a row with two kinds of the jobs, found none"));
  std::replace(problem.beside.begin(), problem.beside.end(), kUnread, 0.0);
}

}  // namespace berth

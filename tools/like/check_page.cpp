// What `berth generate --like --check` says and leaves behind.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "data/csv_file.hpp"
#include "env/base/counted.hpp"
#include "env/base/shortest.hpp"
#include "tools/like/check.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = std::vector<std::string>;

std::string Small(double p) {
  char text[32];
  std::snprintf(text, sizeof(text), p < 0.001 ? "%.0e" : "%.3f", p);
  return p < 1e-99 ? "0" : text;
}

std::vector<Cells> Rows(const LikeCheck& check) {
  std::vector<Cells> rows;
  for (const LikeColumn& column : check.columns) {
    const bool counts = !column.categories.empty();
    rows.push_back({column.name, counts ? "chi-square" : "Kolmogorov-Smirnov",
                    Fixed(column.of_drawn.statistic, counts ? 1 : 3), Small(column.of_drawn.p),
                    Fixed(column.of_drawn.distance, 3), Fixed(column.of_earlier.distance, 3),
                    ToString(column.verdict)});
  }
  return rows;
}

const Cells& Header() {
  static const Cells kHeader = {"column", "test", "statistic", "p", "distance", "earlier weeks", "verdict"};
  return kHeader;
}

std::string Line(const Cells& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

std::string Parts(const LikeCheck& check) {
  return Join("fitted on ", check.earlier_jobs, " jobs of ", Fixed(check.split_s / 86400.0, 1),
              " days, held out ", check.later_jobs, " jobs of ", Fixed(check.later_s / 86400.0, 1),
              " days, drawn ", check.drawn_jobs, " jobs in ", Counted(check.draws, "workload"),
              " of that length");
}

}  // namespace

std::string LikeCheckTable(const LikeCheck& check) {
  Table table(Header());
  for (const Cells& row : Rows(check)) table.AddRow(row);
  return Join(table.ToString(), check.passed(), " of ", check.columns.size(), " columns pass; ", Parts(check),
              "\n");
}

std::string LikeRule() {
  return Join(
      R"(The distance is between 0 and 1: the largest difference of the shares of jobs up to a value (D of Kolmogorov and
Smirnov), or in any set of categories. The distance of the earlier weeks is that of the jobs that the model was fitted to from
those held out: logs change, and no model of the past can be expected to come closer to the future than the past itself.

The rule, which was chosen before anything was measured: a column passes where

)",
      "- `same`: the test does not tell the drawn from the held-out jobs at ", Fixed(100.0 * kLikeLevel, 0),
      "%; or else\n- `close`: their distance is at most ", Shortest(kLikeClose),
      "; or else\n- `drift`: it is at most ", Shortest(kLikeDrift),
      R"( times that of the earlier weeks.

Otherwise it `differs`. With very many jobs a test tells any difference, so p alone would fail all of them; and it takes jobs
for independent, which jobs of one user are not.
)");
}

std::string LikeCheckPage(const LikeCheck& check, const std::string& command) {
  std::string text = Join("# Drawn jobs and real ones: ", check.name, "\n\nMade by `", command,
                          "`: ", Parts(check), ".\n\n", Line(Header()), Line(Cells(Header().size(), "---")));
  for (const Cells& row : Rows(check)) text += Line(row);
  return Join(text, "\n**", check.passed(), " of ", check.columns.size(),
              " columns pass.** The statistic and p compare drawn jobs with the weeks held out.\n",
              LikeRule(), "\n![shares of drawn, held-out and earlier jobs, a panel a column](", kLikePicture,
              ")\n");
}

// Numbers as values at 201 equal steps of their share, counts as shares.
std::string LikeCheckCsv(const LikeCheck& check) {
  constexpr int kSteps = 200;
  std::string text = CsvLine(Cells{"column", "discrete", "sample", "value", "share"});
  for (const LikeColumn& column : check.columns) {
    const std::pair<const char*, const std::vector<double>*> samples[] = {
        {"earlier", &column.earlier}, {"held out", &column.later}, {"drawn", &column.drawn}};
    for (const auto& [name, values] : samples) {
      if (!column.categories.empty()) {
        const double sum = std::accumulate(values->begin(), values->end(), 0.0);
        for (std::size_t i = 0; i < values->size(); ++i)
          text += CsvLine(Cells{column.name, "1", name, column.categories[i], Join((*values)[i] / sum)});
        continue;
      }
      std::vector<double> sorted = *values;
      std::sort(sorted.begin(), sorted.end());
      for (int step = 0; step <= kSteps; ++step) {
        const double at = static_cast<double>(step) / kSteps * static_cast<double>(sorted.size() - 1);
        text += CsvLine(Cells{column.name, "0", name, Join(sorted[static_cast<std::size_t>(std::lround(at))]),
                              Join(static_cast<double>(step) / kSteps)});
      }
    }
  }
  return text;
}

Json LikeCheckJson(const LikeCheck& check) {
  Json json = {{"log", check.name},
               {"split_s", check.split_s},
               {"held_out_s", check.later_s},
               {"earlier_jobs", check.earlier_jobs},
               {"held_out_jobs", check.later_jobs},
               {"drawn_jobs", check.drawn_jobs},
               {"draws", check.draws},
               {"passed", check.passed()}};
  json["columns"] = Json::array();
  for (const LikeColumn& column : check.columns) {
    json["columns"].push_back({{"column", column.name},
                               {"test", column.categories.empty() ? "kolmogorov_smirnov" : "chi_square"},
                               {"statistic", column.of_drawn.statistic},
                               {"p", column.of_drawn.p},
                               {"distance", column.of_drawn.distance},
                               {"earlier_distance", column.of_earlier.distance},
                               {"verdict", ToString(column.verdict)}});
  }
  return json;
}

}  // namespace berth

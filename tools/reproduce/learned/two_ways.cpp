#include "tools/reproduce/learned/two_ways.hpp"

#include "env/base/check.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

std::string Over(const std::vector<Grid>& policies, const Grid& other) {
  return policies.empty() ? "-" : WithInterval(Compare(policies, other, kBootstrapSeed).overall, 3);
}

}  // namespace

std::string ByGradient(const std::string& name) {
  return name + "_gradient";
}

void AddTwoWays(const TwoWays& ways, LearnedPage& out) {
  if (ways.gradient.empty()) return;
  std::string each;
  for (const Grid& seed : ways.gradient)
    each += Join(each.empty() ? "" : " ",
                 Fixed(Compare({{seed}}, ways.best_values, kBootstrapSeed).overall.mean, 3));
  out.two_ways.push_back({ways.row, ways.search.empty() ? "-" : Over(ways.gradient, MeanGrid(ways.search)),
                          Join("`", ways.best, "`"), Over(ways.search, ways.best_values),
                          Over(ways.gradient, ways.best_values), each});
}

void WriteTwoWays(const LearnedPage& parts, ReproductionPage& page) {
  if (parts.two_ways.empty()) return;
  page.Heading("By gradient and by a search of weights");
  page.Paragraph(
      "Policies `NAME_gradient`, each `berth train` once, the last policy of every training seed, beside the "
      "policies `NAME`, whose weights were searched (`berth tune`) from a rule: the same task and test, less "
      "is "
      "better. The rows above are of `NAME`. [95%] over training seeds and workloads. Row 1 counts all its "
      "loads, carried or not.");
  page.Rows({"row", "gradient / search [95%]", "best rule", "search / rule [95%]", "gradient / rule [95%]",
             "each seed"},
            parts.two_ways);
}

}  // namespace berth

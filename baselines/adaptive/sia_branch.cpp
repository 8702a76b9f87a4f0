#include "baselines/adaptive/sia_branch.hpp"

#include <utility>

#include "baselines/mip.hpp"
#include "env/base/index.hpp"

namespace berth::sia {

Branched Branch(const Choice& choice, const std::vector<double>& cost, const std::vector<bool>& open,
                const std::vector<int>& start, int nodes) {
  LpModel model;
  std::vector<double> begin;                                                    // [columns] of `start`
  std::vector<int> option_of;                                                   // [columns]
  std::vector<std::vector<std::pair<int, int>>> taken(choice.capacity.size());  // [types] column and GPUs
  double fixed = 0.0;
  std::vector<int> left = choice.capacity;
  for (int its_class = 0; its_class < choice.classes(); ++its_class) {
    std::vector<int> options;
    for (int i = choice.begin[U(its_class)]; i < choice.begin[U(its_class) + 1]; ++i) {
      if (open[U(i)]) options.push_back(i);
    }
    if (options.size() == 1) {
      const Option& only = choice.option[U(options[0])];
      fixed += cost[U(options[0])];
      if (only.gpus > 0) left[U(only.type)] -= only.gpus;
      continue;
    }
    for (const int i : options) {
      const int column = model.AddColumn(cost[U(i)], 0, 1);
      const Option& option = choice.option[U(i)];
      model.integer.push_back(column);
      model.AddEntry(column, 1);
      if (option.gpus > 0) taken[U(option.type)].push_back({column, option.gpus});
      begin.push_back(i == start[U(its_class)] ? 1.0 : 0.0);
      option_of.push_back(i);
    }
    model.EndRow(1, 1);
  }
  for (std::size_t type = 0; type < taken.size(); ++type) {
    for (const auto& [column, gpus] : taken[type]) model.AddEntry(column, gpus);
    model.EndRow(-kLpInfinity, left[type]);
  }
  MipLimits limits;
  limits.nodes = nodes;
  const MipAnswer answer = SolveMip(model, limits, begin);
  Branched branched;
  branched.bound = answer.bound + fixed;
  if (!answer.found) return branched;
  branched.proven = answer.proven;
  branched.chosen = start;
  int its_class = 0;
  for (std::size_t column = 0; column < option_of.size(); ++column) {
    while (option_of[column] >= choice.begin[U(its_class) + 1]) ++its_class;
    if (answer.x[column] > 0.5) branched.chosen[U(its_class)] = option_of[column];
  }
  return branched;
}

}  // namespace berth::sia

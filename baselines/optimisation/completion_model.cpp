#include <algorithm>
#include <utility>

#include "baselines/optimisation/programs.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// Smith's rule on a type: most weight for a GPU-second first, which is the best order on one machine.
std::vector<int> SmithOrder(const Instance& instance, int type) {
  std::vector<int> order;
  for (int i = 0; i < instance.jobs(); ++i) {
    if (instance.at(i, type) < kNever) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return instance.gang[U(a)] * instance.at(a, type) * instance.weight[U(b)] <
           instance.gang[U(b)] * instance.at(b, type) * instance.weight[U(a)];
  });
  return order;
}

// The GPUs of a type as one machine that has worked off A GPU-seconds no sooner than front + A pace. GPUs
// that become free one after the other have done A at a time that is concave in A: this is its chord, from 0
// to the work of all jobs.
struct JointMachine {
  double front = 0.0;  // s
  double pace = 0.0;   // s a GPU-second
};

JointMachine JoinGpus(const Instance& instance, int type) {
  const auto& free_at = instance.free_at[U(type)];
  JointMachine machine{free_at.front(), 1.0 / static_cast<double>(free_at.size())};
  double all = 0.0;
  for (int i = 0; i < instance.jobs(); ++i) {
    if (instance.at(i, type) < kNever) all += instance.gang[U(i)] * instance.at(i, type);
  }
  double sum = 0.0;  // of the times at which the first k are free
  for (std::size_t k = 1; k <= free_at.size() && all > 0.0; ++k) {
    sum += free_at[k - 1];
    const double done = (all + sum) / static_cast<double>(k);  // by these k alone
    if (k == free_at.size() || done <= free_at[k]) {
      machine.pace = (done - machine.front) / all;
      break;
    }
  }
  return machine;
}

}  // namespace

LoadModel CompletionModel(const Instance& instance) {
  LoadModel model;
  LpModel& lp = model.lp;
  model.column.assign(instance.job.size(), std::vector<int>(instance.free_at.size(), -1));
  std::vector<int> sum;  // [G] the types' parts of the objective
  for (int type = 0; type < instance.types(); ++type) sum.push_back(lp.AddColumn(1.0, 0.0, kLpInfinity));
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int type = 0; type < instance.types(); ++type) {
      if (instance.at(i, type) < kNever) model.column[U(i)][U(type)] = lp.AddColumn(0.0, 0.0, 1.0);
    }
  }
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int column : model.column[U(i)]) {
      if (column >= 0) lp.AddEntry(column, 1.0);
    }
    lp.EndRow(1.0, 1.0);
  }
  for (int type = 0; type < instance.types(); ++type) {
    const std::vector<int> order = SmithOrder(instance, type);
    if (order.empty()) continue;
    const auto& free_at = instance.free_at[U(type)];
    const JointMachine machine = JoinGpus(instance, type);
    const auto column = [&](int i) { return model.column[U(i)][U(type)]; };
    const auto work = [&](int i) { return instance.gang[U(i)] * instance.at(i, type) * machine.pace; };
    std::vector<std::pair<int, double>> waits;  // y_ik, what k waits for i
    for (std::size_t k = 1; k < order.size(); ++k) {
      for (std::size_t i = 0; i < k; ++i) {
        const int both = lp.AddColumn(0.0, 0.0, kLpInfinity);
        waits.push_back({both, instance.weight[U(order[k])] * work(order[i])});
        lp.AddEntry(both, 1.0);
        lp.AddEntry(column(order[i]), -1.0);
        lp.AddEntry(column(order[k]), -1.0);
        lp.EndRow(-1.0, kLpInfinity);
      }
    }
    lp.AddEntry(sum[U(type)], 1.0);
    for (int i : order) {
      lp.AddEntry(column(i),
                  -instance.weight[U(i)] * (machine.front + (work(i) + instance.at(i, type)) / 2.0));
    }
    for (const auto& [both, wait] : waits) lp.AddEntry(both, -wait);
    lp.EndRow(0.0, kLpInfinity);
    if (free_at.size() == 1) continue;  // exact
    lp.AddEntry(sum[U(type)], 1.0);
    for (int i : order) {
      lp.AddEntry(column(i),
                  -instance.weight[U(i)] * (free_at[U(instance.gang[U(i)] - 1)] + instance.at(i, type)));
    }
    lp.EndRow(0.0, kLpInfinity);
  }
  return model;
}

}  // namespace berth

#include "data/batch_changes.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "env/base/spec.hpp"

namespace berth {
namespace {

struct Model {
  std::string_view name;
  int samples;     // of its data set
  int most;        // the largest batch
  bool accordion;  // changes its batch by it
};
// scheduler/utils.py, dataset_len; max_bs_dict and bs_limit.
constexpr Model kModels[] = {
    {"ResNet-18", 50000, 256, true},        {"ResNet-50", 100000, 128, true},
    {"Transformer", 10000, 128, false},     {"LM", 59675, 80, true},
    {"Recommendation", 117907, 8192, true},
};

// Epochs at which GNS doubles the batch; -1 = no more.
struct Doubling {
  std::string_view model;
  int batch, gang, at[4];
};
constexpr Doubling kDoublings[] = {
    {"ResNet-18", 16, 1, {31, 41, 51, 71}},
    {"ResNet-18", 32, 1, {21, 31, 51, -1}},
    {"ResNet-18", 64, 1, {11, 31, -1, -1}},
    {"ResNet-18", 128, 1, {11, -1, -1, -1}},
    {"ResNet-18", 16, 2, {21, 31, 91, 111}},
    {"ResNet-18", 32, 2, {11, 21, 41, -1}},
    {"ResNet-18", 64, 2, {21, 41, -1, -1}},
    {"ResNet-18", 128, 2, {41, -1, -1, -1}},
    {"ResNet-18", 16, 4, {11, 21, 81, 91}},
    {"ResNet-18", 32, 4, {21, 31, 61, -1}},
    {"ResNet-18", 64, 4, {11, 61, -1, -1}},
    {"ResNet-18", 128, 4, {11, -1, -1, -1}},
    {"ResNet-50", 64, 1, {101, -1, -1, -1}},
    {"ResNet-50", 32, 2, {101, 111, -1, -1}},
    {"ResNet-50", 64, 2, {81, -1, -1, -1}},
    {"ResNet-50", 32, 4, {131, 221, -1, -1}},
    {"ResNet-50", 64, 4, {191, -1, -1, -1}},
    {"LM", 5, 1, {31, 41, 61, 71}},
    {"LM", 10, 1, {11, 21, 41, -1}},
    {"LM", 20, 1, {11, 41, -1, -1}},
    {"LM", 40, 1, {11, -1, -1, -1}},
    {"LM", 5, 2, {31, 51, 61, 71}},
    {"LM", 10, 2, {11, 31, 41, -1}},
    {"LM", 20, 2, {31, 41, -1, -1}},
    {"LM", 40, 2, {11, -1, -1, -1}},
    {"LM", 5, 4, {11, 31, 71, 91}},
    {"LM", 10, 4, {11, 31, 61, -1}},
    {"LM", 20, 4, {11, 61, -1, -1}},
    {"LM", 40, 4, {61, -1, -1, -1}},
    {"Recommendation", 512, 1, {21, 41, 71, 91}},
    {"Recommendation", 1024, 1, {21, 51, 91, -1}},
    {"Recommendation", 2048, 1, {21, 41, -1, -1}},
    {"Recommendation", 4096, 1, {41, -1, -1, -1}},
};

struct NameParts {
  const Model* model = nullptr;
  int batch = 0;
};

NameParts PartsOf(const std::string& job_type) {
  constexpr std::string_view kSize = " (batch size ";
  const std::size_t begin = job_type.find(kSize);
  if (begin == std::string::npos || job_type.back() != ')') return {};
  const auto model = std::find_if(std::begin(kModels), std::end(kModels), [&](const Model& its) {
    return its.name == std::string_view(job_type).substr(0, begin);
  });
  if (model == std::end(kModels)) return {};
  const std::size_t from = begin + kSize.size();
  return {model, static_cast<int>(ParseInteger(job_type.substr(from, job_type.size() - from - 1), job_type))};
}

bool Critical(const NameParts& job, int epoch) {
  const std::string_view name = job.model->name;
  const auto within = [epoch](int begin, int end) { return epoch >= begin && epoch < end; };
  if (name == "ResNet-18")
    return epoch < (job.batch == 256 ? 20 : 10) || within(150, 160) || within(250, 260);
  if (name == "ResNet-50") return epoch < 600 && epoch % 30 < 10;
  if (name == "LM") return epoch < 10;
  const int first = job.batch <= 1024 ? 30 : job.batch == 2048 ? 40 : 10;
  return epoch < first || within(60, 70) || within(80, 90);  // Recommendation
}

int BatchAt(const NameParts& job, int gang, bool accordion, int epoch, int epochs) {
  if (accordion)
    return job.model->accordion && !Critical(job, epoch) && epoch > epochs * 0.3 ? job.model->most
                                                                                 : job.batch;
  int batch = job.batch;
  for (const Doubling& its : kDoublings) {
    if (its.model != job.model->name || its.batch != job.batch || its.gang != gang) continue;
    for (int at : its.at) batch *= at >= 0 && epoch >= at ? 2 : 1;
  }
  return std::min(batch, job.model->most);
}

}  // namespace

EpochsOfJob EpochsOf(const std::string& job_type, double total_steps) {
  const NameParts job = PartsOf(job_type);
  if (job.model == nullptr) return {};
  const double steps = static_cast<double>(job.model->samples) / job.batch;
  return {static_cast<int>(std::ceil(total_steps / std::ceil(steps))), steps};
}

std::vector<BatchChange> BatchChanges(const std::string& job_type, int gang, const std::string& mode,
                                      double total_steps) {
  const NameParts job = PartsOf(job_type);
  std::vector<BatchChange> changes;
  if (job.model == nullptr || mode == "static") return changes;
  const EpochsOfJob its = EpochsOf(job_type, total_steps);
  int batch = job.batch;
  for (int epoch = 1; epoch < its.epochs && epoch * its.steps < total_steps; ++epoch) {
    const int next = BatchAt(job, gang, mode == "accordion", epoch, its.epochs);
    if (next != batch) changes.push_back({epoch * its.steps, batch = next});
  }
  return changes;
}

}  // namespace berth

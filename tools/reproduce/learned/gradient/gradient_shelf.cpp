#include "tools/reproduce/learned/gradient/gradient_shelf.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "env/base/check.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/run_cache.hpp"
#include "tools/side_library.hpp"

namespace berth {
namespace {

constexpr int kVersion = 1;

std::string LearnersFile() {
  const char* given = std::getenv("BERTH_LEARN_LIBRARY");
  if (given != nullptr && *given != '\0') return given;
  return ProgramFolder() / "libberth_learn.so";
}

}  // namespace

const std::string& LearnerSource() {
  static const std::string source = [] {
    const std::string& binary = RunSource();
    const bool changed = binary.find('+') != std::string::npos;  // a commit alone says the rest
    return changed && std::filesystem::exists(LearnersFile()) ? Join(binary, "+", FileHash(LearnersFile()))
                                                              : binary;
  }();
  return source;
}

std::optional<TrainingRecord> ReadRecord(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  try {
    if (json.is_discarded() || json.at("version") != kVersion) return std::nullopt;
    return TrainingRecord{json.at("key"), json.at("source"), json.at("cpu_s")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void WriteRecord(const std::string& path, const TrainingRecord& record) {
  const Json json = {
      {"version", kVersion}, {"key", record.key}, {"source", record.source}, {"cpu_s", record.cpu_s}};
  WriteTextFile(path, json.dump() + "\n");
}

std::string GradientShelf::PolicyFile(const Training& training) const {
  return Join(choice_.out, "/policies/seeds/", training.Name(), ".h5");
}

std::string GradientShelf::RecordFile(const Training& training) const {
  return Join(choice_.out, "/policies/seeds/", training.Name(), ".json");
}

std::string GradientShelf::RunFolder(const Training& training) const {
  return Join(choice_.out, "/training/seeds/", training.Name());
}

std::optional<TrainingRecord> GradientShelf::Kept(const Training& training) const {
  if (choice_.out.empty() || !std::filesystem::exists(PolicyFile(training))) return std::nullopt;
  auto record = ReadRecord(RecordFile(training));
  if (!record || record->key != training.Key()) return std::nullopt;
  if (!choice_.any_source && record->source != LearnerSource()) return std::nullopt;
  return record;
}

std::vector<TrainedPolicy> GradientShelf::Find(const TrainingSet& set, std::int64_t steps) const {
  std::vector<TrainedPolicy> found;
  for (const Training& training : TrainingsOf(choice_, set, steps)) {
    if (Kept(training)) found.push_back({training.seed, PolicyFile(training)});
  }
  return found;
}

std::vector<std::string> GradientShelf::Specs(const TrainingSet& set, std::int64_t steps, bool sample) const {
  std::vector<std::string> specs;
  for (const TrainedPolicy& policy : Find(set, steps)) specs.push_back(policy.Spec(sample));
  return specs;
}

double GradientShelf::MeanCpuSeconds(const TrainingSet& set, std::int64_t steps) const {
  double sum = 0.0;
  int count = 0;
  for (const Training& training : TrainingsOf(choice_, set, steps)) {
    if (const auto record = Kept(training)) sum += record->cpu_s, ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

std::string GradientShelf::SourcesText(const std::string& experiment) const {
  std::set<std::string> sources;
  for (const TrainingSet& set : TrainingSets()) {
    if (experiment != set.experiment) continue;
    for (const std::int64_t steps : set.steps) {
      for (const Training& training : TrainingsOf(choice_, set, steps)) {
        if (const auto record = Kept(training)) sources.insert(record->source);
      }
    }
  }
  std::string text;
  for (const std::string& source : sources) text += (text.empty() ? "" : ", ") + source;
  return text.empty() ? "" : Join(" Trained by ", text, ".");
}

std::string GradientShelf::Missing(const TrainingSet& set, std::int64_t steps) const {
  std::string seeds;
  std::size_t missing = 0;
  const std::vector<Training> all = TrainingsOf(choice_, set, steps);
  for (const Training& training : all) {
    if (Kept(training)) continue;
    seeds += Join(seeds.empty() ? "" : ", ", training.seed);
    ++missing;
  }
  if (missing == 0) return all.empty() ? "no seed of it is asked for" : "";
  const std::string what = missing == all.size() ? "not trained" : Join("not trained: seeds ", seeds);
  return steps > choice_.steps_up_to ? Join(what, "; `--steps-up-to ", steps, "` does") : what;
}

}  // namespace berth

// The shipped policies of `reproduce learned`: ROOM/NAME_1.h5, ROOM/NAME_2.h5, ... one a training seed, in
// the room that is called as the experiment of the recipe NAME (data/policies/README.md).
#pragma once

#include <string>
#include <vector>

namespace berth {

struct TrainedPolicy {
  int seed;          // of training, as its file is numbered
  std::string file;  // path
  std::string Spec(bool sample = false) const;
};

// Thread rule: any thread at once.
class PolicyShelf {
 public:
  // Training seeds [begin, end).
  PolicyShelf(std::string folder, int begin, int end)
      : folder_(std::move(folder)), begin_(begin), end_(end) {}

  const std::string& folder() const { return folder_; }
  std::string Path(const std::string& name, int seed) const;  // there or not; without a recipe in no room
  // Those that are there, by seed.
  std::vector<TrainedPolicy> Find(const std::string& name) const;
  // Names of the files that are not, "" when all are.
  std::string Missing(const std::string& name) const;
  // Specs of all that are there.
  std::vector<std::string> Specs(const std::string& name, bool sample = false) const;

 private:
  std::string folder_;
  int begin_, end_;
};

}  // namespace berth

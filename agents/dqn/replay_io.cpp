// The replay buffer to and from checkpoints: slots are numbered anew in the order in which the steps name
// them, so that only what is held is written and the bytes do not depend on the pools' past.
#include <algorithm>
#include <type_traits>
#include <unordered_map>

#include "agents/dqn/replay.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

template <class T>
class Numbering {
 public:
  explicit Numbering(const RowPool<T>& pool) : pool_(pool) {}
  std::int32_t operator()(std::int32_t slot) {
    if (slot < 0) return slot;
    const auto [entry, is_new] = number_.try_emplace(slot, static_cast<std::int32_t>(number_.size()));
    if (is_new) rows_.insert(rows_.end(), pool_[slot], pool_[slot] + pool_.width());
    return base_ + entry->second;
  }
  // Once every slot has its number: those of the ranks before come first, all of them follow each other.
  void Join(const Ranks& ranks) {
    if (!ranks.many()) return;
    std::vector<T> all;
    int rank = 0;
    for (const std::vector<T>& rows : ranks.JoinRows<T>(rows_)) {
      if (rank++ == ranks.rank()) base_ = static_cast<std::int32_t>(all.size() / pool_.width());
      all.insert(all.end(), rows.begin(), rows.end());
    }
    rows_ = std::move(all);
  }
  void Write(h5::Writer& out, const std::string& dataset) const {
    out.Array<T>(
        dataset, rows_,
        {static_cast<std::int64_t>(rows_.size() / pool_.width()), static_cast<std::int64_t>(pool_.width())});
  }

 private:
  const RowPool<T>& pool_;
  std::unordered_map<std::int32_t, std::int32_t> number_;
  std::vector<T> rows_;  // [numbered, width]
  std::int32_t base_ = 0;
};

// Rows of a file, added to a pool once each as they are named.
template <class T>
class Restoring {
 public:
  Restoring(const h5::Reader& in, const std::string& dataset, RowPool<T>& pool)
      : in_(in), dataset_(dataset), pool_(pool) {
    std::vector<std::int64_t> shape;
    rows_ = in.Array<T>(dataset, -1, &shape);
    if (shape.size() != 2 || shape[1] != static_cast<std::int64_t>(pool.width())) {
      throw Error(Join(in.path(), ": ", dataset, ": expected rows of ", pool.width(), ", found others"));
    }
    slot_.assign(static_cast<std::size_t>(shape[0]), -1);
  }
  std::int32_t operator()(std::int32_t number) {
    if (number == -1) return -1;
    if (number < 0 || static_cast<std::size_t>(number) >= slot_.size()) {
      throw Error(
          Join(in_.path(), ": ", dataset_, ": expected one of ", slot_.size(), " rows, found row ", number));
    }
    std::int32_t& slot = slot_[static_cast<std::size_t>(number)];
    const T* row = rows_.data() + static_cast<std::size_t>(number) * pool_.width();
    slot = pool_.AddOrShare(row, slot);
    return slot;
  }

 private:
  const h5::Reader& in_;
  std::string dataset_;
  RowPool<T>& pool_;
  std::vector<T> rows_;
  std::vector<std::int32_t> slot_;
};

// A slot between the buffer's numbering and the file's; anything else is itself.
template <class T, class Observations, class Masks>
T Renamed(T value, bool of_observations, bool of_masks, Observations& observations, Masks& masks) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if (of_observations) return observations(value);
    if (of_masks) return masks(value);
  }
  return value;
}

}  // namespace

template <class Self, class Visit>
void Replay::ForEachColumn(Self& self, const Visit& visit) {
  visit("observation_row", self.observation_, Slots::kObservations);
  visit("mask_row", self.mask_, Slots::kMasks);
  visit("final_observation_row", self.final_observation_, Slots::kObservations);
  visit("final_mask_row", self.final_mask_, Slots::kMasks);
  visit("action", self.action_, Slots::kNone);
  visit("reward", self.reward_, Slots::kNone);
  visit("discount", self.discount_, Slots::kNone);
  visit("end", self.end_, Slots::kNone);
}

void Replay::Save(h5::Writer* out, const std::string& group, const Ranks& ranks) const {
  const std::vector<std::int64_t> held = Held();
  const std::int64_t steps =
      static_cast<std::int64_t>(held.size()) / envs_ * (ranks.many() ? ranks.all_envs() : envs_);
  if (out != nullptr)
    out->Array<std::int64_t>(group + "/position", std::vector<std::int64_t>{current_, stored_, steps});
  if (held.empty()) return;
  Numbering<float> observations(observations_);
  Numbering<std::uint8_t> masks(masks_);
  const auto of_held = [&](const auto& values, Slots slots) {
    std::decay_t<decltype(values)> column;
    column.reserve(held.size());
    for (const std::int64_t flat : held) {
      column.push_back(Renamed(values[static_cast<std::size_t>(flat)], slots == Slots::kObservations,
                               slots == Slots::kMasks, observations, masks));
    }
    return column;
  };
  ForEachColumn(*this, [&](const char*, const auto& values, Slots slots) {
    if (slots != Slots::kNone) of_held(values, slots);  // numbers them
  });
  observations.Join(ranks);
  masks.Join(ranks);
  ForEachColumn(*this, [&](const char* name, const auto& values, Slots slots) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    const std::vector<T> column = ranks.JoinColumns<T>(of_held(values, slots));
    if (out != nullptr) out->Array(group + "/" + name, column);
  });
  if (out == nullptr) return;
  observations.Write(*out, group + "/observation");
  masks.Write(*out, group + "/mask");
}

void Replay::Load(const h5::Reader& in, const std::string& group, const Ranks& ranks) {
  const int all_envs = ranks.many() ? ranks.all_envs() : envs_;
  const auto position = in.Array<std::int64_t>(group + "/position", 3);
  const bool fits = position[0] >= 0 && position[0] < rows_ && position[1] >= 0 && position[1] < rows_ &&
                    (position[2] == (position[1] + 1) * all_envs || (position[2] == 0 && position[1] == 0));
  if (!fits) {
    throw Error(Join(in.path(), ": ", group, "/position: expected a row and a count below ", rows_,
                     " and the steps they make, found ", position[0], ", ", position[1], " and ",
                     position[2]));
  }
  for (std::size_t flat = 0; flat < Flat(rows_, 0); ++flat) Drop(flat);
  current_ = static_cast<std::int32_t>(position[0]);
  stored_ = position[1];
  if (position[2] == 0) return;
  Restoring<float> observations(in, group + "/observation", observations_);
  Restoring<std::uint8_t> masks(in, group + "/mask", masks_);
  const std::size_t first = Flat(Oldest(), 0), size = Flat(rows_, 0);
  ForEachColumn(*this, [&](const char* name, auto& values, Slots slots) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    const std::vector<T> held = ranks.OwnColumns<T>(in.Array<T>(group + "/" + name, position[2]));
    for (std::size_t k = 0; k < held.size(); ++k) {
      values[(first + k) % size] =
          Renamed(held[k], slots == Slots::kObservations, slots == Slots::kMasks, observations, masks);
    }
  });
  CheckHeld(Join(in.path(), ": ", group));
}

// Learners index by what is here: of a file that nobody's training wrote nothing may be out of range.
void Replay::CheckHeld(const std::string& where) const {
  const auto legal = [&](std::int32_t slot, std::int32_t action) {
    const std::uint8_t* mask = masks_[slot];
    return action >= 0 && action < static_cast<std::int32_t>(masks_.width()) && mask[action] != 0;
  };
  const auto some_legal = [&](std::int32_t slot) {
    const std::uint8_t* mask = masks_[slot];
    return std::any_of(mask, mask + masks_.width(), [](std::uint8_t bit) { return bit != 0; });
  };
  const std::vector<std::int64_t> held = Held();
  if (static_cast<std::int64_t>(held.size()) != (stored_ + 1) * envs_)
    throw Error(
        Join(where, "/observation_row: expected rows of all ", (stored_ + 1) * envs_, " steps, found a gap"));
  for (std::size_t k = 0; k < held.size(); ++k) {
    const auto at = static_cast<std::size_t>(held[k]);
    const bool now = k + static_cast<std::size_t>(envs_) >= held.size();
    if (observation_[at] < 0 || mask_[at] < 0 || !some_legal(mask_[at]) ||
        (final_observation_[at] < 0) != (final_mask_[at] < 0) ||
        (final_mask_[at] >= 0 && !some_legal(final_mask_[at])))
      throw Error(Join(where, ": expected rows with something legal to do for step ", k, ", found none"));
    if (now) continue;
    if (!legal(mask_[at], action_[at]))
      throw Error(Join(where, "/action: expected one that was legal in step ", k, ", found ", action_[at]));
    if (end_[at] > kTruncated)
      throw Error(Join(where, "/end: expected 0 to 2 in step ", k, ", found ", static_cast<int>(end_[at])));
  }
}

}  // namespace berth

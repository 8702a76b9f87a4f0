// Which environments of a run are this rank's, and how what is known of each environment is joined over the
// ranks. A run of W ranks is the run of one process with all the environments: rank r plays those of
// PartOfRank, with their own streams, and what one process would compute from all of them is computed from
// joined columns. Alone (the default) nothing is joined and nothing costs anything.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "agents/ranks/process_group.hpp"

namespace berth {

class Ranks {
 public:
  Ranks() = default;
  // Of several: `group` must outlive it. Throws Error where there are fewer environments than ranks.
  Ranks(ProcessGroup& group, int all_envs);

  bool many() const { return group_ != nullptr; }
  int rank() const { return many() ? group_->rank() : 0; }
  int size() const { return many() ? group_->size() : 1; }
  ProcessGroup& group() const { return *group_; }  // REQUIRES: many()
  int all_envs() const { return all_envs_; }       // REQUIRES: many(), as the two below
  int first_env() const { return PartOfRank(all_envs_, rank(), size()).first; }
  int envs() const { return PartOfRank(all_envs_, rank(), size()).second - first_env(); }

  // [R, envs] of every rank into [R, all_envs], as one process would hold them; alone `own`.
  template <class T>
  std::vector<T> JoinColumns(std::span<const T> own) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!many()) return {own.begin(), own.end()};
    std::vector<T> all(own.size() / static_cast<std::size_t>(envs()) * static_cast<std::size_t>(all_envs_));
    JoinColumnBytes(std::as_bytes(own), sizeof(T), reinterpret_cast<std::uint8_t*>(all.data()));
    return all;
  }
  // The inverse: this rank's columns of [R, all_envs]. Alone everything is.
  template <class T>
  std::vector<T> OwnColumns(std::span<const T> all) const {
    if (!many()) return {all.begin(), all.end()};
    std::vector<T> own;
    for (std::size_t k = 0; k < all.size(); k += static_cast<std::size_t>(all_envs_)) {
      const auto part =
          all.subspan(k + static_cast<std::size_t>(first_env()), static_cast<std::size_t>(envs()));
      own.insert(own.end(), part.begin(), part.end());
    }
    return own;
  }
  // One thing of any length of every rank, in their order; alone `own`.
  std::vector<std::vector<std::uint8_t>> JoinBlocks(
      std::span<const std::uint8_t> own) const;  // REQUIRES: many()
  template <class T>
  std::vector<std::vector<T>> JoinRows(std::span<const T> own) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!many()) return {{own.begin(), own.end()}};
    std::vector<std::vector<T>> rows;
    const auto bytes = std::as_bytes(own);
    for (const auto& block :
         JoinBlocks({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()})) {
      rows.emplace_back(block.size() / sizeof(T));
      std::memcpy(rows.back().data(), block.data(), block.size());
    }
    return rows;
  }

 private:
  void JoinColumnBytes(std::span<const std::byte> own, std::size_t width, std::uint8_t* all) const;

  ProcessGroup* group_ = nullptr;
  int all_envs_ = 0;
};

}  // namespace berth

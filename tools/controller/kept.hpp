// The latest of what happens, for people: the page shows no more, and a controller that runs for months grows
// no larger.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace berth {

inline constexpr std::size_t kKept = 1000, kShown = 100;  // figures; lines on the page

template <class T>
void Keep(std::deque<T>& values, T value, std::size_t most) {
  values.push_back(std::move(value));
  if (values.size() > most) values.pop_front();
}

// "v1,v2", as Slurm takes nodes.
inline std::string Joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ",") + word;
  return all;
}

}  // namespace berth

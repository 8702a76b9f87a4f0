#include "tools/size/mixes.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/sweep/grid.hpp"

namespace berth {
namespace {

constexpr std::size_t kMostMixes = 100'000;
constexpr int kMostInAll = 1'000'000'000;
constexpr long long kMostGpus = 10'000'000;  // of a type, as --cluster takes them

TypeRange ParseType(const std::string& text) {
  const std::size_t equals = text.find('=');
  TypeRange type;
  type.name = Trim(text.substr(0, equals));
  if (equals == std::string::npos || type.name.empty())
    throw Error(Join("expected TYPE=FIRST..LAST@PRICE, found '", text, "'"));
  std::string counts = text.substr(equals + 1);
  const std::size_t at = counts.find('@');
  type.priced = at != std::string::npos;
  if (type.priced) {
    type.price = ParseNumber(Trim(counts.substr(at + 1)), Join(type.name, ": price"));
    if (!(type.price > 0.0))
      throw Error(Join(type.name, ": expected a price above 0, found ", counts.substr(at + 1)));
    counts = counts.substr(0, at);
  }
  const std::size_t slash = counts.find('/');
  if (slash != std::string::npos) {
    const long long per_node = ParseInteger(Trim(counts.substr(slash + 1)), Join(type.name, ": GPUs a node"));
    if (per_node < 1 || per_node > kMostGpus)
      throw Error(Join(type.name, ": GPUs a node: expected 1 to ", kMostGpus, ", found ", per_node));
    type.per_node = static_cast<int>(per_node);
    counts = counts.substr(0, slash);
  }
  for (const std::string& text_of_count : Counts(Trim(counts), type.name)) {
    const long long count = ParseInteger(text_of_count, type.name);
    if (count < 0 || count > kMostGpus)
      throw Error(Join(type.name, ": expected 0 to ", kMostGpus, " GPUs, found ", count));
    type.counts.push_back(static_cast<int>(count));
  }
  return type;
}

enum class State : std::uint8_t { kUnknown, kMeets, kTooFew, kFails, kRuledOut };

bool NoMoreOfAny(const Mix& a, const Mix& b) {
  return std::equal(a.counts.begin(), a.counts.end(), b.counts.begin(),
                    [](int mine, int its) { return mine <= its; });
}

class Search {
 public:
  Search(const std::vector<Mix>& mixes, const std::function<Fit(std::size_t)>& fit)
      : mixes_(mixes), fit_(fit), states_(mixes.size(), State::kUnknown) {
    for (std::size_t type = 0; type < mixes[0].counts.size(); ++type) {
      std::vector<int> counts;
      for (const Mix& mix : mixes) counts.push_back(mix.counts[type]);
      std::sort(counts.begin(), counts.end());
      counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
      steps_.push_back(std::move(counts));
    }
  }

  Cheapest Run() {
    Cheapest found;
    Ask(Largest(mixes_));
    std::size_t best = Bisect(0, mixes_.size());
    if (best == mixes_.size()) return found;
    for (std::size_t better = best;; best = better) {
      for (std::size_t i = 0; i < best && better == best; ++i) {
        if (states_[i] == State::kRuledOut && Near(i, best) && Ask(i)) better = i;
      }
      if (better == best) break;
      found.monotone = false;
      better = Bisect(0, better);
    }
    for (std::size_t i = best + 1; i < mixes_.size(); ++i) {
      if (!OneStepUp(best, i)) continue;
      const bool ruled_out = states_[i] == State::kRuledOut;
      if (Ask(i) ? ruled_out : states_[i] == State::kTooFew) found.monotone = false;
    }
    found.best = best;
    const std::size_t next = Bisect(best + 1, mixes_.size());
    if (next < mixes_.size()) found.runner_up = next;
    return found;
  }

 private:
  bool Ask(std::size_t mix) {
    State& state = states_[mix];
    if (state != State::kUnknown && state != State::kRuledOut) return state == State::kMeets;
    const Fit fit = fit_(mix);
    state = fit.meets ? State::kMeets : fit.too_few ? State::kTooFew : State::kFails;
    if (fit.meets) return true;
    for (std::size_t i = 0; i < mixes_.size(); ++i) {
      if (states_[i] == State::kUnknown && ((fit.too_few && NoMoreOfAny(mixes_[i], mixes_[mix])) ||
                                            (fit.too_many && NoMoreOfAny(mixes_[mix], mixes_[i]))))
        states_[i] = State::kRuledOut;
    }
    return false;
  }

  // The first from `begin` on that meets, by halves of those that are not ruled out; `end` where none before
  // it does.
  std::size_t Bisect(std::size_t begin, std::size_t end) {
    for (;;) {
      std::vector<std::size_t> open;
      for (std::size_t i = begin; i < end; ++i) {
        if (states_[i] == State::kMeets) end = i;
        if (states_[i] == State::kUnknown) open.push_back(i);
      }
      if (open.empty()) return end;
      const std::size_t middle = open[open.size() / 2];
      if (Ask(middle)) end = middle;
    }
  }

  // How many steps apart in each type.
  std::vector<int> Steps(std::size_t from, std::size_t to) const {
    std::vector<int> steps;
    for (std::size_t type = 0; type < steps_.size(); ++type) {
      const auto at = [&](std::size_t mix) {
        return std::lower_bound(steps_[type].begin(), steps_[type].end(), mixes_[mix].counts[type]) -
               steps_[type].begin();
      };
      steps.push_back(static_cast<int>(at(to) - at(from)));
    }
    return steps;
  }

  // One step in any types, or two in one.
  bool Near(std::size_t a, std::size_t b) const {
    const std::vector<int> steps = Steps(a, b);
    const auto most = [](int step) { return std::abs(step) <= 1; };
    const auto moved = std::count_if(steps.begin(), steps.end(), [](int step) { return step != 0; });
    return std::all_of(steps.begin(), steps.end(), most) ||
           (moved == 1 &&
            std::all_of(steps.begin(), steps.end(), [](int step) { return std::abs(step) <= 2; }));
  }

  bool OneStepUp(std::size_t from, std::size_t to) const {
    const std::vector<int> steps = Steps(from, to);
    return std::count(steps.begin(), steps.end(), 1) == 1 &&
           std::count(steps.begin(), steps.end(), 0) == std::ssize(steps) - 1;
  }

  const std::vector<Mix>& mixes_;
  const std::function<Fit(std::size_t)>& fit_;
  std::vector<State> states_;
  std::vector<std::vector<int>> steps_;  // [types] the counts that there are
};

}  // namespace

std::vector<TypeRange> ParseTypes(const std::string& text) {
  std::vector<TypeRange> types;
  bool all_priced = true;
  for (const std::string& part : SplitOutsideParentheses(text, ',')) {
    types.push_back(ParseType(part));
    all_priced = all_priced && types.back().priced;
  }
  if (types.empty()) throw Error(Join("expected TYPE=FIRST..LAST@PRICE, found '", text, "'"));
  if (types.size() > 1 && !all_priced)
    throw Error(
        Join("expected a price of each type, as TYPE=FIRST..LAST@PRICE, since mixes are compared by it, "
             "found '",
             text, "'"));
  return types;
}

std::vector<Mix> AllMixes(const std::vector<TypeRange>& types) {
  std::vector<Mix> mixes(1);
  for (const TypeRange& type : types) {
    std::vector<Mix> longer;
    if (mixes.size() * type.counts.size() > kMostMixes)
      throw Error(Join("expected at most ", kMostMixes, " mixes, found more"));
    for (const Mix& mix : mixes) {
      for (const int count : type.counts) {
        Mix& one = longer.emplace_back(mix);
        one.counts.push_back(count);
        one.price += type.price * count;
        if (one.gpus > kMostInAll - count)
          throw Error(Join("expected at most ", kMostInAll, " GPUs of all types, found more"));
        one.gpus += count;
      }
    }
    mixes = std::move(longer);
  }
  std::erase_if(mixes, [](const Mix& mix) { return mix.gpus == 0; });
  if (mixes.empty()) throw Error("expected a type with a GPU, found none");
  std::stable_sort(mixes.begin(), mixes.end(), [](const Mix& a, const Mix& b) {
    return a.price < b.price || (a.price == b.price && a.gpus < b.gpus);
  });
  return mixes;
}

std::size_t Largest(const std::vector<Mix>& mixes) {
  const auto fewer = [](const Mix& a, const Mix& b) { return a.gpus < b.gpus; };
  return static_cast<std::size_t>(std::max_element(mixes.begin(), mixes.end(), fewer) - mixes.begin());
}

std::string MixText(const std::vector<TypeRange>& types, const Mix& mix) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (mix.counts[i] == 0) continue;
    text += Join(text.empty() ? "" : ",", types[i].name, "=", mix.counts[i]);
    if (types[i].per_node > 1) text += Join("/", types[i].per_node);
  }
  return text;
}

Cheapest FindCheapest(const std::vector<Mix>& mixes, const std::function<Fit(std::size_t mix)>& fit) {
  BERTH_CHECK(!mixes.empty(), "no mixes");
  return Search(mixes, fit).Run();
}

}  // namespace berth

#include "agents/ranks/meeting.hpp"

#include <c10/util/Logging.h>
#include <netdb.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <sstream>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

namespace berth {
namespace {

using WallClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kLongestPeriod = 1.0, kShortestPeriod = 0.1;  // s, between signs of life
constexpr double kSilentPeriods = 4.0;                         // without one a rank is lost
constexpr double kAnswer = 3.0;                                // s that the store has for an answer
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);  // for whom is awaited

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// c10d would tell of every failed attempt with a stack; what is wrong is in our errors. Whoever sets
// TORCH_CPP_LOG_LEVEL sees it.
void QuietLogs() {
  if (std::getenv("TORCH_CPP_LOG_LEVEL") != nullptr) {
    c10::initLogging();
  } else {
    FLAGS_caffe2_log_level = c10::GLOG_FATAL;
  }
}

// "rank 1", "ranks 1 and 3", "ranks 1, 2 and 5"
std::string Named(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    text += Join(k == 0 ? "" : k + 1 == ranks.size() ? " and " : ", ", ranks[k]);
  }
  return text;
}

// Asked only when nobody was found: where pods start in any order a name may resolve late.
bool Resolves(const std::string& address) {
  addrinfo* found = nullptr;
  const bool resolves = getaddrinfo(address.c_str(), nullptr, nullptr, &found) == 0;
  if (resolves) freeaddrinfo(found);
  return resolves;
}

WallClock::time_point After(double seconds) {
  return WallClock::now() + std::chrono::duration_cast<WallClock::duration>(Seconds(seconds));
}

// A line a setting, which holds no line breaks of its own.
std::string Written(const SharedSettings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) {
    std::string line = name + "\t" + value;
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += line + "\n";
  }
  return text;
}

// The first line in which `found` is not `expected`, as a message; "" where there is none.
std::string Difference(const std::string& expected, const std::string& found) {
  std::istringstream a(expected), b(found);
  std::string line, other;
  while (true) {
    const bool more = static_cast<bool>(std::getline(a, line)),
               others = static_cast<bool>(std::getline(b, other));
    if (!more && !others) return "";
    if (!more) line.clear();
    if (!others) other.clear();
    if (line == other) continue;
    const std::string name = line.substr(0, line.find('\t')), its = other.substr(0, other.find('\t'));
    if (name != its) return Join("another version of berth: expected its setting ", name, ", found ", its);
    return Join(name, ": expected ", line.substr(name.size() + 1), " as on rank 0, found ",
                other.substr(name.size() + 1));
  }
}

}  // namespace

template <class F>
bool Meeting::InTime(double seconds, F ask) const {
  auto answered = std::make_shared<std::promise<bool>>();
  std::future<bool> answer = answered->get_future();
  std::thread([answered, ask = std::move(ask)] {
    try {
      ask();
      answered->set_value(true);
    } catch (const std::exception&) {  // the store is gone
      answered->set_value(false);
    }
  }).detach();
  return answer.wait_for(Seconds(seconds)) == std::future_status::ready && answer.get();
}

Meeting::Meeting(const World& world, double timeout_s, const SharedSettings& settings)
    : world_(world),
      timeout_s_(timeout_s),
      period_s_(std::clamp(timeout_s / 8.0, kShortestPeriod, kLongestPeriod)),
      place_(Join(world.address, ":", world.port)) {
  const char* restart = std::getenv("TORCHELASTIC_RESTART_COUNT");
  prefix_ = Join("berth/", restart != nullptr ? restart : "0", "/");
  Connect();
  if (store_->add(Key("taken", world_.rank), 1) > 1) {
    throw Error(Join(world_.rank_variable, ": expected a number of its own for every process, found that ",
                     world_.rank, " was taken by another at ", place_));
  }
  try {
    Compare(settings);
  } catch (...) {
    Leave("told");
    throw;
  }
  StartPulse();
}

Meeting::~Meeting() {
  const std::lock_guard lock(watch_->mutex);
  watch_->stop = true;
  watch_->changed.notify_all();
}

void Meeting::Connect() {
  QuietLogs();
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(world_.port);
  options.isServer = keeps_store();
  options.waitWorkers = false;  // Compare waits, and says for whom
  options.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(Seconds(timeout_s_));
  try {
    store_ = c10::make_intrusive<c10d::TCPStore>(world_.address, options);
  } catch (const std::exception& error) {
    if (keeps_store() && std::string(error.what()).find("client socket") != std::string::npos) {
      throw Error(Join("MASTER_ADDR: expected a name of rank 0's machine, found that rank 0 does not reach ",
                       "itself at ", place_, ": ",
                       Resolves(world_.address) ? FirstLine(error.what()) : "the name does not resolve"));
    }
    if (keeps_store()) {
      throw Error(Join("MASTER_PORT: expected a free port for rank 0 to listen at, found that ", world_.port,
                       " cannot be had: ", FirstLine(error.what())));
    }
    throw Error(
        Join("MASTER_ADDR, MASTER_PORT: expected ", world_.agent_store ? "torchrun" : "rank 0",
             " to listen at ", place_, " within ", timeout_s_, " s (--dist-timeout), found ",
             Resolves(world_.address) ? "nobody" : Join("that ", world_.address, " does not resolve")));
  }
}

void Meeting::Compare(const SharedSettings& settings) {
  SharedSettings all = {{world_.size_variable, std::to_string(world_.size)}};
  all.insert(all.end(), settings.begin(), settings.end());
  const WallClock::time_point until = After(timeout_s_);
  store_->set(Key("settings", world_.rank), Written(all));
  std::string expected;
  std::vector<int> missing;
  for (int rank = 0; rank < world_.size; ++rank) {
    while (!store_->check({Key("settings", rank)}) && WallClock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!store_->check({Key("settings", rank)})) {
      missing.push_back(rank);
      continue;
    }
    const std::string theirs = store_->get_to_str(Key("settings", rank));
    if (rank == 0) expected = theirs;
    if (const std::string difference = Difference(expected, theirs); !difference.empty())
      throw Error(Join("rank ", rank, ": ", difference));
  }
  if (missing.empty()) return;
  throw Error(Join("expected ", world_.size, " ranks (", world_.size_variable, ") at ", place_, " within ",
                   timeout_s_, " s (--dist-timeout), found that ", Named(missing),
                   missing.size() == 1 ? " has" : " have", " not come"));
}

void Meeting::StartPulse() {
  // A connection of its own: the other may be waiting for an answer.
  const c10::intrusive_ptr<c10d::Store> store = store_->clone();
  std::thread([store, watch = watch_, key = Key("pulse", world_.rank), period = Seconds(period_s_)] {
    std::unique_lock lock(watch->mutex);
    for (std::int64_t beat = 0; !watch->stop; ++beat) {
      const std::string pulse = Join(beat, " ", watch->operation.load(std::memory_order_relaxed));
      lock.unlock();
      try {
        store->set(key, pulse);
      } catch (const std::exception&) {  // who waits for this rank will notice; the next call says why
        return;
      }
      lock.lock();
      watch->changed.wait_for(lock, period);
    }
  }).detach();
}

void Meeting::AwaitFirst() {
  const std::string key = Key("first", awaited_++);
  const auto ask = [&](auto question) {
    if (!InTime(timeout_s_, std::move(question))) throw Error("the meeting point does not answer");
  };
  if (world_.rank == 0) return ask([store = store_, key] { store->set(key, std::string("1")); });
  struct Seen {
    bool came = false, ended = false;
    std::string pulse;
  };
  const double patience_s = std::max(timeout_s_, kSilentPeriods * period_s_);
  std::string pulse;
  for (WallClock::time_point silent = After(patience_s); WallClock::now() < silent;) {
    const auto seen = std::make_shared<Seen>();
    ask([seen, store = store_, key, ended = Key("ended", 0), beats = Key("pulse", 0)] {
      seen->came = store->check({key});
      seen->ended = store->check({ended});
      if (store->check({beats})) seen->pulse = store->get_to_str(beats);
    });
    if (seen->came) return;
    if (seen->ended) break;
    if (seen->pulse != pulse) silent = After(patience_s);
    pulse = seen->pulse;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  throw Error("rank 0 does not come");
}

std::string Meeting::WhoIsMissing(const std::string& what) {
  struct Findings {
    std::mutex mutex;
    std::string verdict;
  };
  const auto findings = std::make_shared<Findings>();
  const double silence_s = kSilentPeriods * period_s_;
  const bool answered =
      InTime(silence_s + 2.0 * kAnswer, [findings, what, silence_s, store = store_, world = world_,
                                         watch = watch_, prefix = prefix_, timeout = timeout_s_] {
        const auto key = [&](const char* name, int rank) { return Join(prefix, name, "/", rank); };
        const auto text = [&](const std::string& name) {
          return store->check({name}) ? store->get_to_str(name) : std::string();
        };
        const auto pulses = [&] {
          std::vector<Pulse> all(static_cast<std::size_t>(world.size));
          for (int rank = 0; rank < world.size; ++rank) {
            Pulse& pulse = all[static_cast<std::size_t>(rank)];
            std::istringstream(text(key("pulse", rank))) >> pulse.beat >> pulse.operation;
          }
          return all;
        };
        const auto conclude = [&](const std::string& verdict) {
          const std::lock_guard lock(findings->mutex);
          findings->verdict = verdict;
        };
        const std::string verdict_key = prefix + "verdict";
        const auto known = [&] {  // another rank's verdict, or the last words of a rank
          std::string verdict = text(verdict_key);
          for (int rank = 0; rank < world.size && verdict.empty(); ++rank) {
            const std::string words = rank == world.rank ? "" : text(key("ended", rank));
            if (!words.empty()) verdict = Join("rank ", rank, " ended: ", words);
          }
          return verdict;
        };
        std::string verdict = known();
        if (verdict.empty()) {
          const std::vector<Pulse> before = pulses();
          std::this_thread::sleep_for(Seconds(silence_s));
          const std::vector<Pulse> after = pulses();
          verdict = known();
          std::vector<int> silent, behind;
          const std::int64_t mine = watch->operation.load(std::memory_order_relaxed);
          for (int rank = 0; rank < world.size; ++rank) {
            if (rank == world.rank) continue;
            const auto r = static_cast<std::size_t>(rank);
            if (after[r].beat == before[r].beat) {
              silent.push_back(rank);
            } else if (after[r].operation < mine) {
              behind.push_back(rank);
            }
          }
          if (verdict.empty() && !silent.empty()) {
            verdict = Join(Named(silent), silent.size() == 1 ? " is" : " are", " lost: no sign of life");
          } else if (verdict.empty() && !behind.empty()) {
            verdict = Join(Named(behind), behind.size() == 1 ? " is" : " are",
                           " alive but did not come within ", timeout, " s (--dist-timeout)");
          } else if (verdict.empty()) {
            verdict = "the connection to the other ranks broke: " + FirstLine(what);
          }
          store->set(verdict_key, verdict);
        }
        conclude(verdict);
      });
  const std::lock_guard lock(findings->mutex);
  if (answered && !findings->verdict.empty()) return findings->verdict;
  answers_ = false;
  if (world_.agent_store)
    return Join("torchrun, which keeps the meeting point at ", place_, ", does not answer");
  return Join("rank 0 is lost: it kept the meeting point at ", place_, ", which does not answer");
}

void Meeting::Leave(const char* state) {
  if (!answers_) return;
  InTime(kAnswer, [store = store_, key = Key(state, world_.rank)] { store->set(key, std::string("1")); });
  if (!keeps_store()) return;
  const double silence_s = kSilentPeriods * period_s_;
  const WallClock::time_point until = After(kAnswer + silence_s);
  for (int rank = 1; rank < world_.size; ++rank) {
    if (!store_->check({Key("settings", rank)})) continue;  // it never came
    std::string pulse;
    WallClock::time_point silent = After(silence_s);
    while (WallClock::now() < std::min(until, silent) && !store_->check({Key(state, rank)})) {
      const std::string key = Key("pulse", rank);
      const std::string now = store_->check({key}) ? store_->get_to_str(key) : "";
      if (now != pulse) silent = After(silence_s);
      pulse = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

void Meeting::Abandon(const std::string& why) noexcept {
  try {
    InTime(kAnswer, [store = store_, key = Key("ended", world_.rank), words = FirstLine(why)] {
      store->set(key, words);
    });
    Leave("told");
  } catch (const std::exception&) {  // then the others say that this rank is lost
  }
}

}  // namespace berth

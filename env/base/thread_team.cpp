#include "env/base/thread_team.hpp"

#include <system_error>
#include <utility>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr std::uint64_t kCountMask = 0xffffffffULL;

// Looks at `pending` for some 20 us at most before the caller goes to sleep: sections follow one another
// within that, and waking a sleeper takes longer. Beside busy neighbours it is a small part of a time slice,
// which a barrier that spins for good would give up whole.
template <class Pending>
void SpinWhile(const Pending& pending) {
  static const bool alone = std::thread::hardware_concurrency() < 2;
  for (int look = 0; !alone && look < 1000 && pending(); ++look) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

}  // namespace

ThreadTeam::ThreadTeam(int size, const std::function<void()>& begin) {
  BERTH_CHECK(size >= 1, "a team of ", size);
  if (begin) begin();
  try {
    for (int thread = 1; thread < size; ++thread) {
      threads_.emplace_back([this, begin] {
        if (begin) begin();
        Loop();
      });
    }
  } catch (const std::system_error& error) {
    Stop();
    throw Error(
        Join("threads: expected a number that this machine can start, found ", size, ": ", error.what()));
  }
}

ThreadTeam::~ThreadTeam() {
  Stop();
}

void ThreadTeam::Stop() {
  stop_ = true;
  ++section_;
  section_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::Run(int parts, const std::function<void(int)>& work) {
  BERTH_CHECK(parts >= 0, parts, " parts");
  if (parts == 0) return;
  work_ = &work;
  errors_.assign(static_cast<std::size_t>(parts), nullptr);
  unfinished_ = parts;
  const std::uint32_t section = section_ + 1;
  untaken_ = static_cast<std::uint64_t>(section) << 32 | static_cast<std::uint64_t>(parts);
  section_ = section;
  if (parts > 1) section_.notify_all();
  TakeParts(section);
  if (unfinished_ != 0) SpinWhile([this] { return unfinished_ != 0; });
  for (int left = unfinished_; left != 0; left = unfinished_) unfinished_.wait(left);
  for (std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
}

void ThreadTeam::TakeParts(std::uint32_t section) {
  for (std::uint64_t seen = untaken_; seen >> 32 == section && (seen & kCountMask) != 0;) {
    if (!untaken_.compare_exchange_weak(seen, seen - 1)) continue;
    const auto part = static_cast<std::size_t>((seen & kCountMask) - 1);
    try {
      (*work_)(static_cast<int>(part));
    } catch (...) {
      errors_[part] = std::current_exception();
    }
    if (--unfinished_ == 0) unfinished_.notify_one();
    seen = untaken_;
  }
}

void ThreadTeam::Loop() {
  for (std::uint32_t seen = 0;;) {
    SpinWhile([&] { return section_ == seen; });
    section_.wait(seen);
    if (stop_) return;
    seen = section_;
    TakeParts(seen);
  }
}

}  // namespace berth

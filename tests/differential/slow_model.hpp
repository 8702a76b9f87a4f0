// A second simulator, made to be obvious rather than fast, which shares no code with env/: it looks at every
// job at every moment at which anything can happen, and keeps no queue. What it models, and what not:
// README.md. Times and steps are dyadic, so that both simulators compute exactly.
#pragma once

#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace berth::differential {

inline constexpr double kNotEver = std::numeric_limits<double>::infinity();

struct SlowJob {
  double arrival, steps;
  int gang, kind;              // two jobs of the same kind cannot share a GPU
  std::vector<double> speeds;  // [types] steps/s of the gang; 0 = cannot run
};

struct SlowOutage {
  double down, up;
  int device;
};

enum class SlowClock { kEvent, kRounds, kOneEvent };

struct SlowWorld {
  std::vector<std::string> names;     // [types]
  std::vector<int> counts, per_node;  // [types]
  std::vector<SlowJob> jobs;          // by arrival
  SlowClock clock = SlowClock::kEvent;
  double round_s = 1.0;
  double checkpoint_s = 0.0, restore_s = 0.0, migration_s = 0.0;
  bool nodes = false;    // a gang on more nodes than it needs runs half as fast
  bool elastic = false;  // on half to twice as many GPUs, at a speed in proportion
  double resize_s = 0.0;
  bool saves = false;  // in the place of checkpoint_s, restore_s and migration_s
  double save_s = 0.0, load_s = 0.0, cold_s = 0.0, every_s = kNotEver;
  std::vector<SlowOutage> outages;
};

enum class SlowOrder { kStart, kStop, kMove, kReject, kPack };
struct SlowCommand {
  SlowOrder what;
  int job, type, host, width;  // width 0 = the gang
  std::vector<int> devices;    // empty = the lowest that are free
};

enum class SlowPhase { kToCome, kWaits, kRuns, kEnded, kTurnedAway };

// (time, what, type, job, device)
using SlowEvent = std::tuple<double, std::string, int, int, int>;

class SlowModel {
 public:
  explicit SlowModel(SlowWorld world);
  bool Advance(double wake);  // to the next decision; false once no job is left
  bool Legal(const std::vector<SlowCommand>& commands) const;
  void Carry(const std::vector<SlowCommand>& commands);  // REQUIRES: Legal

  double now() const { return now_; }
  SlowPhase phase(int job) const { return at(job).phase; }
  const std::vector<int>& devices(int job) const { return at(job).devices; }
  double StepsBy(int job) const;  // done by now
  double Speed(int job) const;    // steps/s where it now stands, at its present rate
  int Free(int type) const;
  const std::vector<SlowEvent>& events() const { return events_; }

 private:
  struct State {
    SlowPhase phase = SlowPhase::kToCome;
    int type = -1, last_type = -1, beside = -1;
    std::vector<int> devices;  // held, until the round's end where it has ended
    double done = 0.0, safe = 0.0, from = 0.0, speed = 0.0;
    double save_at = kNotEver, saved_at = kNotEver;
    int order = 0;  // of its start
  };
  const State& at(int job) const { return jobs_[static_cast<std::size_t>(job)]; }
  State& at(int job) { return jobs_[static_cast<std::size_t>(job)]; }
  const SlowJob& face(int job) const { return world_.jobs[static_cast<std::size_t>(job)]; }
  int Count() const { return static_cast<int>(jobs_.size()); }
  int TypeOf(int device) const;
  int NodeOf(int device) const;
  int First(int type) const;
  bool Out(int device) const { return out_[static_cast<std::size_t>(device)] > 0; }
  double SpeedAt(int job, int type, int width) const;  // alone and together in as few nodes as can be
  double PairSpeed(int job, int other, int type) const;
  double EndOf(int job) const;
  double NextArrival() const;
  double NextService() const;  // of an outage: down or up
  bool AnyRuns() const;
  bool AnyLeft() const;
  void Log(const char* what, int type, int job, int device) {
    events_.push_back({now_, what, type, job, device});
  }
  void Keep(int job);     // the steps done by now
  void Respeed(int job);  // after Keep
  void LeaveDevices(int job);
  void End(int job, bool frees);
  void Arrive();
  bool Moment(bool frees);  // all that happens now; is a decision due?
  void Begin(int job, int type, const std::vector<int>& devices, bool ran, int width_before, int type_before);
  bool AdvanceEvents(double wake);
  bool AdvanceOneEvent(double wake);
  bool AdvanceRounds(double wake);

  SlowWorld world_;
  std::vector<State> jobs_;
  std::vector<int> out_;  // [devices] outages under way
  double now_ = 0.0;
  long round_ = -1;
  int starts_ = 0;
  std::vector<SlowEvent> events_;
};

}  // namespace berth::differential

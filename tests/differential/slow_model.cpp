#include "tests/differential/slow_model.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace berth::differential {

SlowModel::SlowModel(SlowWorld world) : world_(std::move(world)), jobs_(world_.jobs.size()) {
  int devices = 0;
  for (int count : world_.counts) devices += count;
  out_.assign(static_cast<std::size_t>(devices), 0);
}

int SlowModel::First(int type) const {
  int first = 0;
  for (int t = 0; t < type; ++t) first += world_.counts[static_cast<std::size_t>(t)];
  return first;
}

int SlowModel::TypeOf(int device) const {
  int type = 0;
  while (First(type + 1) <= device) ++type;
  return type;
}

int SlowModel::NodeOf(int device) const {
  const int type = TypeOf(device);
  return 1000 * type + (device - First(type)) / world_.per_node[static_cast<std::size_t>(type)];
}

double SlowModel::SpeedAt(int job, int type, int width) const {
  const SlowJob& it = face(job);
  const bool may = width == it.gang || (world_.elastic && 2 * width >= it.gang && width <= 2 * it.gang);
  if (!may || width > world_.counts[static_cast<std::size_t>(type)]) return 0.0;
  return it.speeds[static_cast<std::size_t>(type)] * width / it.gang;
}

double SlowModel::PairSpeed(int job, int other, int type) const {
  const double own = SpeedAt(job, type, face(job).gang), its = SpeedAt(other, type, face(other).gang);
  return face(job).kind == face(other).kind || own <= 0.0 || its <= 0.0 ? 0.0 : own / 2;
}

double SlowModel::Speed(int job) const {
  const State& s = at(job);
  if (s.beside >= 0) return PairSpeed(job, s.beside, s.type);
  const int width = static_cast<int>(s.devices.size());
  const double alone = SpeedAt(job, s.type, width);
  std::set<int> nodes;
  for (int device : s.devices) nodes.insert(NodeOf(device));
  const int size = world_.per_node[static_cast<std::size_t>(s.type)], fewest = (width + size - 1) / size;
  return world_.nodes && static_cast<int>(nodes.size()) > fewest ? alone / 2 : alone;
}

double SlowModel::StepsBy(int job) const {
  const State& s = at(job);
  return s.phase == SlowPhase::kRuns && now_ > s.from ? s.done + s.speed * (now_ - s.from) : s.done;
}

void SlowModel::Keep(int job) {
  const double done = StepsBy(job);
  if (at(job).phase == SlowPhase::kRuns && now_ > at(job).from) at(job).from = now_;
  at(job).done = done;
}

void SlowModel::Respeed(int job) {
  Keep(job);
  at(job).speed = Speed(job);
}

double SlowModel::EndOf(int job) const {
  const State& s = at(job);
  if (s.phase != SlowPhase::kRuns) return kNotEver;
  return s.from + (face(job).steps - s.done) / s.speed;
}

int SlowModel::Free(int type) const {
  int free = 0;
  for (int device = First(type); device < First(type + 1); ++device) {
    bool held = Out(device);
    for (const State& s : jobs_) held = held || std::count(s.devices.begin(), s.devices.end(), device) > 0;
    free += !held;
  }
  return free;
}

double SlowModel::NextArrival() const {
  double next = kNotEver;
  for (int job = 0; job < Count(); ++job) {
    if (at(job).phase == SlowPhase::kToCome) next = std::min(next, face(job).arrival);
  }
  return next;
}

double SlowModel::NextService() const {
  double next = kNotEver;
  for (const SlowOutage& outage : world_.outages) {
    if (outage.down > now_) next = std::min(next, outage.down);
    if (outage.up > now_) next = std::min(next, outage.up);
  }
  return next;
}

bool SlowModel::AnyRuns() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const State& s) { return s.phase == SlowPhase::kRuns; });
}

bool SlowModel::AnyLeft() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const State& s) {
    return s.phase != SlowPhase::kEnded && s.phase != SlowPhase::kTurnedAway;
  });
}

// Whoever is beside it has the GPU alone from now on.
void SlowModel::LeaveDevices(int job) {
  State& s = at(job);
  const int beside = s.beside;
  s.devices.clear();
  s.type = s.beside = -1;
  if (beside < 0) return;
  at(beside).beside = -1;
  if (at(beside).phase == SlowPhase::kRuns) Respeed(beside);
}

void SlowModel::End(int job, bool frees) {
  State& s = at(job);
  Log("complete", s.type, job, s.devices.front());
  s.done = face(job).steps;
  s.phase = SlowPhase::kEnded;
  if (frees) LeaveDevices(job);
}

void SlowModel::Arrive() {
  for (int job = 0; job < Count(); ++job) {
    if (at(job).phase != SlowPhase::kToCome || face(job).arrival > now_) continue;
    at(job).phase = SlowPhase::kWaits;
    Log("arrive", -1, job, -1);
  }
}

bool SlowModel::Moment(bool frees) {
  bool due = false;
  std::vector<int> ends;  // who ends at this instant does, whatever the others' ends do to its speed
  for (int job = 0; job < Count(); ++job) {
    if (EndOf(job) <= now_) ends.push_back(job);
  }
  for (int job : ends) End(job, frees), due = true;
  due = due || NextArrival() <= now_;
  Arrive();
  for (const SlowOutage& outage : world_.outages) {
    const auto device = static_cast<std::size_t>(outage.device);
    if (outage.up == now_ && --out_[device] == 0) Log("up", TypeOf(outage.device), -1, outage.device);
    due = due || outage.up == now_;
  }
  for (const SlowOutage& outage : world_.outages) {
    if (outage.down != now_) continue;
    due = true;
    if (++out_[static_cast<std::size_t>(outage.device)] == 1)
      Log("down", TypeOf(outage.device), -1, outage.device);
    for (int job = 0; job < Count(); ++job) {
      State& s = at(job);
      if (s.phase != SlowPhase::kRuns || std::count(s.devices.begin(), s.devices.end(), outage.device) == 0)
        continue;
      Log("interrupt", s.type, job, s.devices.front());
      s.done = std::min(StepsBy(job), s.safe);
      s.phase = SlowPhase::kWaits;
      LeaveDevices(job);
    }
  }
  for (int job = 0; job < Count(); ++job) {
    State& s = at(job);
    if (s.phase != SlowPhase::kRuns) continue;
    if (s.save_at == now_) {
      Keep(job);
      s.saved_at = s.from = now_ + world_.save_s;
      s.save_at = kNotEver;
    } else if (s.saved_at == now_) {
      s.safe = s.done;
      s.saved_at = kNotEver;
      s.save_at = now_ + world_.every_s;
    }
  }
  return due;
}

bool SlowModel::AdvanceEvents(double wake) {
  for (bool due = false; !due;) {
    double next = std::min({wake > now_ ? wake : kNotEver, NextArrival(), NextService()});
    for (int job = 0; job < Count(); ++job) {
      next = std::min(next, EndOf(job));
      if (at(job).phase == SlowPhase::kRuns) next = std::min({next, at(job).save_at, at(job).saved_at});
    }
    if (next == kNotEver) return false;
    now_ = std::max(now_, next);
    due = Moment(/*frees=*/true) || wake == now_;
  }
  return AnyLeft();
}

// Arrivals before completions, these in the order of their starts.
bool SlowModel::AdvanceOneEvent(double wake) {
  int first = -1;
  for (int job = 0; job < Count(); ++job) {
    if (EndOf(job) == kNotEver) continue;
    if (first < 0 || EndOf(job) < EndOf(first) ||
        (EndOf(job) == EndOf(first) && at(job).order < at(first).order))
      first = job;
  }
  const double end = first < 0 ? kNotEver : EndOf(first), arrival = NextArrival();
  const double next = std::min({wake > now_ ? wake : kNotEver, arrival, end});
  if (next == kNotEver) return false;
  now_ = std::max(now_, next);
  if (arrival <= next) {
    for (int job = 0; job < Count(); ++job) {
      if (at(job).phase != SlowPhase::kToCome) continue;
      at(job).phase = SlowPhase::kWaits;
      Log("arrive", -1, job, -1);
      break;
    }
  } else if (end <= next) {
    End(first, /*frees=*/true);
  }
  return AnyLeft();
}

bool SlowModel::AdvanceRounds(double wake) {
  if (AnyRuns()) {
    ++round_;
  } else {
    bool waits = false;
    for (const State& s : jobs_) waits = waits || s.phase == SlowPhase::kWaits;
    const double next =
        std::min({wake > now_ ? wake : kNotEver, NextArrival(), waits ? NextService() : kNotEver});
    if (next == kNotEver) return false;
    do {
      ++round_;
    } while (static_cast<double>(round_) * world_.round_s < next);
  }
  const double boundary = static_cast<double>(round_) * world_.round_s;
  for (bool over = false; !over;) {
    double next = std::min({boundary, NextArrival(), NextService()});
    for (int job = 0; job < Count(); ++job) {
      next = std::min(next, EndOf(job));
      if (at(job).phase == SlowPhase::kRuns) next = std::min({next, at(job).save_at, at(job).saved_at});
    }
    over = next == boundary;
    now_ = next;
    Moment(/*frees=*/false);
  }
  for (int job = 0; job < Count(); ++job) {
    if (at(job).phase == SlowPhase::kEnded && !at(job).devices.empty()) LeaveDevices(job);
  }
  return AnyLeft();
}

bool SlowModel::Advance(double wake) {
  if (!AnyLeft()) return false;
  if (world_.clock == SlowClock::kEvent) return AdvanceEvents(wake);
  return world_.clock == SlowClock::kRounds ? AdvanceRounds(wake) : AdvanceOneEvent(wake);
}

bool SlowModel::Legal(const std::vector<SlowCommand>& commands) const {
  std::vector<const SlowCommand*> of(jobs_.size(), nullptr);
  for (const SlowCommand& c : commands) {
    if (c.job < 0 || c.job >= Count() || of[static_cast<std::size_t>(c.job)] != nullptr) return false;
    of[static_cast<std::size_t>(c.job)] = &c;
    const SlowPhase phase = at(c.job).phase;
    if (phase == SlowPhase::kRuns
            ? c.what == SlowOrder::kStart || c.what == SlowOrder::kReject
            : phase != SlowPhase::kWaits || c.what == SlowOrder::kStop || c.what == SlowOrder::kMove)
      return false;
  }
  // Who holds what once all that frees has been carried out.
  std::vector<bool> taken(out_.size());
  for (std::size_t device = 0; device < out_.size(); ++device) taken[device] = out_[device] > 0;
  for (int job = 0; job < Count(); ++job) {
    if (of[static_cast<std::size_t>(job)] != nullptr) continue;
    for (int device : at(job).devices) taken[static_cast<std::size_t>(device)] = true;
  }
  std::vector<int> room;
  for (std::size_t type = 0; type < world_.counts.size(); ++type) {
    const int first = First(static_cast<int>(type));
    room.push_back(static_cast<int>(
        std::count(taken.begin() + first, taken.begin() + first + world_.counts[type], false)));
  }
  for (const SlowCommand& c : commands) {
    if (c.what != SlowOrder::kStart && c.what != SlowOrder::kMove) continue;
    const int width = c.width > 0 ? c.width : face(c.job).gang;
    if (SpeedAt(c.job, c.type, width) <= 0.0) return false;
    if ((room[static_cast<std::size_t>(c.type)] -= width) < 0) return false;
    if (!c.devices.empty() && static_cast<int>(c.devices.size()) != width) return false;
    for (int device : c.devices) {
      if (TypeOf(device) != c.type || taken[static_cast<std::size_t>(device)]) return false;
      taken[static_cast<std::size_t>(device)] = true;
    }
  }
  std::set<int> hosts;
  for (const SlowCommand& c : commands) {
    if (c.what != SlowOrder::kPack) continue;
    if (c.host < 0 || c.host >= Count() || c.host == c.job || !hosts.insert(c.host).second) return false;
    const SlowCommand* own = of[static_cast<std::size_t>(c.host)];
    int type = at(c.host).type, width = static_cast<int>(at(c.host).devices.size());
    if (own != nullptr) {
      if (own->what != SlowOrder::kStart && own->what != SlowOrder::kMove) return false;
      type = own->type, width = own->width > 0 ? own->width : face(c.host).gang;
    } else {
      if (at(c.host).phase != SlowPhase::kRuns) return false;
      const int beside = at(c.host).beside;
      if (beside >= 0 && of[static_cast<std::size_t>(beside)] == nullptr) return false;
    }
    if (face(c.job).gang != 1 || face(c.host).gang != 1 || width != 1) return false;
    if (PairSpeed(c.job, c.host, type) <= 0.0) return false;
  }
  return true;
}

void SlowModel::Begin(int job, int type, const std::vector<int>& devices, bool ran, int width_before,
                      int type_before) {
  State& s = at(job);
  const bool resizes =
      world_.elastic && ran && type_before == type && width_before != static_cast<int>(devices.size());
  const bool saving = s.saved_at != kNotEver;
  double cost = 0.0;
  if (resizes) {
    cost = world_.resize_s;
  } else if (world_.saves) {
    cost = world_.cold_s + (s.done > s.safe ? world_.save_s : 0.0) + (s.done > 0.0 ? world_.load_s : 0.0);
  } else if (s.last_type >= 0) {
    cost = world_.checkpoint_s + world_.restore_s + (ran || s.last_type != type ? world_.migration_s : 0.0);
  }
  // Of progress until the next save, which a resize leaves as it is; one that it breaks off begins anew.
  const double left = saving    ? 0.0
                      : resizes ? std::max(0.0, s.save_at - std::max(now_, s.from))
                                : world_.every_s;
  s.from = (resizes && !saving ? std::max(now_, s.from) : now_) + cost;
  if (!resizes) s.safe = s.done;
  s.save_at = world_.saves ? s.from + (resizes ? left : world_.every_s) : kNotEver;
  s.saved_at = kNotEver;
  s.phase = SlowPhase::kRuns;
  s.type = s.last_type = type;
  s.devices = devices;
  s.speed = Speed(job);
  s.order = ++starts_;
}

void SlowModel::Carry(const std::vector<SlowCommand>& commands) {
  struct Before {
    bool ran;
    int width, type;
  };
  std::vector<Before> before;
  for (const State& s : jobs_)
    before.push_back({s.phase == SlowPhase::kRuns, static_cast<int>(s.devices.size()), s.type});
  for (const SlowCommand& c : commands) {
    State& s = at(c.job);
    if (c.what == SlowOrder::kReject) {
      s.phase = SlowPhase::kTurnedAway;
      Log("reject", -1, c.job, -1);
    }
    if (s.phase != SlowPhase::kRuns) continue;
    s.done = StepsBy(c.job);
    if (c.what == SlowOrder::kStop) Log("stop", s.type, c.job, s.devices.front());
    s.phase = SlowPhase::kWaits;
    LeaveDevices(c.job);
  }
  for (const bool named : {true, false}) {
    for (const SlowCommand& c : commands) {
      if ((c.what != SlowOrder::kStart && c.what != SlowOrder::kMove) || c.devices.empty() == named) continue;
      std::vector<int> devices = c.devices;
      const int width = c.width > 0 ? c.width : face(c.job).gang;
      for (int device = First(c.type); static_cast<int>(devices.size()) < width; ++device) {
        bool held = Out(device);
        for (const State& s : jobs_)
          held = held || std::count(s.devices.begin(), s.devices.end(), device) > 0;
        if (!held) devices.push_back(device);
      }
      const Before& was = before[static_cast<std::size_t>(c.job)];
      Begin(c.job, c.type, devices, was.ran, was.width, was.type);
      Log(c.what == SlowOrder::kMove ? "move" : "start", c.type, c.job, devices.front());
    }
  }
  for (const SlowCommand& c : commands) {
    if (c.what != SlowOrder::kPack) continue;
    const std::vector<int> devices = at(c.host).devices;
    const int type = at(c.host).type;
    const Before& was = before[static_cast<std::size_t>(c.job)];
    Begin(c.job, type, devices, was.ran, was.width, was.type);
    at(c.job).beside = c.host, at(c.host).beside = c.job;
    Respeed(c.job), Respeed(c.host);
    Log("pack", type, c.job, devices.front());
  }
}

}  // namespace berth::differential

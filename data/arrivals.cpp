#include "data/arrivals.hpp"

#include <cmath>
#include <vector>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kMmppParams[] = {
    {"burst", "10", "rate in bursts over the rate between them, at least 1"},
    {"share", "0.1", "share of time in bursts, between 0 and 1"},
    {"burst_s", "3600", "mean length of a burst, s"},
};
constexpr ParamInfo kDiurnalParams[] = {
    {"swing", "0.8", "amplitude of the rate over its mean, 0 to 1"},
    {"period_h", "24", "hours from crest to crest"},
};

// sin(2 pi x) with the same bits on every C library: folded to a quarter turn, Taylor up to y^21 (the next
// term is below 2e-18 there).
double SinOfTurns(double x) {
  x -= std::floor(x + 0.5);
  if (x > 0.25) x = 0.5 - x;
  if (x < -0.25) x = -0.5 - x;
  const double y = 6.28318530717958647692 * x;
  double sum = 1.0;
  for (int k = 10; k >= 1; --k) sum = 1.0 - sum * y * y / ((2.0 * k) * (2.0 * k + 1.0));
  return y * sum;
}

constexpr double kShareMargin = 1e-9;  // a share of 0 or 1 would be a Poisson process

}  // namespace

ArrivalModel ArrivalModel::Parse(const std::string& text, double per_hour) {
  BERTH_CHECK(per_hour >= 0.0, per_hour, " arrivals per hour");
  const Spec parsed = ParseSpec(text);
  ArrivalModel model;
  model.mean_gap_s = per_hour > 0.0 ? 3600.0 / per_hour : 0.0;
  if (parsed.name == "poisson") {
    const Params params(parsed, {});
    model.spec = params.Resolved();
  } else if (parsed.name == "mmpp") {
    Params params(parsed, kMmppParams);
    model.kind = Kind::kMmpp;
    const double burst = params.Number("burst", 1.0, 1e9);
    model.burst_share = params.Number("share", kShareMargin, 1.0 - kShareMargin);
    const double burst_s = params.Number("burst_s", 1e-6, 1e12);
    model.leave[1] = 1.0 / burst_s;
    model.leave[0] = model.leave[1] * model.burst_share / (1.0 - model.burst_share);
    if (per_hour > 0.0) {
      model.rate[0] = per_hour / 3600.0 / (1.0 - model.burst_share + model.burst_share * burst);
    }
    model.rate[1] = burst * model.rate[0];
    model.spec = params.Resolved();
    params.CheckAllRead();
  } else if (parsed.name == "diurnal") {
    Params params(parsed, kDiurnalParams);
    model.kind = Kind::kDiurnal;
    model.swing = params.Number("swing", 0.0, 1.0);
    model.period_s = 3600.0 * params.Number("period_h", 1e-6, 1e9);
    model.spec = params.Resolved();
    params.CheckAllRead();
  } else {
    static const std::vector<std::string> kNames = {"poisson", "mmpp", "diurnal"};
    throw Error(Join("arrivals: expected poisson, mmpp(...) or diurnal(...), found '", parsed.name, "'",
                     DidYouMean(parsed.name, kNames)));
  }
  return model;
}

double ArrivalModel::RateAt(double time_s) const {
  return (1.0 + swing * SinOfTurns(time_s / period_s)) / mean_gap_s;
}

ArrivalProcess::ArrivalProcess(const ArrivalModel& model, Stream stream) : model_(model), stream_(stream) {
  if (model_.kind == ArrivalModel::Kind::kMmpp && model_.mean_gap_s > 0.0) {
    phase_ = stream_.Uniform() < model_.burst_share * model_.rate[1] * model_.mean_gap_s ? 1 : 0;
  }
}

double ArrivalProcess::Next() {
  if (first_ || model_.mean_gap_s == 0.0) {
    first_ = false;
    return now_;
  }
  switch (model_.kind) {
    case ArrivalModel::Kind::kPoisson:
      return now_ += stream_.Exponential(model_.mean_gap_s);
    case ArrivalModel::Kind::kMmpp:
      return NextMmpp();
    case ArrivalModel::Kind::kDiurnal:
      break;
  }
  return NextDiurnal();
}

// The next arrival and the next change of phase race: exponential times, so the winner is drawn apart.
double ArrivalProcess::NextMmpp() {
  for (;;) {
    const double both = model_.rate[phase_] + model_.leave[phase_];
    now_ += stream_.Exponential(1.0 / both);
    if (stream_.Uniform() * both < model_.rate[phase_]) return now_;
    phase_ = 1 - phase_;
  }
}

double ArrivalProcess::NextDiurnal() {
  const double crest = (1.0 + model_.swing) / model_.mean_gap_s;  // arrivals/s
  for (;;) {
    now_ += stream_.Exponential(1.0 / crest);
    if (stream_.Uniform() * crest < model_.RateAt(now_)) return now_;
  }
}

}  // namespace berth

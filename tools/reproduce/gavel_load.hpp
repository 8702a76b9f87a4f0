// The curves of mean JCT against load, published and measured: the load experiment's, which the headline and
// the distributions read too.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/reproduce/gavel_workloads.hpp"

namespace berth {

struct LoadPoint {
  double rate;   // jobs/h
  double jct_h;  // mean
};

// The largest rate at which the mean JCT stays under twice that of the lowest rate, linear between the two
// points that enclose it. Where no point reaches twice, the highest rate, and `reached` is false: a lower
// bound.
struct SustainedLoad {
  double rate = 0.0;
  bool reached = false;
};
SustainedLoad Sustained(std::span<const LoadPoint> ascending);  // at least one point

// Published mean JCTs from `from` to `to` jobs/h; read off figures by eye, +-2 h, so often a range.
struct PublishedJct {
  double from, to, low_h, high_h;
};

struct LoadCurve {
  const char* label;
  std::string spec;
  double cost;  // of a run, against max-min fairness
  std::vector<double> rates;
  std::vector<PublishedJct> published;

  std::optional<PublishedJct> PublishedAt(double rate) const;
};

// One figure: an agnostic policy, its aware form (the first two curves) and what else it shows.
struct LoadSetting {
  const char* name;  // file-name safe
  const char* title;
  Gangs gangs;
  std::vector<LoadCurve> curves;
  bool slow = false;  // an experiment of its own, `ftf`
};
const std::vector<LoadSetting>& LoadSettings();

// The rates of a curve that are run: with `quick` one a published value; none of a packed LP unless asked
// for.
std::vector<double> ShownRates(const GavelSettings& settings, const LoadCurve& curve);  // packed ones too
std::vector<double> Rates(const GavelSettings& settings, const LoadCurve& curve);
SeedValues MeanJctHours(const GavelSettings& settings, const ReproductionRuns& runs, Gangs gangs,
                        const LoadCurve& curve, double rate);
std::vector<LoadPoint> MeasuredPoints(const GavelSettings& settings, const ReproductionRuns& runs,
                                      Gangs gangs, const LoadCurve& curve);
// Ranges by their middle, plateaus by their lowest and highest rate.
std::vector<LoadPoint> PublishedPoints(const LoadCurve& curve);

}  // namespace berth

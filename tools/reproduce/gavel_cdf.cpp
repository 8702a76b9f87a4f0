// Distribution of JCTs at 5.6 single-GPU jobs an hour (Narayanan et al., OSDI 2020, Figure 8).
#include <algorithm>
#include <cmath>

#include "tools/reproduce/gavel_experiments.hpp"
#include "tools/reproduce/gavel_load.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kRate = 5.6;      // jobs/h
constexpr int kCurvePoints = 200;  // of each distribution in the file behind the picture

// The curves of the single-GPU figure that are measured at this rate.
std::vector<const LoadCurve*> Curves(const GavelSettings& settings) {
  std::vector<const LoadCurve*> curves;
  for (const LoadCurve& curve : LoadSettings()[0].curves) {
    const bool measured = std::find(curve.rates.begin(), curve.rates.end(), kRate) != curve.rates.end();
    if (measured && (settings.packed || curve.cost < kPackedCost)) curves.push_back(&curve);
  }
  return curves;
}

std::vector<double> PooledHours(const GavelSettings& settings, const ReproductionRuns& runs,
                                const LoadCurve& curve) {
  std::vector<double> hours;
  for (const std::uint64_t seed : settings.seeds) {
    const PlannedOutcome* outcome =
        runs.Find(ContinuousWorkload(kRate, Gangs::kSingle, false, seed), curve.spec);
    if (outcome == nullptr) continue;
    for (const double jct : outcome->jct_s) {
      if (!std::isnan(jct)) hours.push_back(jct / 3600.0);
    }
  }
  std::sort(hours.begin(), hours.end());
  return hours;
}

}  // namespace

void PlanCdf(const GavelSettings& settings, ReproductionRuns& runs) {
  for (const LoadCurve* curve : Curves(settings)) {
    for (const std::uint64_t seed : settings.seeds) {
      runs.Plan(ContinuousWorkload(kRate, Gangs::kSingle, false, seed), curve->spec, curve->cost);
    }
  }
}

bool ReportCdf(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page) {
  page.Heading("Distribution of JCTs at 5.6 single-GPU jobs an hour");
  page.Paragraph(
      "Hours, the jobs of all seeds together. The published mean was read off the figure by eye (±2 h).");
  std::vector<ReproductionPage::Cells> rows, csv;
  for (const LoadCurve* curve : Curves(settings)) {
    const std::vector<double> hours = PooledHours(settings, runs, *curve);
    const auto given = curve->PublishedAt(kRate);
    ReproductionPage::Cells row = {curve->label, given ? Range(given->low_h, given->high_h, 0) : "-"};
    if (hours.empty()) {
      row.push_back(MeanJctHours(settings, runs, Gangs::kSingle, *curve, kRate).ToString(1));
      row.insert(row.end(), 5, "-");
    } else {
      double sum = 0.0;
      for (const double h : hours) sum += h;
      row.push_back(Fixed(sum / static_cast<double>(hours.size()), 1));
      for (const double q : {0.1, 0.5, 0.9, 0.99, 1.0}) row.push_back(Fixed(Quantile(hours, q), 1));
      for (int i = 0; i <= kCurvePoints; ++i) {
        const double q = static_cast<double>(i) / kCurvePoints;
        csv.push_back({curve->label, Exact(q), Exact(Quantile(hours, q))});
      }
    }
    rows.push_back(row);
  }
  page.Rows({"policy", "mean, published", "mean, measured", "10%", "50%", "90%", "99%", "largest"}, rows);
  page.Csv("jct_cdf.csv", {"policy", "fraction", "jct_h"}, csv);
  page.Picture("jct_cdf.png", "distribution of job completion times at 5.6 jobs an hour");
  return true;
}

}  // namespace berth

// Mean JCT against load (Narayanan et al., OSDI 2020, §7.3): jobs 4000-5000 of Poisson arrivals.
#include "tools/reproduce/gavel_load.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "env/base/check.hpp"
#include "tools/table.hpp"

namespace berth {

SustainedLoad Sustained(std::span<const LoadPoint> ascending) {
  BERTH_CHECK(!ascending.empty(), "no points");
  const double limit = 2.0 * ascending.front().jct_h;
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    const LoadPoint &below = ascending[i - 1], &above = ascending[i];
    BERTH_CHECK(below.rate < above.rate, below.rate, " before ", above.rate);
    if (above.jct_h < limit) continue;
    return {below.rate + (above.rate - below.rate) * (limit - below.jct_h) / (above.jct_h - below.jct_h),
            true};
  }
  return {ascending.back().rate, false};
}

namespace {

std::vector<PlannedWorkload> LoadWorkloads(const GavelSettings& settings, double rate, Gangs gangs) {
  std::vector<PlannedWorkload> workloads;
  for (const std::uint64_t seed : settings.seeds)
    workloads.push_back(ContinuousWorkload(rate, gangs, false, seed));
  return workloads;
}

std::string RateLabel(double rate) {
  return Fixed(rate, 1);
}

// Whether the curve has left the load that it sustains: twice its mean at the lowest rate, or more.
bool Past(const std::vector<LoadPoint>& curve, double rate) {
  if (curve.size() < 2) return false;
  const SustainedLoad sustained = Sustained(curve);
  return sustained.reached && rate >= sustained.rate;
}

void ReportSetting(const GavelSettings& settings, const ReproductionRuns& runs, const LoadSetting& setting,
                   ReproductionPage& page, std::vector<ReproductionPage::Cells>& csv) {
  std::set<double> rates;
  ReproductionPage::Cells header = {"jobs/h"};
  for (const LoadCurve& curve : setting.curves) {
    header.emplace_back(curve.label);
    for (const double rate : ShownRates(settings, curve)) rates.insert(rate);
  }
  header.emplace_back("first over second");
  std::vector<std::vector<LoadPoint>> points;
  for (const LoadCurve& curve : setting.curves)
    points.push_back(MeasuredPoints(settings, runs, setting.gangs, curve));
  std::vector<ReproductionPage::Cells> rows;
  for (const double rate : rates) {
    ReproductionPage::Cells row = {RateLabel(rate)};
    std::vector<double> published(2, 0.0), measured(2, 0.0);
    for (std::size_t k = 0; k < setting.curves.size(); ++k) {
      const LoadCurve& curve = setting.curves[k];
      const auto given = curve.PublishedAt(rate);
      const std::vector<double> own = ShownRates(settings, curve);
      const bool run = std::find(own.begin(), own.end(), rate) != own.end();
      const SeedValues hours = run ? MeanJctHours(settings, runs, setting.gangs, curve, rate) : SeedValues{};
      row.push_back(Join(given ? Range(given->low_h, given->high_h, 0) : "-", " \\| ",
                         run ? hours.ToString(1) : "-", run && Past(points[k], rate) ? "†" : ""));
      for (const double value : hours.values) {
        csv.push_back({setting.name, curve.label, Exact(rate), Exact(value), Exact(value), "measured"});
      }
      if (k < 2 && given) published[k] = (given->low_h + given->high_h) / 2.0;
      if (k < 2 && !hours.values.empty()) measured[k] = hours.mean();
    }
    const auto ratio = [](const std::vector<double>& pair) {
      return pair[0] > 0.0 && pair[1] > 0.0 ? Fixed(pair[0] / pair[1], 2) : "-";
    };
    row.push_back(Join(ratio(published), " \\| ", ratio(measured)));
    rows.push_back(row);
  }
  for (const LoadCurve& curve : setting.curves) {
    for (const PublishedJct& p : curve.published) {
      csv.push_back({setting.name, curve.label, Exact(p.from), Exact(p.low_h), Exact(p.high_h), "published"});
      if (p.to == p.from) continue;
      csv.push_back({setting.name, curve.label, Exact(p.to), Exact(p.low_h), Exact(p.high_h), "published"});
    }
  }
  page.Paragraph(Join("**", setting.title, "**"));
  page.Rows(header, rows);
  page.Picture(Join("load_", setting.name, ".png"), Join(setting.title, ": mean JCT against load"));
}

void PlanSetting(const GavelSettings& settings, const LoadSetting& setting, ReproductionRuns& runs) {
  for (const LoadCurve& curve : setting.curves) {
    for (const double rate : Rates(settings, curve)) {
      for (const PlannedWorkload& workload : LoadWorkloads(settings, rate, setting.gangs)) {
        runs.Plan(workload, curve.spec, curve.cost);
      }
    }
  }
}

void ReportSettings(const GavelSettings& settings, const ReproductionRuns& runs, bool slow, const char* file,
                    ReproductionPage& page) {
  page.Heading(slow ? "Mean JCT against load, finish-time fairness" : "Mean JCT against load");
  page.Paragraph(
      "Hours, jobs 4000 to 5000. Each cell: published | measured, mean [lowest, highest] of our seeds. The "
      "published values were read off the notebooks' figures by eye (±2 h), a range where the curve is flat. "
      "The "
      "last column is the agnostic policy over its aware form. `*`: a run outlived its arrivals, so its end "
      "was "
      "less crowded. `†`: at least twice the mean at the policy's lowest rate, so beyond the load that it "
      "sustains; such a mean is of a queue that grows or nearly does, and depends on which jobs are "
      "measured.");
  std::vector<ReproductionPage::Cells> csv;
  for (const LoadSetting& setting : LoadSettings()) {
    if (setting.slow == slow) ReportSetting(settings, runs, setting, page, csv);
  }
  page.Csv(file, {"setting", "policy", "rate", "jct_low_h", "jct_high_h", "source"}, csv);
}

}  // namespace

std::optional<PublishedJct> LoadCurve::PublishedAt(double rate) const {
  for (const PublishedJct& p : published) {
    if (rate >= p.from && rate <= p.to) return p;
  }
  return std::nullopt;
}

std::vector<double> Rates(const GavelSettings& settings, const LoadCurve& curve) {
  return curve.cost >= kPackedCost && !settings.packed ? std::vector<double>{} : ShownRates(settings, curve);
}

std::vector<double> ShownRates(const GavelSettings& settings, const LoadCurve& curve) {
  if (!settings.quick) return curve.rates;
  std::vector<double> rates;
  for (const PublishedJct& p : curve.published) {
    const auto last = std::upper_bound(curve.rates.begin(), curve.rates.end(), p.to);
    if (last != curve.rates.begin() && *std::prev(last) >= p.from) rates.push_back(*std::prev(last));
  }
  return rates;
}

SeedValues MeanJctHours(const GavelSettings& settings, const ReproductionRuns& runs, Gangs gangs,
                        const LoadCurve& curve, double rate) {
  return OverSeeds(runs, LoadWorkloads(settings, rate, gangs), curve.spec, &PlannedOutcome::mean_jct_s,
                   3600.0);
}

std::vector<LoadPoint> MeasuredPoints(const GavelSettings& settings, const ReproductionRuns& runs,
                                      Gangs gangs, const LoadCurve& curve) {
  std::vector<LoadPoint> points;
  for (const double rate : Rates(settings, curve)) {
    const SeedValues hours = MeanJctHours(settings, runs, gangs, curve, rate);
    if (!hours.values.empty()) points.push_back({rate, hours.mean()});
  }
  return points;
}

std::vector<LoadPoint> PublishedPoints(const LoadCurve& curve) {
  std::vector<LoadPoint> points;
  for (const PublishedJct& p : curve.published) {
    points.push_back({p.from, (p.low_h + p.high_h) / 2.0});
    if (p.to > p.from) points.push_back({p.to, (p.low_h + p.high_h) / 2.0});
  }
  return points;
}

void PlanLoad(const GavelSettings& settings, ReproductionRuns& runs) {
  for (const LoadSetting& setting : LoadSettings()) {
    if (!setting.slow) PlanSetting(settings, setting, runs);
  }
}

void PlanFtf(const GavelSettings& settings, ReproductionRuns& runs) {
  for (const LoadSetting& setting : LoadSettings()) {
    if (setting.slow) PlanSetting(settings, setting, runs);
  }
}

bool ReportLoad(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page) {
  ReportSettings(settings, runs, /*slow=*/false, "load.csv", page);
  return true;
}

bool ReportFtf(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page) {
  ReportSettings(settings, runs, /*slow=*/true, "load_ftf.csv", page);
  return true;
}

}  // namespace berth

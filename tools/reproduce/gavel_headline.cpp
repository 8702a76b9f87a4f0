// The published claims beside what we measured (Narayanan et al., OSDI 2020, abstract and §7).
#include "tools/reproduce/gavel_headline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/reproduce/gavel_load.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr std::size_t kFifo = 0, kRandomFifo = 1, kGandiva = 2, kGavelMakespan = 4;  // of MakespanPolicies()
std::string TimesText(double ratio) {
  return std::isnan(ratio) ? "-" : Fixed(ratio, 2) + "×";
}

// Agnostic over aware, lowest and highest over the rates at which both are known.
std::string RatioRange(const std::vector<LoadPoint>& agnostic, const std::vector<LoadPoint>& aware) {
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  for (const LoadPoint& a : agnostic) {
    for (const LoadPoint& b : aware) {
      if (a.rate != b.rate) continue;
      low = std::fmin(low, a.jct_h / b.jct_h), high = std::fmax(high, a.jct_h / b.jct_h);
    }
  }
  return std::isnan(low) ? "-" : Join(Fixed(low, 2), "× to ", Fixed(high, 2), "×");
}

// "4.95 → ≥ 5.60: ≥ 1.13×"
std::string SustainedText(const std::vector<LoadPoint>& agnostic, const std::vector<LoadPoint>& aware) {
  if (agnostic.size() < 2 || aware.size() < 2) return "-";
  const SustainedLoad a = Sustained(agnostic), b = Sustained(aware);
  const auto rate = [](const SustainedLoad& load) {
    return (load.reached ? "" : "≥ ") + Fixed(load.rate, 2);
  };
  // An agnostic curve that never doubles bounds nothing.
  const std::string ratio = !a.reached ? "not known" : (b.reached ? "" : "≥ ") + TimesText(b.rate / a.rate);
  return Join(rate(a), " → ", rate(b), " jobs/h: ", ratio);
}

double MakespanRatio(const GavelSettings& settings, const ReproductionRuns& runs, const std::string& spec,
                     int jobs) {
  return MakespanHours(settings, runs, spec, jobs).mean() /
         MakespanHours(settings, runs, MakespanPolicies()[kGavelMakespan].spec, jobs).mean();
}

}  // namespace

void PlanHeadline(const GavelSettings& settings, ReproductionRuns& runs) {
  PlanLoad(settings, runs);  // not finish-time fairness: its row stands when `ftf` was chosen too
  PlanMakespan(settings, runs);
  PlanCost(settings, runs);
}

bool ReportHeadline(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page) {
  page.Heading("The published claims");
  std::vector<ReproductionPage::Cells> rows;
  const auto published_range = [](const char* setting) {
    return std::string(setting) == "las_single" ? "up to 3.5×, at low load 1.4×" : "-";
  };
  for (const LoadSetting& setting : LoadSettings()) {
    const LoadCurve &agnostic = setting.curves[0], &aware = setting.curves[1];
    const auto a = MeasuredPoints(settings, runs, setting.gangs, agnostic);
    const auto b = MeasuredPoints(settings, runs, setting.gangs, aware);
    const auto pa = PublishedPoints(agnostic), pb = PublishedPoints(aware);
    rows.push_back({Join("mean JCT, agnostic over aware: ", setting.title), published_range(setting.name),
                    RatioRange(pa, pb), RatioRange(a, b)});
    rows.push_back({Join("sustained load, agnostic → aware: ", setting.title), "higher",
                    SustainedText(pa, pb), SustainedText(a, b)});
  }
  const int largest = kMakespanJobs.back();
  const auto& policies = MakespanPolicies();
  const auto published = [&](std::size_t k) {
    return policies[k].published_h.back() / policies[kGavelMakespan].published_h.back();
  };
  rows.push_back(
      {Join("makespan of ", largest, " jobs, FIFO over Gavel"), "2.5×", TimesText(published(kFifo)),
       Join(TimesText(MakespanRatio(settings, runs, policies[kFifo].spec, largest)), " (random type: ",
            TimesText(MakespanRatio(settings, runs, policies[kRandomFifo].spec, largest)), ")")});
  rows.push_back({Join("makespan of ", largest, " jobs, Gandiva over Gavel"), "1.4×",
                  TimesText(published(kGandiva)),
                  WhyNotAvailable(policies[kGandiva].spec).empty()
                      ? TimesText(MakespanRatio(settings, runs, policies[kGandiva].spec, largest))
                      : "not available"});
  rows.push_back(
      {"cost, max throughput over min cost", "1.4×", "-",
       Join(TimesText(CostSaving(settings, runs, CostMixes()[0], kCheapest)), " with GPUs at will, ",
            TimesText(CostSaving(settings, runs, CostMixes()[1], kCheapest)), " in a full cluster")});
  page.Paragraph(
      "Claimed: the paper's words. Published: the same figure from its tables and curves (read off by eye "
      "where it is "
      "a curve). The sustained load is the largest rate at which the mean JCT stays under twice its value at "
      "the "
      "lowest rate run, linear between the rates that were run. Means over seeds.");
  page.Rows({"what", "claimed", "published", "measured"}, rows);
  std::vector<ReproductionPage::Cells> csv = rows;
  page.Csv("headline.csv", {"what", "claimed", "published", "measured"}, csv);
  return true;
}

}  // namespace berth

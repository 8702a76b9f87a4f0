// Objectives whose answers come with a proof: an allocation, and prices that bound what any other could
// reach.
#pragma once

#include <span>

#include "baselines/gavel/problem.hpp"
#include "baselines/lp.hpp"
#include "tools/solve/certificate.hpp"

namespace berth::gavel {

struct WaterLevels;

struct CertifiedAnswer {
  Allocation x;  // [m, G]
  Certificate certificate;
};
struct CertifiedPairs {
  PackedAllocation x;
  Certificate certificate;
};

struct CertifiedObjective {
  const char* name;              // as in gavel(objective=...), and proportional_fairness
  const char* summary;           // one line, with the unit of the value
  bool remaining, since, price;  // what of the problem it reads beside speeds, gangs and weights
  // False where no solver has an answer; `why` then says so. REQUIRES: at least one job, each with a speed
  // above 0 on a type that has workers; what it reads > 0 (since >= 0).
  bool (*solve)(const Problem& problem, LpMethod method, CertifiedAnswer& answer, const char*& why);
  // The same of jobs that may share a GPU; null where that has no proof.
  bool (*solve_pairs)(const PackedProblem& problem, CertifiedPairs& answer, const char*& why);
};
std::span<const CertifiedObjective> CertifiedObjectives();

// Prices for every level of a water filling, by a linear program each over classes of jobs alike. Jobs that
// have all their time on their best type need none. False where the solver fails, or after `time_s`.
[[nodiscard]] bool FindWaterPrices(const Problem& problem, std::span<const double> worth,
                                   std::span<const double> x, double time_s, std::vector<WaterStage>& stages);

// The certificate of a water filling: of all its levels, or, where prices for them take more than `time_s` or
// leave a gap above 1e-6, of the lowest alone. False where no solver has that; `why` then says so.
[[nodiscard]] bool ProveLevels(const Problem& problem, const WaterLevels& levels, LpMethod method,
                               double time_s, Certificate& certificate, const char*& why);

}  // namespace berth::gavel

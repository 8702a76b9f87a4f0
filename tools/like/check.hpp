// Are drawn jobs like those to come? A model is fitted to a log's earlier weeks, and what it draws is
// compared with the weeks that it did not see, column by column. Beside it stands what those earlier weeks
// themselves score against the later ones: no model of them can be expected to do better.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"
#include "tools/json.hpp"
#include "tools/like/two_sample.hpp"

namespace berth {

// The rule, chosen before anything was measured: a column passes where the test does not tell the drawn from
// the later jobs at 1%, or their distance is at most 0.1, or at most 1.1 times that of the earlier jobs
// themselves.
inline constexpr double kLikeLevel = 0.01, kLikeClose = 0.1, kLikeDrift = 1.1;

enum class LikeVerdict : std::uint8_t { kSame, kClose, kDrift, kDiffers };
const char* ToString(LikeVerdict verdict);  // "same", "close", "drift", "differs"
LikeVerdict Judge(const TwoSample& drawn, const TwoSample& earlier);

struct LikeColumn {
  std::string name;                           // "run time, s"
  std::vector<std::string> categories;        // of a discrete column; none = numbers
  std::vector<double> earlier, later, drawn;  // numbers, or counts by category
  TwoSample of_drawn, of_earlier;             // each against `later`
  LikeVerdict verdict = LikeVerdict::kSame;
};

struct LikeCheck {
  std::string name;      // the log's
  double split_s = 0.0;  // from the first arrival; whole weeks where the log has two
  double later_s = 0.0;  // length of what was held out
  int earlier_jobs = 0, later_jobs = 0, drawn_jobs = 0, draws = 0;
  std::vector<LikeColumn> columns;
  int passed() const;
};

// Fits on the earlier three quarters of the time and draws `draws` workloads as long as the rest. Error for a
// log of which either part has fewer than two moments of arrival. Deterministic in its arguments.
LikeCheck CheckLike(const Scenario& scenario, std::uint64_t seed, int draws);

// Markdown: what the columns and verdicts mean.
std::string LikeRule();
std::string LikeCheckTable(const LikeCheck& check);                             // for a terminal
std::string LikeCheckPage(const LikeCheck& check, const std::string& command);  // Markdown; names the picture
std::string LikeCheckCsv(const LikeCheck& check);                               // what the picture draws
Json LikeCheckJson(const LikeCheck& check);
inline constexpr const char* kLikePage = "check.md";
inline constexpr const char* kLikeCsv = "check.csv";
inline constexpr const char* kLikePicture = "check.png";

}  // namespace berth

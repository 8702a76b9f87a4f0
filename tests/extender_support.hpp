// What the tests of `berth serve --extender` ask, and of which policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policies/bundle.hpp"
#include "tools/serve/extender.hpp"

namespace berth::test::serve {

extern const std::string kFiles;  // the folder tests/extender/
// 2026-11-21T20:30:00Z: `date -ud 2026-11-21T20:30:00Z +%s`.
inline constexpr double kNow = 1795293000.0;

// Of random weights and sure of itself, for the types v100, p100 and k80.
PolicyBundle Bundle(const std::string& encoder = "ObservationV1");

// With kFiles/table.json and these members over its own.
Extender MakeExtender(const Json& over = Json::object());

// The policy's own preference, 0 to 10, for a job of so many GPUs with so much work on types in the table's
// order.
std::vector<std::int64_t> Preference(const ForeignJob& job, const std::vector<double>& rates, double age);

}  // namespace berth::test::serve

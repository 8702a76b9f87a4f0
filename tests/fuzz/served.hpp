// What `berth serve` has at hand before its first call: a table of a cluster, a policy for it, a status document.
#pragma once

#include <string>

#include "policies/bundle.hpp"
#include "tools/controller/site_file.hpp"
#include "tools/serve/extender.hpp"

namespace berth::fuzz {

inline constexpr double kNow = 1795293000.0;  // s since 1970: `date -ud 2026-11-21T20:30:00Z +%s`

extern const char* const kTable;   // of the extender, as JSON
extern const char* const kStatus;  // as the controller publishes it
Extender MakeExtender();
SiteFile Site();  // two classes

}  // namespace berth::fuzz

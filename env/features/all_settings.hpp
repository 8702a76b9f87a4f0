// The settings of every feature (features.hpp knows their names only, so that whoever includes a scenario
// does not include them all).
#pragma once

#include "env/features/checkpoints.hpp"  // IWYU pragma: export
#include "env/features/elasticity.hpp"   // IWYU pragma: export
#include "env/features/estimates.hpp"    // IWYU pragma: export
#include "env/features/failures.hpp"     // IWYU pragma: export
#include "env/features/forecast.hpp"     // IWYU pragma: export
#include "env/features/latency.hpp"      // IWYU pragma: export
#include "env/features/monitoring.hpp"   // IWYU pragma: export
#include "env/features/partitions.hpp"   // IWYU pragma: export
#include "env/features/power.hpp"        // IWYU pragma: export
#include "env/features/services.hpp"     // IWYU pragma: export
#include "env/features/sharing.hpp"      // IWYU pragma: export
#include "env/features/stages.hpp"       // IWYU pragma: export
#include "env/features/topology.hpp"     // IWYU pragma: export

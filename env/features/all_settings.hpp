// The settings of every feature (features.hpp knows their names only, so that whoever includes a scenario
// does not include them all).
#pragma once

#include "env/features/checkpoints/checkpoints.hpp"  // IWYU pragma: export
#include "env/features/elasticity/elasticity.hpp"    // IWYU pragma: export
#include "env/features/estimates/estimates.hpp"      // IWYU pragma: export
#include "env/features/failures/failures.hpp"        // IWYU pragma: export
#include "env/features/forecast/forecast.hpp"        // IWYU pragma: export
#include "env/features/latency/latency.hpp"          // IWYU pragma: export
#include "env/features/monitoring/monitoring.hpp"    // IWYU pragma: export
#include "env/features/partitions/partitions.hpp"    // IWYU pragma: export
#include "env/features/power/power.hpp"              // IWYU pragma: export
#include "env/features/services/services.hpp"        // IWYU pragma: export
#include "env/features/sharing/sharing.hpp"          // IWYU pragma: export
#include "env/features/stages/stages.hpp"            // IWYU pragma: export
#include "env/features/topology/topology.hpp"        // IWYU pragma: export

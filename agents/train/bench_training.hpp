// Training timed on fixed work (learn_api.hpp says what is asked and answered).
#pragma once

#include "agents/train/learn_api.hpp"

namespace berth {

BenchTrainOutcome BenchTraining(const BenchTrainRequest& request);

}  // namespace berth

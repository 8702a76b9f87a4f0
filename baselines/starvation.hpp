// Who may wait for ever. A scheduler starves a job where a stream of others that the cluster can carry keeps
// it from ever running to its end. Some rules do by nature: what they say of a row is here, and what the
// others promise by not being here is held to in tests/starvation_test.cpp, which also shows a starved job
// for every line.
#pragma once

#include <string_view>

namespace berth {

// Whom the scheduler, with default parameters, may starve, as in "long jobs while shorter keep coming"; ""
// where it starves nobody.
const char* Starves(std::string_view scheduler);

}  // namespace berth

// How many of the jobs in the system will miss their deadline: each by the share of the time until then that
// it has to run.
//
//   phi(s) = sum over jobs with deadlines not passed of min(1, time left alone / time until the deadline)^exponent
//
// The ratio is 1 over the critical ratio of dispatching rules (Conway 1965). It is 1 from where the deadline
// can no longer be kept, which so is paid for when it happens and not when the deadline passes, and it
// falls while a job runs on its fastest type. What a job adds as it arrives depends on nobody's choice, so
// to leave arrivals out is no bias: D = 0.
#pragma once

namespace berth {

// Of one job: `left` s alone on its fastest type, `until` s to the deadline. Once that has passed, until < 0,
// the miss is paid and 0 is left.
double MissChance(double left, double until, double exponent);

}  // namespace berth

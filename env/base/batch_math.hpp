// Log and Exp of many numbers at once: the same bits as of each alone, in vector instructions.
#pragma once

#include <span>

namespace berth {

// values[i] = Log(values[i]). Any doubles; positive, finite, normal ones are fast.
void Logs(std::span<double> values);
// values[i] = Exp(values[i]). Any doubles; those within [-700, 700] are fast.
void Exps(std::span<double> values);

}  // namespace berth

// The berth binary as a child without a shell between, so that a signal reaches the binary itself.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace berth::test {

// Runs `berth ARGUMENTS` in the folder; what it prints goes to out.txt and error.txt there.
pid_t Start(const TemporaryFolder& folder, std::vector<std::string> arguments);
// The exit code; -1 when it was killed by a signal, or had to be after a minute and a half.
int Wait(pid_t child);
// Whether it has ended; Wait can still be called.
bool Ended(pid_t child);

}  // namespace berth::test

// The berth binary as a child without a shell between, so that a signal reaches the binary itself.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace berth::test {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs `berth ARGUMENTS` in the folder, with these variables beside the environment's own; what it prints
// goes to out.txt and error.txt there.
pid_t Start(const TemporaryFolder& folder, std::vector<std::string> arguments,
            const Variables& variables = {});
// Whether `berth train` can open the learners.
bool HaveLearners();
// The exit code; -1 when it was killed by a signal, or had to be after a minute and a half.
int Wait(pid_t child);
// Whether it has ended; Wait can still be called.
bool Ended(pid_t child);
// The port that this process, `berth serve` in the folder with --json serve.json, says that it listens on; 0 = it
// has ended, or has said none for half a minute.
int ServedPort(const TemporaryFolder& folder, pid_t process);

}  // namespace berth::test

// Main functions of programs that tools/campaign runs: case after case of a seed, for so long, with what fails in files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace berth::test {

// PROGRAM --scenarios N [--first I] [--seconds S] [--seed N] --out DIR: checks cases [first, first + N) of a seed. `check` says what is wrong,
// "" = nothing; `ends` prints what there is to say of all, and how many failed. The last line is what tools/campaign reads:
// {"executions": n, "findings": [files]}. Exit code 1 where there are some, 2 where the options are wrong.
int RunNumberedCases(int argc, char** argv, const char* program, const std::function<std::string(std::uint64_t seed, std::int64_t index)>& check,
                     const std::function<void(int failed)>& ends = {});

}  // namespace berth::test

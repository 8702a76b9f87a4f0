// What this binary was built from: every file that Berth writes names it.
#pragma once

#include <string>

namespace berth {

const char* Version();       // "0.2.0"
const char* SourceCommit();  // "1a2b3c4d5e6f", "-dirty" behind it when the tree had changes, or "unknown"

// What a user typed to run this: "berth", or the script that ran it (tools/berth sets BERTH_COMMAND).
std::string CommandName();

}  // namespace berth

// Environments alone, without a learner, beside the programs that step those of other libraries.
#pragma once

#include <span>
#include <string>

namespace berth::bench {

struct PeerEnvironment {
  const char* name;
  const char* what;
  const char* unit;     // of both sides
  const char* program;  // in the folder of the peers' programs
  double (*ours)(int repeat);
  double (*theirs)(const std::string& output);  // of the program; throws Error where it holds no figure
};
std::span<const PeerEnvironment> PeerEnvironments();

}  // namespace berth::bench

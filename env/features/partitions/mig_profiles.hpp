// Multi-Instance GPU as the vendor has it: the profiles of each product, how much compute and memory an
// instance has and on which memory slices it may begin.
// Source: NVIDIA Multi-Instance GPU User Guide, r570, "Supported MIG Profiles" (tables for A30, A100-SXM4
// 40GB and 80GB, H100 and H200) and the placements that `nvidia-smi mig -lgipp` prints. Profiles that differ
// in media engines alone (+me, +gfx) are left out.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace berth {

struct MigProfile {
  const char* name;         // "3g.40gb"
  int compute;              // of the product's compute slices
  int memory;               // memory slices, consecutive
  double memory_gb;         // of the instance
  std::vector<int> starts;  // memory slices at which it may begin
};
struct MigProduct {
  const char* name;  // "a100-80gb"
  const char* type;  // shipped GPU type (data/gpu_types.cpp) of this name and memory
  double memory_gb;
  int compute, memory;               // slices
  std::vector<MigProfile> profiles;  // without the whole GPU
};
std::span<const MigProduct> MigProducts();

struct MigSlice {
  int profile;  // into MigProduct::profiles
  int start;    // into MigProfile::starts
  bool operator==(const MigSlice&) const = default;
};
using MigLayout = std::vector<MigSlice>;  // ascending in memory slices; empty = the whole GPU

// Do the instances lie on different memory slices, with compute for all?
bool LegalLayout(const MigProduct& product, const MigLayout& layout);
// Every layout to which nothing can be added; the first is the whole GPU.
std::vector<MigLayout> MaximalLayouts(const MigProduct& product);
// "3g.40gb@0+3g.40gb@4", "whole"; positions in memory slices.
std::string ToString(const MigProduct& product, const MigLayout& layout);

}  // namespace berth

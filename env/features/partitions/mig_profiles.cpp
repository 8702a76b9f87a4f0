#include "env/features/partitions/mig_profiles.hpp"

#include <algorithm>
#include <array>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// A100 and later: 7 compute and 8 memory slices; names carry the memory of an eighth, a quarter and a half.
// Looked up again in 2026: the guide's page "Supported MIG Profiles" for A30 (1g.6gb x 4, 2g.12gb x 2) and
// the names of A100 80 GB; `nvidia-smi mig -lgip` of an H100 for how many of each there can be (7, 4, 3, 2,
// 1) and
// `-lgipp` of A100 and H100 for where ({0..6}:1, {0,2,4,6}:2, {0,2,4}:2, {0,4}:4, {0}:4); names of A100 40 GB
// and H200 as cloud providers list them. `-lgip` prints up to 2.5% less memory than the name says.
MigProduct OfSeven(const char* name, const char* type, double gb, const std::array<const char*, 5>& names,
                   const std::array<double, 3>& memory) {
  return {name,
          type,
          gb,
          7,
          8,
          {{names[0], 1, 1, memory[0], {0, 1, 2, 3, 4, 5, 6}},
           {names[1], 1, 2, memory[1], {0, 2, 4, 6}},
           {names[2], 2, 2, memory[1], {0, 2, 4}},
           {names[3], 3, 4, memory[2], {0, 4}},
           {names[4], 4, 4, memory[2], {0}}}};
}

void Extend(const MigProduct& product, MigLayout& layout, int from, std::vector<MigLayout>& found) {
  bool any = false;
  // The next instance begins where memory is free; gaps are tried too, so that nothing legal is missed.
  for (int at = from; at < product.memory; ++at) {
    for (int p = 0; p < static_cast<int>(product.profiles.size()); ++p) {
      const auto& starts = product.profiles[U(p)].starts;
      const auto start = std::find(starts.begin(), starts.end(), at);
      if (start == starts.end()) continue;
      layout.push_back({p, static_cast<int>(start - starts.begin())});
      if (LegalLayout(product, layout)) {
        any = true;
        Extend(product, layout, at + product.profiles[U(p)].memory, found);
      }
      layout.pop_back();
    }
  }
  if (!any && !layout.empty()) found.push_back(layout);
}

bool Maximal(const MigProduct& product, const MigLayout& layout) {
  for (int p = 0; p < static_cast<int>(product.profiles.size()); ++p) {
    for (int s = 0; s < static_cast<int>(product.profiles[U(p)].starts.size()); ++s) {
      MigLayout more = layout;
      more.push_back({p, s});
      if (LegalLayout(product, more)) return false;
    }
  }
  return true;
}

}  // namespace

std::span<const MigProduct> MigProducts() {
  static const std::vector<MigProduct> kProducts = {
      {"a30-24gb", "a30", 24, 4, 4, {{"1g.6gb", 1, 1, 6, {0, 1, 2, 3}}, {"2g.12gb", 2, 2, 12, {0, 2}}}},
      OfSeven("a100-40gb", "a100", 40, {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb"}, {5, 10, 20}),
      OfSeven("a100-80gb", "a100", 80, {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"}, {10, 20, 40}),
      OfSeven("h100-80gb", "h100", 80, {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"}, {10, 20, 40}),
      OfSeven("h200-141gb", "h200", 141, {"1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb"},
              {18, 35, 71}),
  };
  return kProducts;
}

bool LegalLayout(const MigProduct& product, const MigLayout& layout) {
  int compute = 0;
  unsigned taken = 0;
  for (const MigSlice& slice : layout) {
    const MigProfile& profile = product.profiles[U(slice.profile)];
    const unsigned wanted = ((1U << profile.memory) - 1U) << profile.starts[U(slice.start)];
    if ((taken & wanted) != 0) return false;
    taken |= wanted;
    compute += profile.compute;
  }
  return compute <= product.compute;
}

std::vector<MigLayout> MaximalLayouts(const MigProduct& product) {
  std::vector<MigLayout> found = {{}}, all;
  MigLayout none;
  Extend(product, none, 0, all);
  for (const MigLayout& layout : all) {
    if (Maximal(product, layout)) found.push_back(layout);
  }
  return found;
}

std::string ToString(const MigProduct& product, const MigLayout& layout) {
  if (layout.empty()) return "whole";
  std::string text;
  for (const MigSlice& slice : layout) {
    const MigProfile& profile = product.profiles[U(slice.profile)];
    text += Join(text.empty() ? "" : "+", profile.name, "@", profile.starts[U(slice.start)]);
  }
  return text;
}

}  // namespace berth

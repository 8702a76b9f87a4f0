// The partial allocation auction: GPUs to those whose product of valuations is greatest, less what each must
// leave behind so that telling the truth pays.
#pragma once

#include <span>
#include <vector>

namespace berth {

// What an app says of some GPUs: its finish-time fairness with them, > 0; its valuation is 1 / rho.
struct AuctionBid {
  int type = -1;  // -1 with no GPUs
  int gpus = 0;
  double rho = 1.0;
};

struct AuctionResult {
  std::vector<int> chosen;   // [n] which of its bids each app gets in the allocation of greatest product
  std::vector<double> kept;  // [n] c_i in (0, 1], the part of it that the app may keep
};

// Mahajan et al., Themis, NSDI 2020, procedure AUCTION of its algorithm, after Cole, Gkatzelis and Goel, EC
// 2013:
//   G_pf = arg max of prod_i 1 / rho_i(G_i),
//   c_i = prod_{j != i} 1 / rho_j(G_pf,j) / max over allocations without i of prod_{j != i} 1 / rho_j(G_j).
// `apps` [n]: the bids of each, the first of them for no GPUs; `room` [G] GPUs on offer, >= 0. Of allocations
// as good, the last app gets the first of its bids that is in one, then the app before it.
// Exact, by dynamic programming over the GPUs taken of each type: O(n bids prod_j (room_j + 1)), room no
// more than the bids could take. Where n times that product exceeds 4 million, by integer programs, one for
// each winner, which are exact too unless a search tree exceeds 1,000 nodes.
AuctionResult PartialAllocation(std::span<const std::vector<AuctionBid>> apps, std::span<const int> room);

}  // namespace berth

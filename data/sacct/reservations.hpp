// A site's reservations: times in which nodes are kept for maintenance, or for some users' jobs.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace berth {

struct Reservation {
  int line = 0;
  std::string name;
  std::vector<std::string> nodes;                                     // empty = none are named
  double start = 0.0, end = std::numeric_limits<double>::infinity();  // s since 1970; infinite = it lasts
  bool maintenance = false;                                           // flag MAINT
};

// Of `sacctmgr -P show reservation format=Name,NodeNames,TimeStart,TimeEnd,Flags` or `scontrol show
// reservation`, in the order of the file. Throws Error "file:line: ...".
std::vector<Reservation> ReadReservations(const std::string& path);

}  // namespace berth

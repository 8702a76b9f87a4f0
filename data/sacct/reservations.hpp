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
  bool more_times = false;  // it repeats, and the file tells one of its times alone
};

// Of `sacctmgr -P show reservation format=Name,NodeNames,TimeStart,TimeEnd,Flags`, or of `scontrol show
// reservation`, also with --json (Slurm 23.02 and later: list `reservations` of the plugin data_parser). In
// the order of the file. Throws Error "file:line: ..." or "file: reservation 2 of the list: ...".
std::vector<Reservation> ReadReservations(const std::string& path);

}  // namespace berth

// A small grid of berth sweep, and what its folder holds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/csv_file.hpp"
#include "tests/binary.hpp"

namespace berth::test {

// Four cells, two schedulers, three seeds: some with failures, some in which work waits.
inline const std::string kSmallGrid =
    "sweep --over v100=2,3 --over 'rate=1,2' --workload 'queueing(rate={rate},jobs=60)' --cluster "
    "v100={v100} "
    "--clock event --schedulers fcfs srpt --seeds 0:3 --window 10:50";

inline std::vector<std::string> FirstColumn(const std::string& path, const std::string& name) {
  CsvFile file(path);
  std::vector<std::string> values;
  while (file.Next()) values.push_back(file.Text(name));
  return values;
}

// What a folder's tables hold.
inline std::string TableBytes(const std::string& folder) {
  return Slurp(folder + "/table.csv") + Slurp(folder + "/summary.csv") + Slurp(folder + "/table.h5");
}

inline int CellsIn(const std::string& folder) {
  std::error_code ignored;
  int count = 0;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder + "/cells", ignored))
    count += entry.path().extension() == ".csv";
  return count;
}

}  // namespace berth::test

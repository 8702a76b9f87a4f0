// data/gpus.csv: the library of GPU types.
#include "data/gpu_types.hpp"

#include <set>

#include "data/throughputs.hpp"
#include "data/workloads.hpp"
#include "tests/catch.hpp"

namespace berth {

TEST_CASE("gpus: every type says where its figures are from, and may stand in --cluster") {
  std::set<std::string> names;
  for (const GpuProduct& gpu : GpuProducts()) {
    CAPTURE(gpu.type.name);
    CHECK(names.insert(gpu.type.name).second);
    CHECK(ParseCluster(gpu.type.name + "=2/1").types[0].memory_gb == gpu.type.memory_gb);
    CHECK(ParseCluster(gpu.type.name + "=2/1").types[0].bandwidth_gb_s == gpu.type.bandwidth_gb_s);
    CHECK(gpu.type.memory_gb > 0.0);
    CHECK_FALSE(gpu.spec_source.empty());
    CHECK((gpu.type.price_per_hour > 0.0) == !gpu.price_source.empty());
    CHECK(gpu.type.idle_power_w <= gpu.type.peak_power_w);
  }
  for (const char* name : {"k80", "l4", "l40s", "t4", "a10", "b200", "mi250x", "mi300x", "tpu_v4", "tpu_v5e"})
    CHECK(names.count(name) == 1);
}

TEST_CASE("gpus: every type with shipped throughputs is in the library") {
  for (const ShippedThroughputs& table : ThroughputTables()) {
    for (const std::string& type : table.gpu_types) CHECK_NOTHROW(ParseCluster(type + "=1"));
  }
}

TEST_CASE("gpus: figures as the vendors print them") {
  const ClusterSpec cluster = ParseCluster("h100=1,l4=1,mi300x=1");
  CHECK(cluster.types[0].memory_gb == 80.0);
  CHECK(cluster.types[0].bandwidth_gb_s == 3350.0);
  CHECK(cluster.types[0].peak_power_w == 700.0);
  CHECK(cluster.types[1].peak_power_w == 72.0);
  CHECK(cluster.types[1].idle_power_w == Approx(7.2));  // not published: a tenth
  CHECK(cluster.types[2].memory_gb == 192.0);
}

}  // namespace berth

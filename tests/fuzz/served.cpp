#include "tests/fuzz/served.hpp"

#include "env/gym/encoder.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/policies_support.hpp"

namespace berth::fuzz {

const char* const kTable = R"json({"gpu_types": {"v100": {"count": 8, "labels": ["V100"]}, "p100": {"count": 8, "labels": ["P100"]},
"k80": {"count": 8, "labels": ["K80"]}}, "nodes": {"gpu-a": "v100", "gpu-b": "k80", "cpu-a": null},
"job_types": {"only-old": {"k80": 2.0}}, "evict_unsaved_from_priority": 100,
"defaults": {"job_type": "ResNet-50 (batch size 32)", "remaining_s": 7200}})json";

const char* const kStatus = R"({"mode": "dry-run", "cycle": {"seconds": 0.1}, "counts": {"cycles": 3}, "jobs": [], "nodes": []})";

Extender MakeExtender() {
  static const PolicyBundle bundle = [] {
    PolicyBundle made = test::RandomBundle("pair_scorer(width=8)", EncoderOf("ObservationV1").Layout(8, 3), 8 * 3 + 1, 12);
    made.gpu_types = {"v100", "p100", "k80"};
    return made;
  }();
  static const ExtenderTable table = ReadExtenderTable(File("table.json", kTable));
  return Extender(table, bundle, "p.h5");
}

SiteFile Site() {
  return {{{"resnet", "resnet*", {{"v100", 4.0}, {"p100", 2.0}}}, {"job", "*", {{"k80", 1.0}}}}};
}

}  // namespace berth::fuzz

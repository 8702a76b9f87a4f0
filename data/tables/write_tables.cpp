#include "data/tables/write_tables.hpp"

#include <cmath>

#include "data/csv_file.hpp"
#include "data/tables/job_rows.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/shortest.hpp"

namespace berth {
namespace {

// A name that is empty is one, and not what nobody stated.
std::string Field(const std::string& text) {
  return text.empty() ? "\"\"" : CsvField(text);
}

std::string JoinedBy(char sign, const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += Join(text.empty() ? "" : std::string(1, sign), part);
  return text;
}

// "" where it may run everywhere.
std::string Allowed(std::uint64_t bits, const std::vector<GpuType>& types) {
  if (bits == ~std::uint64_t{0}) return "";
  std::vector<std::string> names;
  for (std::size_t g = 0; g < types.size(); ++g) {
    if ((bits >> g & 1U) != 0) names.push_back(types[g].name);
  }
  return JoinedBy('+', names);
}

std::string JobsCsv(const ScenarioData& data) {
  const JobTable& jobs = data.jobs;
  std::vector<std::string> header = {"id", "arrival", "steps", "gpus", "type"};
  const std::size_t per_job = jobs.size() == 0 ? 0 : jobs.demand.size() / U(jobs.size());
  const auto optional = [&](const char* name, bool there) {
    if (there) header.emplace_back(name);
  };
  optional("gpus_min", !jobs.gang_min.empty()), optional("gpus_max", !jobs.gang_max.empty());
  optional("weight", !jobs.weight.empty()), optional("deadline", !jobs.deadline.empty());
  optional("tenant", !jobs.tenant.empty()), optional("limit", !jobs.requested_s.empty());
  optional("allowed", !jobs.allowed.empty()), optional("share", !jobs.gpu_milli.empty());
  optional("share_qos", !jobs.qos.empty()), optional("batch_size", !jobs.batch_size.empty());
  optional("demand", per_job > 0);
  std::string text = JoinedBy(',', header) + "\n";
  for (std::size_t j = 0; j < U(jobs.size()); ++j) {
    std::vector<std::string> row = {std::to_string(jobs.id[j]), Shortest(jobs.arrival[j]),
                                    Shortest(jobs.total_steps[j]), std::to_string(jobs.gang[j]),
                                    Field(data.throughputs.job_types[U(jobs.job_type[j])])};
    const auto add = [&](const auto& column, const auto& cell) {
      if (!column.empty()) row.push_back(cell(column[j]));
    };
    const auto whole = [](int value) { return std::to_string(value); };
    const auto unless_none = [](double value) { return std::isfinite(value) ? Shortest(value) : ""; };
    add(jobs.gang_min, whole), add(jobs.gang_max, whole), add(jobs.weight, Shortest),
        add(jobs.deadline, unless_none);
    add(jobs.tenant,
        [&](int tenant) { return Field(data.tenants.empty() ? "default" : data.tenants[U(tenant)].name); });
    add(jobs.requested_s, unless_none);
    add(jobs.allowed, [&](std::uint64_t bits) { return Allowed(bits, data.cluster.types); });
    add(jobs.gpu_milli, whole), add(jobs.qos, [&](int qos) { return std::string(kQosNames[U(qos)]); });
    add(jobs.batch_size, [](int batch) { return batch > 0 ? std::to_string(batch) : std::string(); });
    if (per_job > 0) {
      std::vector<std::string> parts;
      for (std::size_t r = 0; r < per_job; ++r) parts.push_back(Shortest(jobs.demand[j * per_job + r]));
      row.push_back(JoinedBy('+', parts));
    }
    std::string line = row[0];
    for (std::size_t i = 1; i < row.size(); ++i) line += Join(",", row[i]);
    text += line + "\n";
  }
  return text;
}

std::string SpeedsCsv(const ScenarioData& data) {
  const ThroughputTable& table = data.throughputs;
  const std::size_t types = data.cluster.types.size(), sizes = table.gang_sizes.size(),
                    jobs = table.job_types.size();
  const bool spread = !table.unconsolidated.empty(), pairs = !table.pairs.empty();
  std::string text = Join("job_type,gpu_type,gpus,steps_per_s", spread ? ",spread_steps_per_s" : "",
                          pairs ? ",with" : "", "\n");
  for (std::size_t j = 0; j < jobs; ++j) {
    for (std::size_t s = 0; s < sizes; ++s) {
      for (std::size_t g = 0; g < types; ++g) {
        const std::size_t at = (j * sizes + s) * types + g;
        text += Join(Field(table.job_types[j]), ",", data.cluster.types[g].name, ",", table.gang_sizes[s],
                     ",", Shortest(table.alone[at]),
                     spread ? Join(",", Shortest(table.unconsolidated[at])) : "", pairs ? "," : "", "\n");
      }
    }
  }
  for (std::size_t a = 0; pairs && a < jobs; ++a) {
    for (std::size_t b = 0; b < jobs; ++b) {
      for (std::size_t g = 0; g < types; ++g) {
        const double* one = &table.pairs[((a * jobs + b) * types + g) * 2];
        const double* other = &table.pairs[((b * jobs + a) * types + g) * 2];
        if (one[0] != other[1] || one[1] != other[0])
          throw Error(Join("cannot be written as tables: the speeds of '", table.job_types[a], "' and '",
                           table.job_types[b], "' together differ by which of them is named first"));
        text += Join(Field(table.job_types[a]), ",", data.cluster.types[g].name, ",1,", Shortest(one[0]),
                     spread ? "," : "", ",", Field(table.job_types[b]), "\n");
      }
    }
  }
  return text;
}

std::string ClusterToml(const ScenarioData& data) {
  std::string text = Join("clock = ", TomlText(data.clock.ToString()),
                          "\nknowledge = ", TomlText(ToString(data.knowledge)), "\n");
  if (data.knowledge == Knowledge::kEstimate) text += Join("sigma = ", Shortest(data.estimate_sigma), "\n");
  if (data.features.any()) text += Join("features = ", TomlText(ToString(data.features)), "\n");
  const std::pair<const char*, double> costs[] = {{"checkpoint_cost", data.costs.checkpoint_s},
                                                  {"restore_cost", data.costs.restore_s},
                                                  {"migration_cost", data.costs.migration_s}};
  for (const auto& [name, seconds] : costs) {
    if (seconds > 0.0) text += Join(name, " = ", Shortest(seconds), "\n");
  }
  text += Join("origin = 0\n", data.seed != 0 ? Join("seed = ", data.seed, "\n") : "");
  for (const GpuType& type : data.cluster.types)
    text += Join("\n[[gpu]]\nname = ", TomlText(type.name), "\ncount = ", type.count,
                 "\nper_node = ", type.gpus_per_node, "\nmemory_gb = ", Shortest(type.memory_gb),
                 "\nbandwidth_gb_s = ", Shortest(type.bandwidth_gb_s),
                 "\nidle_power_w = ", Shortest(type.idle_power_w),
                 "\npeak_power_w = ", Shortest(type.peak_power_w),
                 "\nprice_per_hour = ", Shortest(type.price_per_hour), "\n");
  for (const Tenant& tenant : data.tenants)
    text += Join("\n[[tenant]]\nname = ", TomlText(tenant.name), "\nweight = ", Shortest(tenant.weight),
                 "\ninner_policy = ", TomlText(tenant.inner_policy), "\n");
  for (std::size_t j = 0; j < data.throughputs.job_types.size(); ++j) {
    std::string traits;
    ForEachColumn(data.traits, [&](const char* name, const std::vector<double>& column) {
      if (!column.empty() && !std::isnan(column[j])) traits += Join(name, " = ", Shortest(column[j]), "\n");
    });
    if (!traits.empty())
      text += Join("\n[[job_type]]\nname = ", TomlText(data.throughputs.job_types[j]), "\n", traits);
  }
  return text;
}

}  // namespace

std::string TomlText(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') {
      quoted += '\\';
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::snprintf(escaped, sizeof escaped, "\\u%04X", static_cast<unsigned>(c));
      quoted += escaped;
      continue;
    }
    quoted += c;
  }
  return quoted + "\"";
}

ScenarioTables TablesOf(const Scenario& scenario) {
  const ScenarioData& data = scenario.data();
  if (!data.believed.alone.empty() || !data.believed.pairs.empty())
    throw Error("cannot be written as tables: it holds rates that only schedulers believe");
  return {JobsCsv(data), SpeedsCsv(data), ClusterToml(data)};
}

}  // namespace berth

// berth forecast: when jobs that wait will start, and how often such forecasts were right.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "data/sacct/site.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "tools/forecast/moments.hpp"
#include "tools/forecast/slurm_usage.hpp"
#include "tools/next_steps.hpp"
#include "tools/progress.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr double kInterval = 0.8;

// One waiting job at one moment.
struct Row {
  double at;  // s
  std::int64_t id;
  int gang;
  StartForecast forecast;
  double actual;  // s from `at`; NaN = it never started
};

std::string InSpan(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (!std::isfinite(seconds)) return "later";
  if (seconds < 100.0) return Join(Fixed(seconds, 0), " s");
  if (seconds < 6000.0) return Join(Fixed(seconds / 60.0, 1), " min");
  return Join(Fixed(seconds / 3600.0, 1), " h");
}

std::vector<double> TimesOf(const Options& options) {
  std::vector<double> times;
  for (const std::string& word : SplitOutsideParentheses(options.Text("at"), ',')) {
    times.push_back(ParseNumber(word, options.Where("at")));
    if (!(times.back() >= 0.0) || (times.size() > 1 && times.back() <= times[times.size() - 2]))
      throw Error(
          Join(options.Where("at"), ": expected seconds that ascend, found '", options.Text("at"), "'"));
  }
  return times;
}

void Forecast(const PastMoment& past, const KnownStarts& starts, const std::string& spec,
              const ForecastOptions& how, std::vector<Row>& rows) {
  const StartMoment& moment = past.moment;
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(WithUsage(spec, moment), AllSchedulers());
  for (StartForecast& forecast : ForecastStarts(moment, *scheduler, spec, how)) {
    const std::size_t job = U(forecast.job);
    const double next = starts.Next(past.job[job], moment.now);
    rows.push_back({moment.now, moment.data.jobs.id[job], moment.data.jobs.gang[job], std::move(forecast),
                    next == kNever ? std::nan("") : next - moment.now});
  }
}

void PrintForecasts(const std::vector<Row>& rows, std::size_t most) {
  Table table({"job", "GPUs", "starts in", "from", "to"});
  std::vector<const Row*> order;
  for (const Row& row : rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(),
                   [](const Row* a, const Row* b) { return a->forecast.median < b->forecast.median; });
  for (std::size_t k = 0; k < std::min(most, order.size()); ++k) {
    const Row& row = *order[k];
    table.AddRow({Join(row.id), Join(row.gang), InSpan(row.forecast.median), InSpan(row.forecast.low),
                  InSpan(row.forecast.high)});
  }
  std::cout << table.ToString();
  if (order.size() > most) std::cout << "and " << order.size() - most << " more (--top)\n";
}

double Median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

Json PrintCalibration(const std::vector<Row>& rows, std::size_t moments) {
  int count = 0, earlier = 0, later = 0, behind = 0;
  std::vector<double> error, width;
  for (const Row& row : rows) {
    if (std::isnan(row.actual)) continue;
    const StartForecast& its = row.forecast;
    ++count;
    earlier += row.actual < its.low ? 1 : 0;
    later += row.actual > its.high ? 1 : 0;
    behind += row.actual > its.median ? 1 : 0;
    error.push_back(std::abs(its.median - row.actual));
    width.push_back(its.high - its.low);
  }
  if (count == 0) throw Error("--calibrate: expected jobs that wait at those moments, and start; found none");
  const int inside = count - earlier - later;
  const auto share = [&](int of) { return Join(Fixed(100.0 * of / count, 1), "%"); };
  Table table({"what happened", "inside the 80%", "earlier", "later", "behind the median"});
  table.AddRow({Join("to ", count, " forecasts at ", moments, " moments"), share(inside), share(earlier),
                share(later), share(behind)});
  std::cout << table.ToString() << "median width of the intervals " << InSpan(Median(width))
            << "; median distance of a start from its median " << InSpan(Median(error)) << "\n";
  return {{"forecasts", count},
          {"moments", moments},
          {"inside", inside / static_cast<double>(count)},
          {"earlier", earlier / static_cast<double>(count)},
          {"later", later / static_cast<double>(count)},
          {"behind_median", behind / static_cast<double>(count)},
          {"median_width_s", Median(width)},
          {"median_error_s", Median(error)}};
}

Json RowsJson(const std::vector<Row>& rows) {
  Json list = Json::array();
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  for (const Row& row : rows) {
    list.push_back({{"at_s", row.at},
                    {"id", row.id},
                    {"gpus", row.gang},
                    {"low_s", number(row.forecast.low)},
                    {"median_s", number(row.forecast.median)},
                    {"high_s", number(row.forecast.high)},
                    {"actual_s", number(row.actual)}});
  }
  return list;
}

}  // namespace

int RunForecast(const std::vector<std::string>& arguments) {
  Options options("forecast",
                  "[--scenario FILE | --workload SPEC --cluster CLUSTER] [--at SECONDS] [--scheduler SPEC] "
                  "[--calibrate] [--json FILE]",
                  "says when jobs that wait will start, with an interval of 80%");
  options.Group("Moment");
  options.Value("scheduler", "easy",
                "what starts jobs from then on; and until then, unless --before says otherwise");
  options.Value("before", "", "what started jobs until then [--scheduler]");
  options.Input("accounting",
                "who started when in truth: what sacct -P wrote and --scenario was converted from");
  options.Value("at", "",
                "seconds of the scenario, with --calibrate also several: 600,1200 [the longest queue]");
  options.Switch("calibrate", "how often starts were inside the interval, over moments");
  options.Value("moments", "40",
                "of --calibrate without --at: evenly over the decisions that leave jobs waiting");
  options.Value("members", "99", "times that a moment is played forward");
  options.Value("top", "20", "jobs that are shown, without --calibrate");
  AddScenarioOptions(options);
  options.Group("Jobs");
  options.Value("seed", "1000", "of the generated workload, where no --scenario is given");
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  ForecastOptions how;
  how.members = static_cast<int>(options.Integer("members", 9, 10000));
  how.interval = kInterval;
  const int count = static_cast<int>(options.Integer("moments", 1, 10000));
  const auto top = static_cast<std::size_t>(options.Integer("top", 1, 1000000));
  const bool calibrate = options.Bool("calibrate");
  std::vector<double> times = TimesOf(options);
  if (!calibrate && times.size() > 1)
    throw Error(Join(options.Where("at"), ": expected one moment without --calibrate, found ", times.size()));
  if (options.Given("moments") && (!calibrate || !times.empty()))
    throw Error(Join(options.Where("moments"),
                     ": expected --calibrate, and no --at: it says how many moments are calibrated"));
  if (options.Given("top") && calibrate)
    throw Error(Join(options.Where("top"), ": expected no --calibrate, which shows no single jobs"));
  const std::string spec = options.Text("scheduler"),
                    before = options.Text("before").empty() ? spec : options.Text("before");
  InOption(options, "scheduler", [&] { return MakeScheduler(spec, AllSchedulers()); });
  InOption(options, "before", [&] { return MakeScheduler(before, AllSchedulers()); });
  const auto seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  const Scenario scenario = EvaluationScenario(*ResolveWorkload(options).source, seed);

  const auto run = [&](const auto& past) {
    if (times.empty()) {
      times = calibrate ? past.Times(count) : std::vector<double>{past.LongestQueue()};
      if (times.empty() || times[0] == kNever)
        throw Error("forecast: expected jobs that wait at some time, found a scenario in which none does");
    }
    const std::vector<PastMoment> moments = past.At(times);
    if (moments.size() < times.size())
      throw Error(
          Join(options.Where("at"), ": expected times before the last job has ended, found ", times.back()));
    std::vector<Row> found;
    Progress progress("forecast");
    for (std::size_t k = 0; k < moments.size(); ++k) {
      progress.Update(static_cast<double>(k) / static_cast<double>(moments.size()), Join(k, " moments"));
      Forecast(moments[k], past.starts(), spec, how, found);
    }
    return found;
  };
  const std::string accounting = options.Text("accounting");
  if (const std::string conf = Beside(accounting, "slurm.conf"); !accounting.empty() && !conf.empty())
    options.AddRead("accounting", conf);
  const std::vector<Row> rows =
      accounting.empty() ? run(SimulatedPast(scenario, before)) : run(RecordedPast(scenario, accounting));
  Json json;
  std::cout << ScenarioText(scenario) << "\n";
  if (calibrate) {
    json = PrintCalibration(rows, times.size());
  } else {
    std::cout << "at " << Fixed(times[0], 0) << " s " << rows.size() << " jobs wait; under " << spec
              << ":\n\n";
    PrintForecasts(rows, top);
  }
  json["jobs"] = RowsJson(rows);
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  return 0;
}

}  // namespace berth

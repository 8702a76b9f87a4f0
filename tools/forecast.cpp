// berth forecast: when jobs that wait will start, and how often such forecasts were right.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "data/sacct/site.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/sim/metrics.hpp"
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

// What was found at all moments.
struct Forecasted {
  std::vector<Row> rows;
  std::size_t waiting = 0;  // jobs, of each moment
  std::size_t with = 0;     // moments that gave forecasts
  std::size_t without = 0;  // moments at which jobs wait and nothing can be forecast
  std::string why;          // of the last of these

  std::string Without() const { return Join("nothing can be forecast: ", why); }
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
              const ForecastOptions& how, Forecasted& found) {
  const StartMoment& moment = past.moment;
  const auto waiting = std::count_if(moment.jobs.begin(), moment.jobs.end(), [](const StartMoment::Job& job) {
    return job.phase == StartMoment::Phase::kWaiting;
  });
  const std::size_t before = found.rows.size();
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(WithUsage(spec, moment), AllSchedulers());
  for (StartForecast& forecast : ForecastStarts(moment, *scheduler, spec, how)) {
    const std::size_t job = U(forecast.job);
    const double next = starts.Next(past.job[job], moment.now);
    found.rows.push_back({moment.now, moment.data.jobs.id[job], moment.data.jobs.gang[job],
                          std::move(forecast), next == kNever ? std::nan("") : next - moment.now});
  }
  found.waiting += static_cast<std::size_t>(waiting);
  if (found.rows.size() > before) {
    ++found.with;
  } else if (waiting > 0) {
    ++found.without;
    found.why = WhyNoForecast(moment);
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

std::string Span(double seconds) {
  return std::isfinite(seconds) ? InSpan(seconds) : "beyond what was played";
}

Json NumberOrNull(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json PrintCalibration(const Forecasted& found, std::size_t moments) {
  int count = 0, earlier = 0, later = 0, behind = 0;
  std::vector<double> error, width;
  for (const Row& row : found.rows) {
    if (std::isnan(row.actual)) continue;
    const StartForecast& its = row.forecast;
    ++count;
    earlier += row.actual < its.low ? 1 : 0;
    later += row.actual > its.high ? 1 : 0;
    behind += row.actual > its.median ? 1 : 0;
    error.push_back(std::abs(its.median - row.actual));
    width.push_back(std::isfinite(its.high) ? its.high - its.low : kNever);  // both ends may be "later"
  }
  const std::string without = found.without == 0 ? ""
                                                 : Join("at ", found.without, " of ",
                                                        Counted(moments, "moment"), " ", found.Without());
  if (count == 0)
    throw Error(Join("--calibrate: expected jobs that wait at those moments, and start; found none",
                     without.empty() ? "" : "; ", without));
  const int inside = count - earlier - later;
  const auto share = [&](int of) { return Join(Fixed(100.0 * of / count, 1), "%"); };
  Table table({"what happened", "inside the 80%", "earlier", "later", "behind the median"});
  table.AddRow({Join("to ", Counted(count, "forecast"), " at ", Counted(found.with, "moment")), share(inside),
                share(earlier), share(later), share(behind)});
  std::sort(error.begin(), error.end());
  std::sort(width.begin(), width.end());
  const double median_error = Quantile(error, 0.5), median_width = Quantile(width, 0.5);
  std::cout << table.ToString() << "median width of the intervals " << Span(median_width)
            << "; median distance of a start from its median " << Span(median_error) << "\n";
  if (!without.empty()) std::cout << without << "\n";
  return {{"forecasts", count},
          {"moments", found.with},
          {"inside", inside / static_cast<double>(count)},
          {"earlier", earlier / static_cast<double>(count)},
          {"later", later / static_cast<double>(count)},
          {"behind_median", behind / static_cast<double>(count)},
          {"median_width_s", NumberOrNull(median_width)},
          {"median_error_s", NumberOrNull(median_error)}};
}

Json RowsJson(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"at_s", row.at},
                    {"id", row.id},
                    {"gpus", row.gang},
                    {"low_s", NumberOrNull(row.forecast.low)},
                    {"median_s", NumberOrNull(row.forecast.median)},
                    {"high_s", NumberOrNull(row.forecast.high)},
                    {"actual_s", NumberOrNull(row.actual)}});
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
    Forecasted found;
    Progress progress("forecast");
    for (std::size_t k = 0; k < moments.size(); ++k) {
      progress.Update(static_cast<double>(k) / static_cast<double>(moments.size()), Counted(k, "moment"));
      Forecast(moments[k], past.starts(), spec, how, found);
    }
    return found;
  };
  const std::string accounting = options.Text("accounting");
  if (const std::string conf = Beside(accounting, "slurm.conf"); !accounting.empty() && !conf.empty())
    options.AddRead("accounting", conf);
  const Forecasted found =
      accounting.empty() ? run(SimulatedPast(scenario, before)) : run(RecordedPast(scenario, accounting));
  Json json;
  std::cout << ScenarioText(scenario) << "\n";
  if (calibrate) {
    json = PrintCalibration(found, times.size());
  } else {
    std::cout << "at " << Fixed(times[0], 0) << " s " << Counted(found.waiting, "job waits", "jobs wait")
              << "; ";
    if (found.without > 0) {
      std::cout << found.Without() << "\n";
    } else {
      std::cout << "under " << spec << ":\n\n";
      PrintForecasts(found.rows, top);
    }
  }
  json["jobs"] = RowsJson(found.rows);
  json["waiting"] = found.waiting;
  json["moments_without"] = found.without;
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  return 0;
}

}  // namespace berth

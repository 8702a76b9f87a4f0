// Forecasters by hand, by their closed forms and by series that their models describe exactly.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "env/base/rng.hpp"
#include "env/predict/forecast/arrival_forecast.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

std::vector<double> AheadUpTo(const Forecaster& forecaster, int steps) {
  std::vector<double> values;
  for (int h = 1; h <= steps; ++h) values.push_back(forecaster.Ahead(h));
  return values;
}

}  // namespace

TEST_CASE("forecasts: naive ones by hand", "[forecast]") {
  const std::vector<double> history = {1, 2, 3, 4, 8};
  const auto last = MakeForecaster("last"), mean = MakeForecaster("mean"),
             season = MakeForecaster("seasonal_naive(season=3)");
  for (const auto& forecaster : {last.get(), mean.get(), season.get()}) {
    CHECK(forecaster->Ahead(1) == 0.0);
    forecaster->Fit(history);
  }
  CHECK(AheadUpTo(*last, 2) == std::vector<double>{8, 8});
  CHECK(AheadUpTo(*mean, 2) == std::vector<double>{3.6, 3.6});
  CHECK(AheadUpTo(*season, 5) == std::vector<double>{3, 4, 8, 3, 4});
  season->Add(5);
  CHECK(AheadUpTo(*season, 3) == std::vector<double>{4, 8, 5});
  season->Fit(std::vector<double>{2, 4});  // less than a season: the mean
  CHECK(season->Ahead(1) == 3);
}

TEST_CASE("forecasts: exponential smoothing weighs the past geometrically", "[forecast]") {
  const auto forecaster = MakeForecaster("exponential(alpha=0.5)");
  forecaster->Fit(std::vector<double>{10, 20, 20});  // 10, 15, 17.5
  CHECK(forecaster->Ahead(7) == 17.5);
  // (1 - a)^n y_0 + sum_k a (1 - a)^k y_{n-k}
  Stream stream(3, Purpose::kTest);
  std::vector<double> history;
  for (int t = 0; t < 50; ++t) history.push_back(stream.Uniform());
  const double alpha = 0.3;
  double expected = std::pow(1.0 - alpha, 49) * history[0];
  for (std::size_t k = 0; k < 49; ++k) expected += alpha * std::pow(1.0 - alpha, double(k)) * history[49 - k];
  const auto closed = MakeForecaster("exponential(alpha=0.3)");
  closed->Fit(history);
  CHECK(closed->Ahead(1) == Approx(expected).epsilon(1e-12));
  // Fitted: a random walk needs its last value, noise about a level the mean.
  std::vector<double> walk = {0.0}, noise;
  for (int t = 0; t < 400; ++t)
    walk.push_back(walk.back() + stream.Normal()), noise.push_back(stream.Normal());
  const auto fitted = MakeForecaster("exponential");
  fitted->Fit(walk);
  CHECK(std::abs(fitted->Ahead(1) - walk.back()) < 0.5);
  fitted->Fit(noise);
  CHECK(std::abs(fitted->Ahead(1)) < 0.5);
}

// With 0.2, 100 and eleven 0 are 100 x 0.8^11. Whoever fits to nothing, to one value, two or a constant learns no weight from it.
TEST_CASE("forecasts: weights that the past says nothing of are the defaults", "[forecast]") {
  for (const std::size_t fitted : {0, 1, 2, 12}) {
    CAPTURE(fitted);
    const auto exponential = MakeForecaster("exponential");
    exponential->Fit(std::vector<double>(fitted, 100.0));
    if (fitted == 0) exponential->Add(100.0);
    for (int t = 0; t < 11; ++t) exponential->Add(0.0);
    CHECK(exponential->Ahead(1) == Approx(100.0 * std::pow(0.8, 11)));
  }
  // Season 2, no value in any of ten steps; the level follows 8 by 0.2, its season by 0.1.
  const auto winters = MakeForecaster("holt_winters(season=2,damping=1)");
  winters->Fit(std::vector<double>(10, 0.0));
  winters->Add(8.0);
  CHECK(winters->Ahead(1) == Approx(0.2 * 8.0));
  CHECK(winters->Ahead(2) == Approx(0.2 * 8.0 + 0.1 * 8.0));
}

TEST_CASE("forecasts: Holt-Winters by hand", "[forecast]") {
  // Season 2, all weights 1/2, damping 1/2. From 1 3 5 7: seasons' means 2 and 6, so b = 2, the level before
  // the first value is 2 - 2 * 3 / 2 = -1, seasons are 0, the level at the last value 7.
  const auto forecaster = MakeForecaster("holt_winters(season=2,alpha=0.5,beta=0.5,gamma=0.5,damping=0.5)");
  forecaster->Fit(std::vector<double>{1, 3, 5, 7});
  CHECK(AheadUpTo(*forecaster, 2) == std::vector<double>{8, 8.5});  // 7 + 1, 7 + (1/2 + 1/4) 2
  // 10 where 8 was expected: l = 9, b = (9 - 7) / 2 + 1/2 * 1/2 * 2 = 1.5, its season 1.
  forecaster->Add(10);
  CHECK(AheadUpTo(*forecaster, 2) == std::vector<double>{9.75, 11.125});  // 9 + 0.75 + 0, 9 + 1.125 + 1
}

TEST_CASE("forecasts: Holt-Winters continues a line plus a season exactly", "[forecast]") {
  const double season[] = {3, -1, 4, -6};
  const auto series = [&](int t) { return 20.0 + 0.5 * t + season[t % 4]; };
  std::vector<double> history;
  for (int t = 0; t < 8; ++t) history.push_back(series(t));
  for (const char* spec : {"holt_winters(season=4,damping=1)",
                           "holt_winters(season=4,damping=1,alpha=0.7,beta=0.2,gamma=0.9)"}) {
    const auto forecaster = MakeForecaster(spec);
    forecaster->Fit(history);
    for (int t = 8; t < 40; ++t) {
      for (int h = 1; h <= 9; ++h) CHECK(forecaster->Ahead(h) == Approx(series(t + h - 1)).epsilon(1e-11));
      forecaster->Add(series(t));
    }
  }
}

TEST_CASE("forecasts: an autoregression finds the coefficients it was made with", "[forecast]") {
  // Without noise: y = 1 + 0.6 y(t-1) - 0.3 y(t-2), which swings.
  std::vector<double> y = {10, -7};
  while (y.size() < 60) y.push_back(1.0 + 0.6 * y[y.size() - 1] - 0.3 * y[y.size() - 2]);
  const auto forecaster = MakeForecaster("ar(order=2)");
  forecaster->Fit(std::vector<double>(y.begin(), y.begin() + 20));
  for (int h = 1; h <= 10; ++h) CHECK(forecaster->Ahead(h) == Approx(y[19 + std::size_t(h)]).epsilon(1e-6));
  // Adding moves on without fitting again.
  for (std::size_t t = 20; t < 50; ++t) forecaster->Add(y[t]);
  CHECK(forecaster->Ahead(1) == Approx(y[50]).epsilon(1e-6));
  // With noise, y = 0.8 y(t-1) + e: the estimate's standard error is sqrt((1 - 0.64) / n) = 0.0085, so after
  // 100 the forecast is 80 within 4.3 * 0.85 but once in 60,000.
  Stream stream(5, Purpose::kTest);
  std::vector<double> noisy = {0.0};
  while (noisy.size() < 5000) noisy.push_back(0.8 * noisy.back() + stream.Normal());
  const auto fitted = MakeForecaster("ar(order=1)");
  fitted->Fit(noisy);
  fitted->Add(100.0);
  CHECK(std::abs(fitted->Ahead(1) - 80.0) < 4.3 * 0.85);
  // A season beside it: y = y(t-7).
  std::vector<double> weekly;
  for (int t = 0; t < 70; ++t) weekly.push_back(t % 7 == 0 ? 5.0 : 1.0);
  const auto seasonal = MakeForecaster("ar(order=1,season=7)");
  seasonal->Fit(weekly);
  CHECK(seasonal->Ahead(1) == Approx(5.0).epsilon(1e-6));
  CHECK(seasonal->Ahead(2) == Approx(1.0).epsilon(1e-6));
  // A constant determines nothing, and is expected all the same.
  seasonal->Fit(std::vector<double>(70, 4.0));
  CHECK(seasonal->Ahead(3) == Approx(4.0).epsilon(1e-6));
}

TEST_CASE("forecasts: an autoregression that runs wild expects the mean", "[forecast]") {
  // Least squares make of these counts y(t) = 0.058 + ... + 1.94 y(t-3): 3 million 60 steps ahead.
  std::vector<double> counts(24, 0.0);
  counts[19] = 1.0, counts[22] = 2.0;
  const auto forecaster = MakeForecaster("ar");
  forecaster->Fit(counts);
  CHECK(forecaster->Ahead(60) == 3.0 / 24.0);
  for (int h = 1; h <= 60; ++h) CHECK(std::abs(forecaster->Ahead(h)) <= 4.0 * 2.0);
}

TEST_CASE("forecasts: every model, before it has seen enough and after", "[forecast]") {
  Stream stream(9, Purpose::kTest);
  for (const ForecasterInfo& info : Forecasters()) {
    CAPTURE(info.name);
    const auto forecaster = MakeForecaster(info.name);
    CHECK(forecaster->Ahead(3) == 0.0);
    std::vector<double> history;
    for (int t = 0; t < 120; ++t) {
      history.push_back(stream.Uniform());
      forecaster->Add(history.back());
      CHECK(std::isfinite(forecaster->Ahead(1)));
    }
    forecaster->Fit(history);
    const double ahead = forecaster->Ahead(2);
    CHECK((ahead > -1.0 && ahead < 2.0));
    forecaster->Fit(history);  // it forgot
    CHECK(forecaster->Ahead(2) == ahead);
    forecaster->Fit({});
    CHECK(forecaster->Ahead(1) == 0.0);
    const auto fresh = MakeForecaster(info.name);
    fresh->Fit({});
    for (int t = 0; t < 55; ++t) forecaster->Add(history[std::size_t(t)]), fresh->Add(history[std::size_t(t)]);
    CHECK(forecaster->Ahead(2) == fresh->Ahead(2));
  }
  CHECK_THROWS_WITH(MakeForecaster("holt_winter"),
                    "unknown forecaster 'holt_winter' (did you mean 'holt_winters'?)");
  CHECK_THROWS_WITH(MakeForecaster("holt_winters(alpha=2)"), Catch::Contains("alpha"));
  CHECK_THROWS_WITH(MakeForecaster("ar(p=2)"), Catch::Contains("'p'"));
}

TEST_CASE("arrival forecast: bins, the part of a bin that is left, never negative", "[forecast]") {
  ArrivalForecast forecast("last", 10.0);
  forecast.Reset(0.0);
  forecast.Advance(3.0);
  forecast.Count(2.0);
  CHECK(forecast.Expected(100.0) == 0.0);  // no bin has ended
  forecast.Advance(9.0);
  forecast.Count(1.0);
  forecast.Advance(14.0);  // bin 0 held 3
  CHECK(forecast.Expected(4.0) == Approx(0.4 * 3.0));
  CHECK(forecast.Expected(6.0 + 10.0 + 5.0) == Approx(2.1 * 3.0));
  forecast.Count(1.0);
  forecast.Advance(35.0);  // bins 1 and 2: 1 and 0
  CHECK(std::vector<double>(forecast.bins().begin(), forecast.bins().end()) == std::vector<double>{3, 1, 0});
  CHECK(forecast.Expected(50.0) == 0.0);
  forecast.Reset(100.0);  // bins begin anew: 100 to 110 is the first
  forecast.Count(2.0);
  forecast.Advance(109.0);
  CHECK(forecast.Expected(1.0) == 0.0);
  forecast.Advance(110.0);
  CHECK(forecast.Expected(10.0) == 2.0);
  // 6, 4, 2, 0 on a falling line would be -2 next.
  ArrivalForecast falling("holt_winters(season=2,alpha=1,beta=0,gamma=0,damping=1)", 1.0, 1000);
  falling.Reset(0.0);
  for (int t = 0; t < 4; ++t) {
    falling.Advance(t);
    falling.Count(6.0 - 2.0 * t);
  }
  falling.Advance(4.0);
  CHECK(falling.Expected(3.0) == 0.0);
}

TEST_CASE("arrival forecast: the model is that of the last fit that was due, whoever asked before", "[forecast]") {
  Stream stream(17, Purpose::kTest);
  std::vector<double> series;
  for (int t = 0; t < 100; ++t) series.push_back(std::floor(8.0 * stream.Uniform()) + t % 6);
  for (const char* spec : {"exponential", "holt_winters(season=6)", "ar(order=2)", "mean"}) {
    CAPTURE(spec);
    ArrivalForecast asked(spec, 1.0), silent(spec, 1.0);
    for (ArrivalForecast* it : {&asked, &silent, &silent}) {  // a Reset forgets what was fitted
      it->Reset(0.0);
      for (int t = 0; t < 100; ++t) {
        it->Count(series[std::size_t(t)]);
        it->Advance(t + 1.0);
        if (it == &asked) it->Expected(3.0);
      }
    }
    const auto plain = MakeForecaster(spec);
    plain->Fit(std::span(series).first(96));
    for (std::size_t t = 96; t < 100; ++t) plain->Add(series[t]);
    double sum = 0.0;
    for (int h = 1; h <= 3; ++h) sum += std::max(0.0, plain->Ahead(h));
    CHECK(asked.Expected(3.0) == sum);
    CHECK(silent.Expected(3.0) == sum);
    CHECK(ArrivalForecast(silent).Expected(3.0) == sum);
  }
}

TEST_CASE("arrival forecast: fits of a long past are a tenth of it apart", "[forecast]") {
  // Of ar, the model is in its coefficients: which bins it was fitted to shows in what it expects.
  Stream stream(19, Purpose::kTest);
  std::vector<double> series;
  ArrivalForecast forecast("ar(order=1)", 1.0);
  const std::size_t often = ArrivalForecast::kOften;
  const auto expected = [&series](std::size_t fitted) {
    const auto plain = MakeForecaster("ar(order=1)");
    plain->Fit(std::span(series).first(fitted));
    for (std::size_t t = fitted; t < series.size(); ++t) plain->Add(series[t]);
    return plain->Ahead(1);
  };
  const auto grow = [&](std::size_t bins) {
    while (series.size() < bins) {
      series.push_back(10.0 * stream.Uniform());
      forecast.Count(series.back());
      forecast.Advance(double(series.size()));
    }
  };
  for (const auto& [bins, fitted] : {std::pair{often - 1, often - 24}, std::pair{often + 24, often},
                                     std::pair{often + often / 10 - 1, often},
                                     std::pair{often + often / 10, often + often / 10}}) {
    grow(bins);
    CAPTURE(bins);
    CHECK(forecast.Expected(1.0) == expected(fitted));
    if (fitted + 24 <= bins) CHECK(forecast.Expected(1.0) != expected(fitted + 24));
  }
}

}  // namespace berth

// CMA-ES against what is known of it: the minimum of functions whose minimum is known, and the invariances
// that define it (Hansen, arXiv:1604.00772, §4).
#include "agents/search/cma_es.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace berth::search {
namespace {

template <class F>
std::vector<double> Minimise(const F& f, std::vector<double> start, int generations, std::uint64_t seed = 1) {
  const std::vector<double> scales(start.size(), 0.5);
  CmaEs search({start, scales}, seed);
  std::vector<double> values;
  for (int i = 0; i < generations; ++i) {
    values.clear();
    for (const std::vector<double>& x : search.Ask()) values.push_back(f(x));
    search.Tell(values);
  }
  return search.mean();
}

TEST_CASE("CMA-ES finds the minimum of an ill-conditioned ellipsoid", "[tune]") {
  const auto ellipsoid = [](const std::vector<double>& x) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double shifted = x[i] - static_cast<double>(i);
      sum += std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * shifted * shifted;
    }
    return sum;
  };
  const std::vector<double> found = Minimise(ellipsoid, std::vector<double>(8, 0.0), 600);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(static_cast<double>(i)).margin(1e-5));
}

TEST_CASE("CMA-ES follows Rosenbrock's curved valley", "[tune]") {
  const auto rosenbrock = [](const std::vector<double>& x) {
    double sum = 0.0;
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      sum += 100.0 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1.0 - x[i], 2);
    }
    return sum;
  };
  for (const double x : Minimise(rosenbrock, std::vector<double>(5, 0.0), 500)) {
    CHECK(x == Approx(1.0).margin(1e-4));
  }
}

TEST_CASE("CMA-ES sees only the order of the values, and repeats by seed", "[tune]") {
  const auto sphere = [](const std::vector<double>& x) { return x[0] * x[0] + 3.0 * x[1] * x[1]; };
  const auto bent = [&](const std::vector<double>& x) { return std::log(1e-9 + sphere(x)) + 7.0; };
  const std::vector<double> start{2.0, -1.0};
  CHECK(Minimise(sphere, start, 30) == Minimise(bent, start, 30));
  CHECK(Minimise(sphere, start, 30) != Minimise(sphere, start, 30, /*seed=*/2));
}

TEST_CASE("CMA-ES scales its coordinates", "[tune]") {
  const auto search = [](double unit) {
    const std::vector<double> start{unit, 2.0}, scales{unit, 0.5};
    CmaEs es({start, scales}, /*seed=*/3);
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) {
      values.clear();
      for (const std::vector<double>& x : es.Ask())
        values.push_back(std::abs(x[0] / unit - 0.3) + x[1] * x[1]);
      es.Tell(values);
    }
    return es.mean();
  };
  CHECK(search(1024.0)[0] == Approx(1024.0 * search(1.0)[0]).epsilon(1e-6));
}

}  // namespace
}  // namespace berth::search

// Times as logs write them, by hand, and what is no time.
#include "data/tables/times.hpp"

#include "tests/catch.hpp"
#include "tests/errors.hpp"

namespace berth {

using Catch::Matchers::Contains;
using test::MessageOf;

TEST_CASE("tables: moments and spans of time") {
  CHECK(ParseMoment("12.5", "t") == 12.5);
  CHECK(ParseMoment("1970-01-02", "t") == 86400.0);
  CHECK(ParseMoment("2024-03-01T10:00:00", "t") == 1709287200.0);  // date -u -d 2024-03-01T10:00:00 +%s
  CHECK(ParseMoment("2024-03-01 10:00:00.25Z", "t") == 1709287200.25);
  CHECK(ParseMoment("2024-03-01T10:00:00+02:00", "t") == 1709280000.0);
  CHECK(ParseMoment("2024-03-01T10:00-0130", "t") == 1709292600.0);
  for (const char* bad :
       {"2024-02-30", "2024-03-01T25:00:00", "2024-03-01T10", "2024-3-1", "2024-03-01T10:00:00X", "x", ""}) {
    CAPTURE(bad);
    CHECK_THAT(MessageOf([&] { ParseMoment(bad, "t"); }), Contains("t: expected a "));
  }
  const std::pair<const char*, double> spans[] = {{"90", 90.0},
                                                  {"1.5", 1.5},
                                                  {"2:30", 150.0},
                                                  {"02:03:04", 7384.0},
                                                  {"1-02:03:04", 93784.0},
                                                  {"2-00", 172800.0},
                                                  {"1-01:30", 91800.0},
                                                  {"1h30m", 5400.0},
                                                  {"2d", 172800.0},
                                                  {"45s", 45.0},
                                                  {"1d2h3m4.5s", 93784.5},
                                                  {"00:00:01.5", 1.5},
                                                  {"100:00:00", 360000.0}};
  for (const auto& [text, seconds] : spans) {
    CAPTURE(text);
    CHECK(ParseSpan(text, "d") == seconds);
  }
  for (const char* bad : {"1:75", "1:2:3:4", "1m2h", "1h1h", "h", "1-", ":5", "five", ""}) {
    CAPTURE(bad);
    CHECK_THAT(MessageOf([&] { ParseSpan(bad, "d"); }), Contains("d: expected "));
  }
}

}  // namespace berth

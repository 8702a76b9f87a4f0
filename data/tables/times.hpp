// Moments and spans of time as people and logs write them.
#pragma once

#include <string>

namespace berth {

// Is it written as a date, not as a number?
bool LooksLikeDate(const std::string& text);

// Is it a day of 1970 to 2099 in digits alone, 20240301? As a number it is one too.
bool IsDateOfDigits(const std::string& text);

// Seconds: of a number itself; of a date since 1970-01-01T00:00:00Z. Dates are ISO 8601: "2024-03-01",
// "2024-03-01 14:05:06.5", "2024-03-01T14:05:06+01:00", in UTC where they name no zone. Errors begin with
// `what`.
double ParseMoment(const std::string& text, const std::string& what);

// Seconds of "90", "1.5", "2:30" (minutes and seconds), "02:03:04", "1-02:03:04" (days first, as Slurm writes
// them) and "1h30m", "2d". Errors begin with `what`.
double ParseSpan(const std::string& text, const std::string& what);

}  // namespace berth

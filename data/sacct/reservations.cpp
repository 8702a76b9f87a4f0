#include "data/sacct/reservations.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "data/sacct/json_fields.hpp"
#include "data/sacct/pipe_file.hpp"
#include "env/base/slurm_conf.hpp"

namespace berth {
namespace {

constexpr const char* kName = "ReservationName";
constexpr std::size_t kMostReserved = 1'000'000;

// Of one file, whose nodes are limited: a list of a million takes a few letters.
struct Reservations {
  std::vector<Reservation> all;
  std::size_t nodes = 0;
  Reservation& Add(const std::string& where, Reservation one) {
    nodes += one.nodes.size();
    if (nodes > kMostReserved)
      throw Error(
          Join(where, ": expected at most ", kMostReserved, " nodes of all reservations, found more"));
    return all.emplace_back(std::move(one));
  }
};

// One reservation, whose times are checked; `start` and `end` are how its file calls them.
Reservation Made(const std::string& where, int line, const std::string& name, const std::string& nodes,
                 const std::vector<std::string>& flags, double from, double until, const std::string& start,
                 const std::string& end) {
  Reservation made;
  made.line = line, made.name = name, made.start = from, made.end = until;
  if (name.empty()) throw Error(Join(where, ": expected the name of a reservation, found none"));
  if (std::isnan(from))
    throw Error(Join(where, ": ", start, ": expected a time such as 2026-03-01T14:05:06, found none"));
  if (!(until > from)) throw Error(Join(where, ": ", end, ": expected a time after ", start, ", found none"));
  if (!nodes.empty()) made.nodes = ExpandHosts(nodes, where);
  made.maintenance = std::ranges::count(flags, "MAINT") > 0;
  return made;
}

std::vector<Reservation> OfSacctmgr(const std::string& path) {
  PipeFile file(path);
  // What is asked for as NodeNames stands under NodeName.
  for (const char* name : {"Name", "NodeName", "TimeStart", "TimeEnd", "Flags"}) file.Need(name);
  Reservations found;
  while (file.Next()) {
    found.Add(file.Where(),
              Made(file.Where(), file.line(), file.Text("Name"), file.Text("NodeName"),
                   SplitAt(file.Text("Flags"), ','), file.Moment("TimeStart", std::nan("")),
                   file.Moment("TimeEnd", std::numeric_limits<double>::infinity()), "TimeStart", "TimeEnd"));
  }
  return std::move(found.all);
}

bool Repeats(const std::vector<std::string>& flags) {
  return std::ranges::any_of(flags, [](const std::string& flag) {
    return flag == "HOURLY" || flag == "DAILY" || flag == "WEEKDAY" || flag == "WEEKEND" || flag == "WEEKLY";
  });
}

std::vector<Reservation> OfJson(const std::string& path) {
  Reservations found;
  for (const nlohmann::json& one : JsonList(path, "reservations", "scontrol show reservation --json")) {
    const int number = static_cast<int>(found.all.size()) + 1;
    const std::string where = Join(path, ": reservation ", number, " of the list");
    if (!one.is_object()) throw Error(Join(where, ": expected an object"));
    const JsonFields fields(one, where);
    std::vector<std::string> flags;
    if (const nlohmann::json* list = fields.Find("flags")) {
      if (!list->is_array()) fields.Wrong("flags", "a list", *list);
      for (const nlohmann::json& flag : *list) {
        if (!flag.is_string()) fields.Wrong("flags", "a list of texts", flag);
        flags.push_back(flag);
      }
    }
    Reservation made = Made(where, number, fields.Text("name"), fields.Text("node_list"), flags,
                            fields.Number("start_time", nullptr, std::nan("")),
                            fields.Number("end_time", nullptr, std::numeric_limits<double>::infinity()),
                            "start_time", "end_time");
    found.Add(where, std::move(made)).more_times = Repeats(flags);
  }
  return std::move(found.all);
}

// Words KEY=VALUE, over several lines or on one (-o); ReservationName begins the next.
class ScontrolReader {
 public:
  explicit ScontrolReader(const std::string& path) : file_(path) {
    for (std::string line; file_.Next(line);) {
      for (const std::string& word : SplitAt(line, ' ')) {
        const std::size_t equals = word.find('=');
        if (word.empty()) continue;
        if (equals == std::string::npos || (values_.empty() && !word.starts_with(kName)))
          throw Error(Join(file_.Where(), ": expected ", values_.empty() ? kName : "KEY",
                           "=VALUE, as scontrol show reservation writes, found '", word.substr(0, 60), "'"));
        if (word.starts_with(Join(kName, "=")) && !values_.empty()) Take();
        if (values_.empty()) where_ = file_.Where(), line_ = file_.number();
        const std::string value = word.substr(equals + 1);
        values_[word.substr(0, equals)] = value == "(null)" ? "" : value;
      }
    }
    if (values_.empty()) throw Error(Join(path, ": expected reservations, found an empty file"));
    Take();
  }
  Reservations found;

 private:
  void Take() {
    const auto moment = [&](const char* key) {
      const std::string& text = values_[key];
      if (!LooksLikeDate(text))
        throw Error(
            Join(where_, ": ", key, ": expected a time such as 2026-03-01T14:05:06, found '", text, "'"));
      return ParseMoment(text, Join(where_, ": ", key));
    };
    const double from = moment("StartTime"), until = moment("EndTime");
    const std::vector<std::string> flags = SplitAt(values_["Flags"], ',');
    Reservation made =
        Made(where_, line_, values_[kName], values_["Nodes"], flags, from, until, "StartTime", "EndTime");
    found.Add(where_, std::move(made)).more_times = Repeats(flags);
    values_.clear();
  }

  TextFile file_;
  std::map<std::string, std::string> values_;
  std::string where_;
  int line_ = 0;
};

}  // namespace

std::vector<Reservation> ReadReservations(const std::string& path) {
  const std::string text = ReadText(path);
  if (text.starts_with("No reservations in the system")) return {};
  if (LooksLikeJson(text)) return OfJson(path);
  const std::size_t line = std::min(text.find('\n'), text.size());
  return text.substr(0, line).find('|') != std::string::npos ? OfSacctmgr(path)
                                                             : ScontrolReader(path).found.all;
}

}  // namespace berth

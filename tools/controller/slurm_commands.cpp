#include "tools/controller/slurm_commands.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "data/json_depth.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "tools/controller/subprocess.hpp"

namespace berth {
namespace {

std::string LastLine(const std::string& text) {
  std::string last;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) last = text.substr(begin, end - begin);
    begin = end + 1;
  }
  return last;
}

// slurm_suspend error: X, slurm_update error: X
std::string Said(const std::string& error) {
  const std::string line = LastLine(AsUtf8(error));
  const std::size_t at = line.find("error: ");
  return at == std::string::npos ? line : line.substr(at + 7);
}

// Jobs' names are in it as their users wrote them, in any encoding: none may keep the others from being read.
Json Parse(const std::string& bytes, const std::string& what) {
  const std::string text = AsUtf8(bytes);
  CheckJsonDepth(text, what);
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    throw Error(Join(what, ": expected JSON, found '", AsUtf8(text.substr(0, 60)), "'"));
  return json;
}

}  // namespace

std::string UserName() {
  const passwd* const entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : Join("uid ", geteuid());
}

SlurmCommands::SlurmCommands(std::string recorded, double limit_s)
    : recorded_(std::move(recorded)), limit_s_(limit_s) {
  unsetenv("SLURM_TIME_FORMAT");       // times as ClockSkew reads them
  setenv("SLURM_BITSTR_LEN", "0", 1);  // whole lists of array tasks: else they are cut at 64 characters
}

std::string SlurmCommands::Run(const std::vector<std::string>& words) {
  const Ran ran = RunCommand(words, limit_s_);
  if (ran.exit == 127)
    throw Error(Join(words[0], ": expected Slurm's commands on PATH, found none (Debian: slurm-client)"));
  if (ran.timed_out) throw Error(Join(words[0], ": expected an answer within ", limit_s_, " s, found none"));
  if (ran.exit != 0) {
    const std::string said = Said(ran.error);
    throw Error(
        Join(words[0], ": expected success, found exit code ", ran.exit, said.empty() ? "" : ": " + said));
  }
  return ran.out;
}

SlurmState SlurmCommands::Read() {
  const bool live = recorded_.empty();
  // Jobs before nodes: a job that starts in between counts as somebody's GPUs for one look, and none is free
  // twice.
  // Without the states squeue leaves out what has ended from 24.05 on; how a job ended is learned from.
  const std::string squeue = live ? Run({"squeue", "--states=all", "--json"}) : "";
  // -d: slurmctld tells which GPUs are in use to who asks for details alone.
  const std::vector<std::string> by_sinfo = {"sinfo", "--json"},
                                 by_scontrol = {"scontrol", "-d", "show", "nodes", "--json"};
  std::string sinfo = live ? Run(nodes_by_scontrol_ ? by_scontrol : by_sinfo) : "";
  if (live && !squeue.empty() && squeue == last_squeue_ && sinfo == last_sinfo_) return state_;
  const std::string of_jobs = live ? "squeue --json" : recorded_ + "/squeue.json";
  std::string of_nodes = !live                ? recorded_ + "/sinfo.json"
                         : nodes_by_scontrol_ ? "scontrol -d show nodes --json"
                                              : "sinfo --json";
  const Json jobs = Parse(live ? squeue : ReadText(of_jobs), of_jobs);
  Json nodes = Parse(live ? sinfo : ReadText(of_nodes), of_nodes);
  if (live && nodes.contains("sinfo") && !nodes.contains("nodes")) {
    nodes_by_scontrol_ = true;
    of_nodes = "scontrol -d show nodes --json";
    sinfo = Run(by_scontrol), nodes = Parse(sinfo, of_nodes);
  }
  state_ = {VersionOf(jobs, of_jobs), JobsOf(jobs, of_jobs), NodesOf(nodes, of_nodes)};
  last_squeue_ = squeue, last_sinfo_ = sinfo;
  return state_;
}

std::string SlurmCommands::Config() {
  return recorded_.empty() ? Run({"scontrol", "show", "config"}) : "";
}

std::string SlurmCommands::Ask(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"scontrol"};
  all.insert(all.end(), words.begin(), words.end());
  const Ran ran = RunCommand(all, limit_s_);
  if (ran.timed_out) return Join("no answer within ", limit_s_, " s");
  if (ran.exit == 0) return "";
  const std::string said = Said(ran.error);
  return said.empty() ? Join("exit code ", ran.exit) : said;
}

std::string ConfigValue(const std::string& config, const std::string& key) {
  std::size_t begin = 0;
  while (begin < config.size()) {
    const std::size_t end = std::min(config.find('\n', begin), config.size());
    const std::string line = config.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || line.substr(0, line.find_first_of(" =")) != key) continue;
    const std::size_t first = line.find_first_not_of(' ', equals + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

std::string MissingRights(SlurmCommands& slurm, const std::string& config) {
  const std::string user = UserName(), slurm_user = ConfigValue(config, "SlurmUser");  // "slurm(64030)"
  if (geteuid() == 0 || slurm_user.substr(0, slurm_user.find('(')) == user) return "";
  std::string level;
  try {
    level = LastLine(
        slurm.Run({"sacctmgr", "-nP", "show", "user", "where", "name=" + user, "format=AdminLevel"}));
  } catch (const Error& error) {
    level = error.what();
  }
  if (level == "Operator" || level == "Administrator") return "";
  return Join("expected root, ", slurm_user,
              " or a user with AdminLevel=Operator (sacctmgr modify user name=", user,
              " set adminlevel=operator), found ", user, level.empty() ? "" : " with " + level);
}

double ClockSkew(const std::string& config, double now_s) {
  const std::string head = "Configuration data as of ";
  const std::size_t at = config.find(head);
  std::tm time{};
  if (at == std::string::npos ||
      strptime(config.c_str() + at + head.size(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr)
    return 0.0;
  // An hour that clocks repeat comes in summer time and without.
  double least = std::numeric_limits<double>::infinity();
  for (const int summer : {0, 1}) {
    std::tm local = time;
    local.tm_isdst = summer;
    const double skew = now_s - static_cast<double>(std::mktime(&local));
    const bool is_that = local.tm_hour == time.tm_hour && local.tm_min == time.tm_min;
    if (is_that && std::fabs(skew) < std::fabs(least)) least = skew;
  }
  return std::isfinite(least) ? least : 0.0;
}

}  // namespace berth

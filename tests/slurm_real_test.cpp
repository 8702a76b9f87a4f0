// A real Slurm on the loopback (tools/slurm/cluster): what its accounting is converted to is what was run.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

// Two nodes, and a job of each kind, whose ids are 1, 2, ... in this order. What fails ends the script, and the daemons with it.
constexpr const char* kRealRun = R"sh(set -eu
cluster=$1/tools/slurm/cluster
cat >sched.conf <<C
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,bf_resolution=1,batch_sched_delay=0
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
C
trap '"$cluster" stop slurm' EXIT
# The first free row of ports; another test, or a site's own Slurm, may have some.
for port in $(seq 41000 20 44000); do
  busy=
  for p in $(seq $port $((port + 9))); do (: <>/dev/tcp/127.0.0.1/$p) 2>/dev/null && busy=1; done
  [ -n "$busy" ] || break
done
PORT=$port ACCOUNTS='a b' QOS='urgent:100 normal:10' "$cluster" start slurm sched.conf 'v1:v100:2 k1:k80:2'
export SLURM_CONF=$PWD/slurm/slurm.conf
submit() { sbatch -o /dev/null --parsable "$@"; }
submit -A a --qos=urgent --gres=gpu:v100:2 -n 2 -t 2 --wrap 'sleep 3'
submit -A b --qos=normal --gres=gpu:1 -n 1 -t 1 -d afterok:1 --wrap 'sleep 1'
submit -A b --qos=normal --gres=gpu:k80:1 -n 1 -t 3 -a 1-2 --wrap 'sleep 2'
failed=$(submit -A a --qos=normal --gres=gpu:1 -n 1 -t 1 --wrap 'sleep 2; exit 3')
waits=$(submit -A a --qos=normal --gres=gpu:v100:2 -n 2 -t 1 --wrap 'sleep 1')
submit -A a --qos=normal -n 1 -t 1 --wrap 'sleep 1'
echo "$failed" >failed
scancel "$waits"
for _ in $(seq 60); do [ -n "$(squeue -h -o %i)" ] || break; sleep 0.5; done
for _ in $(seq 40); do
  sacct -a -D -X -P --format=JobIDRaw,JobID,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,\
ReqTRES,AllocTRES,NodeList,NNodes,Reservation,Constraints,SubmitLine >sacct.txt
  [ "$(grep -c . sacct.txt)" -lt 8 ] || grep -qE 'PENDING|RUNNING|Unknown\|[0-9]' sacct.txt || break
  sleep 0.5
done
cp slurm/slurm.conf .
)sh";

bool HaveSlurm() {
  return geteuid() == 0 &&
         std::system("command -v slurmctld slurmd slurmdbd sacct munged mariadbd >/dev/null 2>&1") == 0;
}

std::string RealRunText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("real Slurm: the accounting of a small run converts to what was run") {
  if (!HaveSlurm()) return test::Skip("needs root and Slurm: tools/setup --slurm");
  const test::TemporaryFolder folder;
  std::ofstream(folder / "run.sh") << kRealRun;
  const std::string command = "cd '" + folder.path() + "' && TZ=UTC timeout 80 bash run.sh " BERTH_SOURCE_DIR " >out.txt 2>error.txt";
  const int code = std::system(command.c_str());
  INFO(RealRunText(folder / "out.txt") << RealRunText(folder / "error.txt") << RealRunText(folder / "sacct.txt"));
  REQUIRE(code == 0);
  const Scenario scenario = FindFormat("sacct").read(folder / "sacct.txt", {});
  const ScenarioData& data = scenario.data();
  const JobTable& jobs = data.jobs;
  INFO(data.provenance);

  // As submitted. An array's tasks have ids of their own, of which only one is known; the job that failed tells its own.
  struct Real {
    std::string tenant, type;
    int gang;
    double limit, seconds;
    std::uint64_t allowed;  // bits: v100, k80
  };
  const auto of = [&](int job) {
    const auto j = static_cast<std::size_t>(job);
    return Real{data.tenants[static_cast<std::size_t>(jobs.tenant[j])].name,
                data.throughputs.job_types[static_cast<std::size_t>(jobs.job_type[j])], jobs.gang[j], jobs.requested_s[j],
                jobs.total_steps[j], jobs.allowed[j]};
  };
  const auto is = [](const Real& found, const Real& told) {
    // Slurm counts whole seconds between two moments of it, and a job starts and ends a little later than its script.
    return found.tenant == told.tenant && found.type == told.type && found.gang == told.gang && found.limit == told.limit &&
           found.allowed == told.allowed && found.seconds >= told.seconds && found.seconds <= told.seconds + 2.0;
  };
  std::map<std::int64_t, int> at;
  for (int job = 0; job < jobs.size(); ++job) at[jobs.id[static_cast<std::size_t>(job)]] = job;
  const std::int64_t failed = std::stoll(RealRunText(folder / "failed"));
  REQUIRE(jobs.size() == 5);
  REQUIRE((at.count(1) == 1 && at.count(2) == 1 && at.count(3) == 1 && at.count(failed) == 1));
  CHECK(is(of(at[1]), {"a/root", "main:urgent", 2, 120, 3, 1}));
  CHECK(is(of(at[2]), {"b/root", "main:normal", 1, 60, 1, 3}));
  const Real task{"b/root", "main:normal", 1, 180, 2, 2};
  CHECK(std::count_if(at.begin(), at.end(), [&](const auto& entry) { return is(of(entry.second), task); }) == 2);
  CHECK(is(of(at[failed]), {"a/root", "main:normal", 1, 60, 2, 3}));
  CHECK(ToString(data.features).find("after=2>1") != std::string::npos);
  CHECK(data.provenance.find("1 jobs without GPU are left out") != std::string::npos);
  CHECK(data.provenance.find("1 jobs were cancelled before they started") != std::string::npos);
  REQUIRE(data.cluster.types.size() == 2);
  CHECK((data.cluster.types[0].name == "v100" && data.cluster.types[0].count == 2 && data.cluster.types[0].gpus_per_node == 2));

  // All of it runs to its end under Slurm's own rules: job 2 starts behind job 1.
  const RunResult ran = test::RunOf(Join("slurm(conf=", folder / "slurm.conf", ")"), scenario);
  CHECK(ran.metrics.jobs == 5);
}

}  // namespace berth

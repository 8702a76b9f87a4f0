// A real Slurm on the loopback (tools/slurm/cluster): what its accounting is converted to is what was run.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "data/decisions/decisions.hpp"
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
for port in $(seq 21000 20 24000); do
  busy=
  for p in $(seq $port $((port + 9))); do (: <>/dev/tcp/127.0.0.1/$p) 2>/dev/null && busy=1; done
  [ -n "$busy" ] || break
done
PORT=$port ACCOUNTS='a b' QOS='urgent:100 normal:10' "$cluster" start slurm sched.conf 'v1:v100:2 k1:k80:2' || exit 77
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
scontrol create reservation ReservationName=maint StartTime=now Duration=1 Nodes=k1 Users=root Flags=MAINT
for _ in $(seq 40); do
  sacctmgr -P show reservation start=2020-01-01 format=Name,NodeNames,TimeStart,TimeEnd,Flags >reservations.txt
  ! grep -q maint reservations.txt || break
  sleep 0.5
done
cp slurm/slurm.conf .
)sh";

// The controller over a real Slurm: jobs that job_submit.lua holds start where the controller says; when it is killed, the watchdog lets those
// that it held yet go on, and new ones are not held.
constexpr const char* kControlled = R"sh(set -eu
tools=$1/tools/slurm berth=$2
mkdir -p slurm berth
cat >sched.conf <<C
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,batch_sched_delay=1,sched_interval=2
JobSubmitPlugins=lua
PartitionName=gpu Nodes=ALL Default=YES MaxTime=60 State=UP
C
sed "s|/var/lib/berth|$PWD/berth|; s|DEAD_S = 30|DEAD_S = 8|" "$tools/job_submit.lua" >slurm/job_submit.lua
controller= watchdog=
trap 'kill $controller $watchdog 2>/dev/null || true; "$tools/cluster" stop slurm' EXIT
for port in $(seq 24000 20 26000); do
  busy=
  for p in $(seq $port $((port + 9))); do (: <>/dev/tcp/127.0.0.1/$p) 2>/dev/null && busy=1; done
  [ -n "$busy" ] || break
done
PORT=$port ACCOUNTING=none "$tools/cluster" start slurm sched.conf 'v1:v100:2 k1:k80:2' || exit 77
export SLURM_CONF=$PWD/slurm/slurm.conf
submit() { sbatch -o /dev/null --parsable -t 1 "$@"; }
echo '{"classes": [{"name": "job", "steps_per_s": {"v100": 1.0, "k80": 0.5}}]}' >site.json
"$berth" serve --slurm --control --scheduler srpt --site site.json --only partition=gpu --poll 0.2 --out berth --socket berth/socket >serve.txt 2>&1 &
controller=$!
"$tools/watchdog" berth/heartbeat 8 2>watchdog.txt &
watchdog=$!
for _ in $(seq 100); do [ ! -f berth/heartbeat ] || break; sleep 0.1; done
submit --gres=gpu:2 --comment steps=4 --wrap 'sleep 6'
for _ in $(seq 100); do [ -z "$(squeue -h -t R -o %i)" ] || break; sleep 0.1; done  # 1 has the V100s
submit --gres=gpu:2 --comment steps=1 --wrap 'sleep 2'
submit --gres=gpu:k80:1 --comment steps=1 --wrap 'sleep 2'
submit --hold --gres=gpu:1 --wrap 'sleep 1'           # its user's own hold
for _ in $(seq 100); do [ "$(squeue -h -o %i)" != 4 ] || break; sleep 0.3; done
squeue -h -o '%i %r' >left
scontrol show job 4 >held
kill -9 $controller
submit --gres=gpu:1 --comment steps=1 --wrap 'sleep 1'
scontrol show job 5 | grep -E 'Priority|AdminComment' >arrived
for _ in $(seq 100); do [ "$(squeue -h -o %i)" != 4 ] || break; sleep 0.3; done
squeue -h -o '%i %r' >left_after
submit --gres=gpu:1 --wrap 'sleep 1'
scontrol show job 6 | grep -E 'Priority' >later
cp berth/decisions.jsonl .
)sh";

constexpr int kCannotStart = 77;  // of the scripts

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
  const std::string command = "cd '" + folder.path() + "' && TZ=UTC timeout 150 bash run.sh " BERTH_SOURCE_DIR " >out.txt 2>error.txt";
  const int code = std::system(command.c_str());
  INFO(RealRunText(folder / "out.txt") << RealRunText(folder / "error.txt") << RealRunText(folder / "sacct.txt"));
  if (WIFEXITED(code) && WEXITSTATUS(code) == kCannotStart)
    return test::Skip("needs a machine on which Slurm's daemons start: " + RealRunText(folder / "error.txt"));
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
  CHECK(data.provenance.find("1 times of a node in a reservation for maintenance") != std::string::npos);
  REQUIRE(data.cluster.types.size() == 2);
  CHECK((data.cluster.types[0].name == "v100" && data.cluster.types[0].count == 2 && data.cluster.types[0].gpus_per_node == 2));

  // All of it runs to its end under Slurm's own rules: job 2 starts behind job 1.
  const RunResult ran = test::RunOf(Join("slurm(conf=", folder / "slurm.conf", ")"), scenario);
  CHECK(ran.metrics.jobs == 5);
}

TEST_CASE("real Slurm: berth serve --slurm starts jobs, and Slurm goes on without it") {
  if (!HaveSlurm()) return test::Skip("needs root and Slurm: tools/setup --slurm");
  const test::TemporaryFolder folder;
  std::ofstream(folder / "run.sh") << kControlled;
  const std::string command =
      "cd '" + folder.path() + "' && timeout 150 bash run.sh " BERTH_SOURCE_DIR " " BERTH_BINARY " >out.txt 2>error.txt";
  const int code = std::system(command.c_str());
  INFO(RealRunText(folder / "out.txt") << RealRunText(folder / "error.txt") << RealRunText(folder / "serve.txt")
                                       << RealRunText(folder / "watchdog.txt") << RealRunText(folder / "decisions.jsonl"));
  if (WIFEXITED(code) && WEXITSTATUS(code) == kCannotStart)
    return test::Skip("needs a machine on which Slurm's daemons start: " + RealRunText(folder / "error.txt"));
  REQUIRE(code == 0);
  // Jobs 1 to 3 ran; the hold of a user is nobody's but the user's.
  CHECK(RealRunText(folder / "left") == "4 JobHeldUser\n");
  CHECK(RealRunText(folder / "left_after") == "4 JobHeldUser\n");
  // When the controller died its heartbeat was fresh, so that job 5 arrived held; it ran all the same. Job 6 did not arrive so.
  CHECK(RealRunText(folder / "arrived").find("Priority=0 ") != std::string::npos);
  CHECK(RealRunText(folder / "arrived").find("AdminComment=berth") != std::string::npos);
  CHECK(RealRunText(folder / "watchdog.txt").find("releases 5") != std::string::npos);
  CHECK(RealRunText(folder / "later").find("Priority=0 ") == std::string::npos);
  // Job 1 alone has the faster GPUs; job 2 would wait 4 s for them or take twice as long on the others: it goes at once.
  const RecordedStart first{0.0, 1, {2, 3}}, second{0.0, 2, {0, 1}};
  const std::vector<RecordedStart> starts = ReadDecisionStarts(folder / "decisions.jsonl");
  REQUIRE(starts.size() >= 3);
  CHECK((starts[0].job == first.job && starts[0].devices == first.devices));
  CHECK((starts[1].job == second.job && starts[1].devices == second.devices));
  CHECK((starts[2].job == 3 && starts[2].devices.size() == 1 && starts[2].devices[0] < 2));
}

}  // namespace berth

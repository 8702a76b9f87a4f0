// agents/SCALING.md and the files that it names: the commands of the batch script and of the manifest are run
// up to the training itself (--dry-run), by stand-ins of Slurm and Kubernetes, and the variables that the
// page lists are read.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using test::Slurp;
using test::TemporaryFolder;

const fs::path kRoot = BERTH_SOURCE_DIR;
const std::string kBatch = kRoot / "tools/examples/train.sbatch",
                  kManifest = kRoot / "tools/examples/pytorchjob.yaml";

void Program(const std::string& path, const std::string& body) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "#!/bin/bash\n" << body << "\n";
  fs::permissions(path, fs::perms::owner_all);
}

// The exit code; what it said is in said.txt.
int Shell(const TemporaryFolder& folder, const std::string& command) {
  const int status = std::system(
      Join("cd '", folder.path(), "' && timeout 60 bash -c '", command, "' >said.txt 2>&1 </dev/null")
          .c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The binary as `path`, which stops before it trains.
void DryBinary(const std::string& path) {
  Program(path, "exec '" BERTH_BINARY "' \"$@\" --dry-run");
}

}  // namespace

TEST_CASE("scaling: the batch script starts ranks with options that exist, and goes on where a run is") {
  const TemporaryFolder folder;
  DryBinary(folder / "berth");
  // More names than a pipe holds: a reader that stops at the first ends scontrol by SIGPIPE, and the script
  // with it.
  Program(folder / "bin/scontrol", "printf 'node%d\\n' $(seq 0 20000)");
  // Two tasks, one after the other, with the variables that srun sets.
  Program(folder / "bin/srun",
          "while [[ $1 == --* ]]; do echo \"srun $1\"; shift; done\n"
          "for task in 0 1; do\n"
          "  echo \"$MASTER_ADDR $MASTER_PORT\"\n"
          "  SLURM_PROCID=$task SLURM_LOCALID=$task SLURM_STEP_NUM_TASKS=2 \"$@\" || exit\n"
          "done");
  const std::string command =
      "export PATH=$PWD/bin:$PATH BERTH_BINARY=./berth SLURM_JOB_NODELIST=node[0-1] SLURM_JOB_ID=1234 "
      "SLURM_CPUS_PER_TASK=2;"
      " bash " +
      kBatch + " runs/a";
  const int code = Shell(folder, command);
  const std::string said = Slurp(folder / "said.txt");
  CAPTURE(said);
  REQUIRE(code == 0);
  const std::regex trained(
      "node0 21234\n[^]*agent ppo, network pair_scorer\\(width=8,skip=true\\), 8 members, 200,000,000 steps, "
      "256 "
      "environments\n");
  const std::regex planned("256 environments\n");
  const auto found = std::sregex_iterator(said.begin(), said.end(), planned);
  CHECK(std::regex_search(said, trained));
  CHECK_THAT(said, Contains("srun --kill-on-bad-exit=1\n") && Contains("srun --cpus-per-task=2\n"));
  CHECK(std::distance(found, std::sregex_iterator()) == 2);
  // The second time there is a checkpoint, which is not one: --resume says so.
  fs::create_directories(folder / "runs/a");
  std::ofstream(folder / "runs/a/checkpoint.h5") << "x";
  CHECK(Shell(folder, command) == 2);
  CHECK_THAT(Slurp(folder / "said.txt"), Contains("--resume: expected runs/a/config.ini"));
  // Settings that sbatch reads stand before the first command.
  std::ifstream in(kBatch);
  bool commands = false;
  int settings = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("#SBATCH --", 0) == 0) {
      CHECK_FALSE(commands);
      ++settings;
    } else if (!line.empty() && line[0] != '#') {
      commands = true;
    }
  }
  CHECK(settings >= 6);
}

TEST_CASE("scaling: the manifest is YAML of a training operator, and its command has options that exist") {
  const std::string python = test::Python(kRoot, "yaml");
  if (python.empty()) return test::Skip("needs Python with yaml (PyYAML, tools/setup)");
  const TemporaryFolder folder;
  std::ofstream(folder / "read.py") << R"(
import sys, yaml
jobs = list(yaml.safe_load_all(open(sys.argv[1])))
assert len(jobs) == 1
job = jobs[0]
assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v1", "PyTorchJob")
replicas = job["spec"]["pytorchReplicaSpecs"]
assert set(replicas) == {"Master", "Worker"} and replicas["Master"]["replicas"] == 1
for replica in replicas.values():
    pod = replica["template"]["spec"]
    claims = {v["name"] for v in pod["volumes"] if "persistentVolumeClaim" in v}
    [container] = pod["containers"]
    assert container["name"] == "pytorch"
    assert {m["name"] for m in container["volumeMounts"]} == claims
    assert container["command"] == ["/bin/bash", "-c"] and len(container["args"]) == 1
    open("command.sh", "w").write(container["args"][0])
)";
  const int read = Shell(folder, python + " read.py " + kManifest);
  CAPTURE(Slurp(folder / "said.txt"));
  REQUIRE(read == 0);
  DryBinary(folder / "build/release/berth");
  // What the operator sets in the second of four pods.
  CHECK(Shell(folder, "RANK=1 WORLD_SIZE=4 MASTER_ADDR=berth-master-0 MASTER_PORT=23456 bash command.sh") ==
        0);
  CHECK_THAT(Slurp(folder / "said.txt"), Contains("200,000,000 steps, 256 environments"));
}

TEST_CASE("scaling: the page's variables are those that are read") {
  const std::string page = Slurp(kRoot / "agents/SCALING.md"), code = Slurp(kRoot / "agents/ranks/world.cpp");
  std::set<std::string> listed, read;
  const std::regex row("\n\\| (`[^|]+`) \\|"), name("`([A-Z_]+)`"), quoted("\"([A-Z][A-Z_]+)\"");
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) {
    const std::string cell = (*it)[1];
    for (std::sregex_iterator v(cell.begin(), cell.end(), name); v != end; ++v) listed.insert((*v)[1]);
  }
  for (std::sregex_iterator it(code.begin(), code.end(), quoted), end; it != end; ++it) read.insert((*it)[1]);
  for (const char* of_libtorch :
       {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "NCCL_DEBUG", "TORCH_CPP_LOG_LEVEL"})
    CHECK(listed.erase(of_libtorch) == 1);
  CHECK(read.erase("TORCHELASTIC_USE_AGENT_STORE") == 1);  // in a sentence of the table
  CHECK(listed == read);
}

}  // namespace berth

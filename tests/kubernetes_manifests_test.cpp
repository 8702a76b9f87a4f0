// tools/examples/kubernetes: manifests that the API's published schemas take, that fit one another, and whose
// command serves.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "env/base/check.hpp"
#include "policies/bundle.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/extender_support.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/serve/extender_table.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Slurp;
using test::TemporaryFolder;

const std::string kCheckout = BERTH_SOURCE_DIR;
const std::string kManifests = kCheckout + "/tools/examples/kubernetes";

// What the script says of a folder of manifests, and whether it found nothing.
std::pair<bool, std::string> Checked(const std::string& python, const TemporaryFolder& folder,
                                     const std::string& manifests) {
  const std::string command = Join("cd '", folder.path(), "' && '", python, "' '", kCheckout,
                                   "/tests/check_manifests.py' '", manifests, "' >said.txt 2>&1");
  const bool well = std::system(command.c_str()) == 0;
  return {well, Slurp(folder / "said.txt")};
}

}  // namespace

TEST_CASE("kubernetes: the manifests are in the API's published schemas and fit one another") {
  const std::string python = test::Python(kCheckout, "kubernetes_validate, yaml");
  if (python.empty()) return test::Skip("needs Python with kubernetes-validate (tools/setup --python)");
  const TemporaryFolder folder;
  const auto [well, said] = Checked(python, folder, kManifests);
  CAPTURE(said);
  CHECK(well);
  CHECK_THAT(said, Contains("--table=/table/table.json"));

  // What the check would find: each of these is a mistake that Kubernetes, or kube-scheduler, would refuse or
  // misread.
  struct Mistake {
    const char *file, *from, *to, *expected;
  };
  for (const Mistake& mistake : {
           Mistake{"extender.yaml", "replicas: 1", "replica: 1", "replica"},
           {"extender.yaml", "replicas: 1", "replicas: one", "replicas"},
           {"extender.yaml", "scheme: HTTPS", "schema: HTTPS", "schema"},
           {"extender.yaml", "mountPath: /tls", "mountPath: /cert", "--tls-cert"},
           {"extender.yaml", "port: 8899", "port: 8898", ""},
           {"extender.yaml",
            "          image:", "          imagePullPolice: Always\n          image:", "imagePullPolice"},
           {"scheduler.yaml", "name: system:kube-scheduler", "name: cluster-admin", ""},
           {"scheduler.yaml", "  apiGroup: rbac.authorization.k8s.io\n", "", "roleRef"},
           {"scheduler-config.yaml", "enableHTTPS", "enableHttps", "no field enableHttps"},
           {"scheduler-config.yaml", "preemptVerb: preempt", "preemptVerb: evict", ""},
           {"scheduler-config.yaml", "svc:8899", "svc:8898", ""},
           {"scheduler-config.yaml", "ignorable: false", "ignorable: \"false\"", "ignorable: expected bool"},
           {"local-scheduler.yaml", "urlPrefix", "urlprefix", "no field urlprefix"},
           {"kustomization.yaml", "configMapGenerator", "configMapGenerators",
            "no field configMapGenerators"},
           {"gang-job.yaml", "parallelism: 2", "parallelism: 3", ""},
       }) {
    CAPTURE(mistake.file, mistake.from);
    const TemporaryFolder other;
    std::filesystem::copy(kManifests, other / "m");
    std::string text = Slurp(Join(kManifests, '/', mistake.file));
    const std::size_t at = text.find(mistake.from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string(mistake.from).size(), mistake.to);
    std::ofstream(Join(other / "m", '/', mistake.file)) << text;
    const auto [passed, found] = Checked(python, other, other / "m");
    CHECK_FALSE(passed);
    CHECK_THAT(found, Contains("Error") && Contains(mistake.expected));
  }
}

TEST_CASE("kubernetes: the container's command serves over TLS with the example's table") {
  const std::string python = test::Python(kCheckout, "kubernetes_validate, yaml");
  if (python.empty()) return test::Skip("needs Python with kubernetes-validate (tools/setup --python)");
  if (std::system("command -v openssl >/dev/null") != 0) return test::Skip("needs the program openssl");
  const TemporaryFolder folder;
  const auto [well, said] = Checked(python, folder, kManifests);
  REQUIRE(well);
  SaveBundle(test::serve::Bundle(), folder / "policy.h5");
  REQUIRE(
      std::system(Join("cd '", folder.path(),
                       "' && openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.crt -days 2 "
                       "-subj /CN=berth-extender.berth.svc >made 2>&1")
                      .c_str()) == 0);
  std::vector<std::string> arguments;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("=/");
    const std::string name = line.substr(line.rfind('/') + 1);
    if (line.rfind("--port=", 0) == 0) line = "--port=0";
    if (at != std::string::npos) {
      const std::string file = name == "table.json" ? kManifests + "/table.json" : folder / name;
      line = line.substr(0, at + 1) + file;
    }
    arguments.push_back(line);
  }
  arguments.push_back("--json=serve.json");
  const pid_t child = test::Start(folder, arguments);
  REQUIRE(child > 0);
  const int port = test::ServedPort(folder, child);
  CAPTURE(Slurp(folder / "out.txt"), Slurp(folder / "error.txt"));
  if (port > 0) {
    const std::string asked =
        Join("cd '", folder.path(),
             "' && printf 'GET /healthz HTTP/1.1\\r\\nHost: b\\r\\n\\r\\n' | timeout 30 openssl s_client "
             "-quiet -CAfile tls.crt -verify_return_error -verify_hostname berth-extender.berth.svc "
             "-connect 127.0.0.1:",
             port, " >answer 2>&1");
    CHECK(std::system(asked.c_str()) == 0);
    CHECK_THAT(Slurp(folder / "answer"), Contains("HTTP/1.1 200"));
  }
  kill(child, SIGTERM);  // as Kubernetes ends a pod
  CHECK(test::Wait(child) == 0);
  CHECK(port > 0);
}

}  // namespace berth

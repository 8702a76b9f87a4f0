// berth reproduce gavel: the reference's golden answers and recorded rounds (the experiments come elsewhere).
#include "env/check.hpp"
#include "tools/gavel_golden.hpp"
#include "tools/gavel_mechanism.hpp"
#include "tools/options.hpp"
#include "tools/reproductions.hpp"

namespace berth {

int ReproduceGavel(const std::vector<std::string>& arguments) {
  Options options("reproduce gavel", "--golden FILE | --mechanism DIR",
                  "checks the policies and the round mechanism against the reference's own records");
  options.Value("golden", "", "a file of golden policy vectors (.json)");
  options.Value("mechanism", "", "a folder of recorded rounds");
  if (!options.Parse(arguments)) return 0;
  if (options.Given("golden")) return CheckGavelGolden(options.Text("golden"));
  if (options.Given("mechanism")) return CheckGavelMechanism(options.Text("mechanism"));
  throw Error("reproduce gavel: expected --golden FILE or --mechanism DIR, found neither");
}

}  // namespace berth

// berth export: a trained scheduler as a bundle that needs no LibTorch, and as ONNX.
#include <filesystem>
#include <iostream>

#include "policies/bundle.hpp"
#include "tools/json.hpp"
#include "tools/learn_library.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/run_folder.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {

int RunExport(const std::vector<std::string>& arguments) {
  Options options("export", "RUN --out policy.h5 [--onnx policy.onnx]",
                  "freezes a trained scheduler for the simulator and for others");
  options.Positional("run", "the folder that berth train wrote");
  options.Output("out", "the policy to write (.h5): policy(file=...) runs it");
  options.Output("onnx", "the ONNX model to write: other programs run it, see tools/examples/README.md");
  if (!options.Parse(arguments)) return 0;

  ExportRequest request{options.Required("run"), options.Text("out"), options.Text("onnx"), SourceCommit()};
  if (request.policy_path.empty() && request.onnx_path.empty()) options.Required("out");
  const std::string checkpoint = request.run_dir + "/checkpoint.h5";
  if (std::filesystem::is_regular_file(request.run_dir)) {
    throw Error(Join("run: expected the folder that berth train wrote, found the file ", request.run_dir));
  }
  if (!std::filesystem::exists(checkpoint)) {
    throw Error(Join("run: expected ", checkpoint, ", found no such file"));
  }
  for (const char* file : kRunFiles) options.AddRead("run", request.run_dir + "/" + file);
  CheckWritable(request.policy_path, options.Where("out"), "policy");
  CheckWritable(request.onnx_path, options.Where("onnx"));
  CheckJsonWritable(options);
  const ExportOutcome outcome = OpenLearnLibrary().export_policy(request);

  Json json;
  json["run"] = request.run_dir;
  json["policy"] = request.policy_path;
  json["onnx"] = request.onnx_path;
  json["parameters"] = outcome.parameters;
  json["max_difference"] = outcome.max_difference;
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  const bool both = !request.policy_path.empty() && !request.onnx_path.empty();
  std::cout << request.policy_path << (both ? " and " : "") << request.onnx_path << " written, "
            << Thousands(static_cast<double>(outcome.parameters))
            << " parameters; checked: it decides as LibTorch does (scores within " << outcome.max_difference
            << ")\n";
  if (!request.policy_path.empty()) {
    std::cout << NextOfPolicy(request.policy_path, LoadBundle(request.policy_path).provenance.config);
  } else {
    std::cout << NextStep("the same policy as a file that Berth runs",
                          Join("export ", ForShell(request.run_dir), " --out policy.h5"));
  }
  return 0;
}

}  // namespace berth

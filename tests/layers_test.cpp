// The folders are layers (design.md §1): an include may only point down the list.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/catch.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;

// Which folders each may include, itself aside. `policies` and `agents` reach LibTorch; policies/*.cpp do
// not.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"env", {}},
    {"data", {"env"}},
    {"baselines", {"env"}},
    {"policies", {"env", "data"}},
    {"agents", {"env", "data", "policies"}},
    {"tools", {"env", "data", "baselines", "policies", "agents"}},
    {"python", {"env", "data", "tools"}},
    {"tests", {"env", "data", "baselines", "policies", "agents", "tools", "python"}},
};
// Outside libraries and the folders that may see them; everything else is the standard library or the system.
const std::map<std::string, std::set<std::string>> kLibraries = {
    {"Eigen/", {"baselines", "policies", "tools", "tests"}},
    {"hdf5.h", {"data", "tools", "tests"}},
    {"interfaces/highs_c_api.h", {"baselines"}},
    {"torch/", {"policies/learn", "agents", "tests/learn"}},
    {"ATen/", {"policies/learn", "agents", "tests/learn"}},
    {"c10/", {"policies/learn", "agents", "tests/learn"}},
    {"cuda_runtime.h", {"agents/cuda"}},
    {"ATen/cuda/", {"agents/cuda"}},
    {"c10/cuda/", {"agents/cuda"}},
    {"boost/", {"tools"}},
    {"httplib.h", {"tools/serve"}},
    {"nlohmann/", {"tools", "tests"}},
    {"nanobind/", {"python"}},
    {"catch2/", {"tests"}},
};

}  // namespace

TEST_CASE("no include points upward") {
  const std::regex include(R"(^\s*#\s*include\s*[<"]([^">]+)[">])");
  const fs::path root = BERTH_SOURCE_DIR;
  int files = 0, includes = 0;
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      ++files;
      const std::string where = fs::relative(entry.path().parent_path(), root).string();
      std::ifstream file(entry.path());
      std::string line;
      std::smatch match;
      while (std::getline(file, line)) {
        if (!std::regex_search(line, match, include)) continue;
        ++includes;
        const std::string target = match[1];
        CAPTURE(entry.path().string(), target);
        const std::string top = target.substr(0, target.find('/'));
        if (kMayInclude.count(top) > 0 && target.find('/') != std::string::npos) {
          CHECK((top == folder || allowed.count(top) > 0));
        }
        for (const auto& [library, users] : kLibraries) {
          if (target.rfind(library, 0) != 0) continue;
          const bool may = std::any_of(users.begin(), users.end(), [&](const std::string& user) {
            return where == user || where.rfind(user + "/", 0) == 0;
          });
          CHECK(may);
        }
      }
    }
  }
  CHECK(files > 50);
  CHECK(includes > 200);
}

}  // namespace berth

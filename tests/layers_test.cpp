// The folders are layers (env/ARCHITECTURE.md): an include may only point down the list.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

// Which folders each may include, itself aside. `policies` and `agents` reach LibTorch; policies/*.cpp do
// not.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"env", {}},
    {"data", {"env"}},
    {"baselines", {"env"}},
    {"policies", {"env", "data"}},
    {"agents", {"env", "data", "policies"}},
    {"tools", {"env", "data", "baselines", "policies", "agents"}},
    {"tests", {"env", "data", "baselines", "policies", "agents", "tools"}},
};
// The rooms of a folder, low to high: each may include itself and those before it. Every file is in one.
const std::map<std::string, std::vector<std::string>> kRooms = {
    {"env", {"base", "sim", "predict", "features", "gym"}},
    {"agents", {"tasks", "search", "nn", "gpu", "ranks", "learner", "ppo", "dqn", "train"}},
};
// Outside libraries and the folders that may see them; everything else is the standard library or the system.
const std::map<std::string, std::set<std::string>> kLibraries = {
    {"Eigen/", {"baselines", "policies", "agents/search", "tools", "tests"}},
    {"hdf5.h", {"data", "tools", "tests"}},
    {"interfaces/highs_c_api.h", {"baselines"}},
    {"torch/", {"policies/learn", "agents", "tests/learn"}},
    {"ATen/", {"policies/learn", "agents", "tests/learn"}},
    {"c10/", {"policies/learn", "agents", "tests/learn"}},
    {"cuda_runtime.h", {"agents/gpu/cuda"}},
    {"ATen/cuda/", {"agents/gpu/cuda"}},
    {"c10/cuda/", {"agents/gpu/cuda"}},
    {"boost/", {"tools"}},
    {"httplib.h", {"tools/serve"}},
    {"nlohmann/", {"data/sacct", "data/decisions", "tools", "tests"}},
    {"nanobind/", {"tools/python"}},
    {"Python.h", {"tools/python"}},
    {"catch2/", {"tests"}},
};

fs::path Root() {
  return BERTH_SOURCE_DIR;
}

std::vector<fs::path> Sources(const std::string& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(Root() / folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".hpp" || extension == ".cpp" || extension == ".cu" || extension == ".inc")
      files.push_back(entry.path());
  }
  return files;
}

std::vector<std::string> Includes(const fs::path& path) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^">]+)[">])");
  std::vector<std::string> found;
  std::ifstream file(path);
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, match, kInclude)) found.push_back(match[1]);
  }
  return found;
}

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the layers of a network are named in its description alone") {
  const std::set<std::string> everyday = {"value", "score", "type", "job", "done"};  // words of others too
  int names = 0;
  for (const char* network : {"pair_scorer(layers=3,skip=true)", "mlp"}) {
    for (const LayerSpec& layer : LayersOf(network, ObservationV1::Layout(4, 2), 9)) {
      if (everyday.count(layer.name) > 0) continue;
      ++names;
      for (const char* folder : {"policies", "agents", "tools"}) {
        for (const fs::path& path : Sources(folder)) {
          const std::string where = fs::relative(path, Root()).string();
          if (where.rfind("policies/networks/", 0) == 0) continue;
          if (where.rfind("tools/reproduce/", 0) == 0) continue;  // recipes say which layers are searched
          CAPTURE(path.string(), layer.name);
          CHECK(TextOf(path).find('"' + layer.name + '"') == std::string::npos);
        }
      }
    }
  }
  CHECK(names >= 10);
}

TEST_CASE("no include points upward between the rooms of a folder") {
  for (const auto& [folder, rooms] : kRooms) {
    // "base" of "env/base/check.hpp"; "" of another folder's
    const auto room_of = [&, top = folder + "/"](const std::string& path) {
      return path.rfind(top, 0) == 0 ? path.substr(top.size(), path.find('/', top.size()) - top.size()) : "";
    };
    for (const fs::path& path : Sources(folder)) {
      const std::string name = fs::relative(path, Root()).string();
      const auto own = std::find(rooms.begin(), rooms.end(), room_of(name));
      CAPTURE(name);
      CHECK(own != rooms.end());
      for (const std::string& target : Includes(path)) {
        const std::string room = room_of(target);
        if (room.empty()) continue;
        CAPTURE(target);
        const auto its = std::find(rooms.begin(), rooms.end(), room);
        CHECK(its <= own);
      }
    }
  }
}

TEST_CASE("nothing else stands at the top level") {
  const std::set<std::string> known = {"CMakeLists.txt", "CMakePresets.json",
                                       "pyproject.toml", "README.md",
                                       "CHANGELOG.md",   "CONTRIBUTING.md",
                                       "LICENSE",        "env",
                                       "data",           "baselines",
                                       "policies",       "agents",
                                       "tools",          "tests"};
  const TemporaryFolder folder;
  const std::string list = folder / "files";
  if (std::system(Join("git -C '", Root().string(), "' ls-files >'", list, "' 2>/dev/null").c_str()) != 0)
    return test::Skip("needs git and a checkout");
  std::ifstream files(list);
  int seen = 0;
  for (std::string file; std::getline(files, file); ++seen) {
    CAPTURE(file);
    CHECK((file[0] == '.' || known.count(file.substr(0, file.find('/'))) > 0));
  }
  CHECK(seen > 1000);
}

TEST_CASE("no include points upward") {
  int files = 0, includes = 0;
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const fs::path& path : Sources(folder)) {
      ++files;
      const std::string where = fs::relative(path.parent_path(), Root()).string();
      for (const std::string& target : Includes(path)) {
        ++includes;
        CAPTURE(path.string(), target);
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

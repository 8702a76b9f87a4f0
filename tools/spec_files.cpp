#include "tools/spec_files.hpp"

#include <filesystem>
#include <string_view>

#include "data/text_file.hpp"
#include "env/base/spec.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

// Where what begins at `begin` ends: at the next comma, semicolon or closing parenthesis of its own depth.
std::size_t EndOfValue(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (depth == 0 && std::string_view(",;)").find(text[i]) != std::string_view::npos) return i;
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
  }
  return text.size();
}

// Is the character at `i`, if there is one, what may stand beside a spec's name?
bool Beside(std::string_view text, std::size_t i) {
  return i >= text.size() || std::string_view("(),;=|: \t\r\n").find(text[i]) != std::string_view::npos;
}

// Is `name` somewhere in `text` a spec without the parameter `key`?
bool NamedWithout(std::string_view text, std::string_view name, const std::string& key) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && !Beside(text, at - 1)) || !Beside(text, end)) continue;
    if (end == text.size() || text[end] != '(') return true;
    if (text.substr(end, EndOfValue(text, end) - end).find(key + "=") == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<SpecFile> SpecFiles(const std::string& text) {
  std::vector<SpecFile> files;
  const std::string_view all = text;
  for (std::size_t at = all.find('='); at != std::string_view::npos; at = all.find('=', at + 1)) {
    const std::size_t before = at == 0 ? std::string_view::npos : all.find_last_of("(,;", at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = EndOfValue(all, at + 1);
    const std::string path = Trim(all.substr(at + 1, end - at - 1));
    if (!path.empty()) files.push_back({path, Trim(all.substr(begin, end - begin))});
  }
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      for (const ParamInfo& param : info.params) {
        const std::string usual = param.default_value;
        if (usual.ends_with(".h5") && NamedWithout(all, info.name, param.name))
          files.push_back({usual, info.name});
      }
    }
  }
  return files;
}

std::vector<std::string> FilesBehind(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  if (const std::string archive = ArchiveOf(path); !archive.empty()) files.push_back(archive);
  std::error_code none;  // no folder, or one that may not be read
  for (const auto& application : fs::directory_iterator(path, none)) {
    if (!application.is_directory(none)) continue;
    for (const auto& table : fs::directory_iterator(application.path(), none)) {
      if (table.path().extension() == ".csv") files.push_back(table.path().string());
    }
  }
  return files;
}

}  // namespace berth

// Files that an option's text names inside of specs: policy(file=P), hybrid(inner=policy(file=P)),
// failures(log=P).
#pragma once

#include <string>
#include <vector>

namespace berth {

struct SpecFile {
  std::string path;
  std::string said;  // the part of the text that names it: "file=P"
};

// Every value of a parameter at any depth of `text`, whatever the parameter is, since any of them may be a
// file's name; and the files that schedulers read where no parameter says which. Most are no files at all.
std::vector<SpecFile> SpecFiles(const std::string& text);

// The files that are read, beside one of that name, where `path` is named: the archive of a member
// (text_file.hpp); of a folder the tables in its folders, one for each application (feature goodput).
std::vector<std::string> FilesBehind(const std::string& path);

}  // namespace berth

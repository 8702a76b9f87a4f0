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

}  // namespace berth

// What a file, a text or this build is, in 16 digits: for results that are kept and must fit what is asked
// for.
#pragma once

#include <string>

namespace berth {

std::string TextHash(const std::string& text);
// Of a file's bytes. Error where it cannot be read.
std::string FileHash(const std::string& path);

// The build that makes results: its commit; where the tree had changes, that and a hash of the program and
// of the library that calls this.
const std::string& RunSource();

}  // namespace berth

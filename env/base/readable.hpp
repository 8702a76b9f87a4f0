// Input files are files: whoever waits for a pipe or reads a device waits for ever.
#pragma once

#include <string>

namespace berth {

// Throws Error, "PATH: ...", where there is no regular file that may be read.
void CheckReadable(const std::string& path);

}  // namespace berth

// write(2) until all is written.
#pragma once

#include <string_view>

namespace berth {

// All of `bytes` to an open file from where it stands, whatever is interrupted or written in part. 0 or the
// error (errno).
int WriteAll(int file, std::string_view bytes);

}  // namespace berth

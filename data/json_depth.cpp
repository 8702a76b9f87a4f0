#include "data/json_depth.hpp"

#include "env/base/check.hpp"

namespace berth {

void CheckJsonDepth(std::string_view text, const std::string& where) {
  constexpr int kDeepest = 256;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest)
        throw Error(Join(where, ": expected JSON nested at most ", kDeepest, " deep, found more"));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

}  // namespace berth

// The page's own files (page.html, page.css and the scripts of this folder), compiled in by
// tools/cmake/EmbedFiles.cmake.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace berth {

const std::map<std::string, std::string_view>& PageFiles();  // by name

}  // namespace berth

// Pictures are drawn by Python scripts beside the sources; a machine without Python gets a line instead.
#pragma once

#include <string>
#include <vector>

namespace berth {

// Runs tools/SCRIPT with BERTH_PYTHON, the repository's .venv, or python3 on the path. "" when it drew, else
// why it did not (the last line of what it wrote to standard error, which is kept from the terminal) and what
// to type.
std::string RunPlotScript(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace berth

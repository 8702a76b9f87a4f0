// Where the files lie that verbs open at run time: scripts, parts of pages, shipped policies.
#pragma once

#include <string>

namespace berth {

// The file or folder `inside` ("tools/report/page.css") of the folder that BERTH_HOME names, as the console
// script of a wheel does (tools/python/berth_command.py), else of the sources that this was compiled from.
// Need not exist.
std::string HomeFile(const std::string& inside);

// Whether BERTH_HOME says where the files are: this is no build of a checkout, and packages come by pip.
bool IsInstalled();

}  // namespace berth

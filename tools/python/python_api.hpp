// Python for the command line: what it opens for the scheduler python(file=...) (python_api.cpp), once Python
// is there.
#pragma once

#include <string>

namespace berth {

// Of libberth_python.so an interpreter (embedded.cpp), of the package the one that runs already (hosted.cpp);
// then `import berth`. "" or why it cannot. Once in a process.
std::string BeginPython();

}  // namespace berth

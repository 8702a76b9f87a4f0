#include "tools/gavel_mechanism.hpp"
#include "env/check.hpp"
namespace berth { int CheckGavelMechanism(const std::string& f) { throw Error(f); } }

// What lies in an HDF5 file, without knowing its kind: root attributes and datasets with type and shape.
#pragma once

#include <string>

#include "tools/json.hpp"

namespace berth {

// {"attributes": {name: value}, "datasets": [{"path", "type", "shape"}]}, sorted by name. Throws Error.
// Thread rule: one caller, while nobody else uses HDF5 (inspect is alone in its process).
Json Hdf5Contents(const std::string& path);

}  // namespace berth

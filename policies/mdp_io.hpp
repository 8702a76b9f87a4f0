// The decision process as attributes of a bundle or a checkpoint: one list of fields for both.
#pragma once

#include "data/hdf5_file.hpp"
#include "env/gym/mdp.hpp"

namespace berth {

void WriteMdp(h5::Writer& out, const MdpSpec& mdp);
// Throws Error naming the file and the attribute; an encoder that this build does not have is one.
MdpSpec ReadMdp(const h5::Reader& in);

}  // namespace berth

// Shared by the encoders of rigid jobs with requests.
#pragma once

#include <string>

#include "env/gym/mdp.hpp"

namespace berth {

// Throws Error that names `encoder` where the process is preemptive or knows no estimates.
void ExpectRigidJobs(const std::string& encoder, const MdpSpec& mdp);

}  // namespace berth

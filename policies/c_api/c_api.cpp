// The C API (berth.h) over ForeignDecider: sizes and pointers are checked here, exceptions end here.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/c_api/berth.h"
#include "policies/foreign_decider.hpp"

static_assert(sizeof(berth_job) == 64 && offsetof(berth_job, attained_steps) == 56 &&
                  sizeof(berth_gpu_type) == 16 && sizeof(berth_cluster) == 72 &&
                  sizeof(berth_policy_info) == 24,
              "part of the ABI: another layout is another BERTH_ABI_VERSION");
static_assert(sizeof(berth_job_details) == 16 && sizeof(berth_details) == 48 && sizeof(berth_command) == 20,
              "part of the ABI: another layout is another BERTH_ABI_VERSION");
static_assert(BERTH_PACK == static_cast<int>(berth::CommandKind::kPack) &&
              BERTH_START == static_cast<int>(berth::CommandKind::kStart));
static_assert(BERTH_ORACLE == static_cast<int>(berth::Knowledge::kOracle));

struct berth_policy {  // NOLINT(readability-identifier-naming): the name is C's
  explicit berth_policy(berth::PolicyBundle bundle, const char* path)
      : decider(std::move(bundle), path, berth::ForeignDecider::Answers::kCommands) {}
  berth::ForeignDecider decider;
  std::vector<berth::GpuType> types;  // scratch of one call, kept for its memory
  std::vector<berth::ForeignJob> jobs;
  std::vector<int> decided;
};

namespace berth {
namespace {

berth_status Say(berth_status status, const std::string& what, char* message, std::size_t size) {
  if (message != nullptr && size > 0) {
    const std::size_t n = std::min(what.size(), size - 1);
    std::memcpy(message, what.data(), n);
    message[n] = '\0';
  }
  return status;
}

// The status for an Error of `body`; everything else has its own.
template <class F>
berth_status Guarded(berth_status on_error, char* message, std::size_t size, const F& body) {
  try {
    return body();
  } catch (const Error& error) {
    return Say(on_error, error.what(), message, size);
  } catch (const std::bad_alloc&) {
    return Say(BERTH_OUT_OF_MEMORY, "out of memory", message, size);
  } catch (const std::exception& error) {
    return Say(BERTH_INTERNAL, error.what(), message, size);
  } catch (...) {
    return Say(BERTH_INTERNAL, "an unknown error", message, size);
  }
}

void CheckSize(const char* name, std::size_t expected, std::size_t found) {
  if (found != expected) {
    throw Error(Join(name, ": expected ", expected, " bytes (ABI version ", BERTH_ABI_VERSION, "), found ",
                     found, ": was the caller compiled with another berth.h?"));
  }
}

void CheckArray(const char* name, const void* array, std::size_t size, std::size_t most) {
  if (array == nullptr && size > 0) throw Error(Join(name, ": expected an array of ", size, ", found NULL"));
  if (size > most) throw Error(Join(name, ": expected at most ", most, ", found ", size));
}

// The cluster in our words; what it names lives in `policy` and with the caller.
ForeignCluster Take(berth_policy& policy, const berth_cluster& cluster) {
  CheckSize("berth_cluster.struct_size", sizeof(berth_cluster), cluster.struct_size);
  // Of an older header: without what was added since.
  if (cluster.job_size != offsetof(berth_job, attained_steps)) {
    CheckSize("berth_cluster.job_size", sizeof(berth_job), cluster.job_size);
  }
  CheckArray("types", cluster.types, cluster.num_types, 64);
  CheckArray("jobs", cluster.jobs, cluster.num_jobs, std::size_t{1} << 24);
  CheckArray("rates", cluster.rates, cluster.num_jobs * cluster.num_types, std::size_t{1} << 30);
  policy.types.resize(cluster.num_types);
  for (std::size_t i = 0; i < cluster.num_types; ++i) {
    if (cluster.types[i].name == nullptr) throw Error(Join("type ", i, ": expected a name, found NULL"));
    policy.types[i].name = cluster.types[i].name;
    policy.types[i].count = cluster.types[i].count;
  }
  policy.jobs.resize(cluster.num_jobs);
  for (std::size_t i = 0; i < cluster.num_jobs; ++i) {
    berth_job from = BERTH_JOB_INIT;
    std::memcpy(&from, reinterpret_cast<const char*>(cluster.jobs) + i * cluster.job_size, cluster.job_size);
    policy.jobs[i] = {from.arrival_s, from.remaining_steps, from.attained_s,
                      from.weight,    from.deadline_s,      from.requested_s,
                      from.gang,      from.running_on,      from.attained_steps};
  }
  return {cluster.now_s,
          policy.types,
          policy.jobs,
          {cluster.rates, cluster.num_jobs * cluster.num_types},
          cluster.changed != 0};
}

// Widths, pairs and who shares a GPU, into `to` and policy.jobs.
void TakeDetails(berth_policy& policy, const berth_cluster& cluster, const berth_details& details,
                 ForeignCluster& to) {
  CheckSize("berth_details.struct_size", sizeof(berth_details), details.struct_size);
  CheckSize("berth_details.job_size", sizeof(berth_job_details), details.job_size);
  const std::size_t jobs = cluster.num_jobs, types = cluster.num_types;
  if (details.max_width > 1 << 16)
    throw Error(Join("max_width: expected at most 65536, found ", details.max_width));
  if (details.jobs != nullptr) {
    for (std::size_t i = 0; i < jobs; ++i) {
      const berth_job_details& from = details.jobs[i];
      ForeignJob& job = policy.jobs[i];
      job.least = from.least, job.most = from.most, job.width = from.width, job.beside = from.beside;
    }
  }
  to.max_width = static_cast<int>(details.max_width);
  if (details.rates_by_width != nullptr)
    to.rates_by_width = {details.rates_by_width, jobs * details.max_width * types};
  if (details.pair_rates != nullptr) to.pair_rates = {details.pair_rates, jobs * jobs * types};
}

}  // namespace
}  // namespace berth

uint32_t berth_abi_version(void) {
  return BERTH_ABI_VERSION;
}

const char* berth_version(void) {
  return BERTH_VERSION;
}

berth_status berth_policy_load(const char* path, berth_policy** policy, char* message, size_t message_size) {
  using namespace berth;
  if (path == nullptr || policy == nullptr) {
    return Say(BERTH_BAD_ARGUMENT,
               "berth_policy_load: expected a path and where to put the policy, found NULL", message,
               message_size);
  }
  return Guarded(BERTH_BAD_FILE, message, message_size, [&] {
    h5::SetSourceCommit("library " BERTH_VERSION);  // who refuses a file says so
    PolicyBundle bundle = LoadBundle(path);
    return Guarded(BERTH_UNSUPPORTED, message, message_size, [&] {
      *policy = new berth_policy(std::move(bundle), path);
      return BERTH_OK;
    });
  });
}

berth_status berth_policy_get_info(const berth_policy* policy, berth_policy_info* info, char* message,
                                   size_t message_size) {
  using namespace berth;
  if (policy == nullptr || info == nullptr) {
    return Say(BERTH_BAD_ARGUMENT,
               "berth_policy_get_info: expected a policy and a berth_policy_info, found NULL", message,
               message_size);
  }
  return Guarded(BERTH_BAD_ARGUMENT, message, message_size, [&] {
    CheckSize("berth_policy_info.struct_size", sizeof(berth_policy_info), info->struct_size);
    const PolicyBundle& bundle = policy->decider.bundle();
    info->knowledge = static_cast<int32_t>(bundle.mdp.knowledge);
    info->preemptive = bundle.mdp.preemptive ? 1 : 0;
    info->any_cluster = FindArchitecture(ParseSpec(bundle.network).name).any_size ? 1 : 0;
    // With commands the layout's columns are theirs.
    info->num_types =
        policy->decider.commands() ? static_cast<int32_t>(bundle.gpu_types.size()) : bundle.layout.g;
    return BERTH_OK;
  });
}

berth_status berth_policy_decide(berth_policy* policy, const berth_cluster* cluster, int32_t* runs_on,
                                 size_t capacity, char* message, size_t message_size) {
  using namespace berth;
  if (policy == nullptr || cluster == nullptr || (runs_on == nullptr && capacity > 0)) {
    return Say(BERTH_BAD_ARGUMENT,
               "berth_policy_decide: expected a policy, a cluster and an output, found NULL", message,
               message_size);
  }
  return Guarded(BERTH_BAD_ARGUMENT, message, message_size, [&] {
    if (capacity < cluster->num_jobs) {
      return Say(BERTH_BUFFER_TOO_SMALL,
                 Join("runs_on: expected room for ", cluster->num_jobs, " jobs, found ", capacity), message,
                 message_size);
    }
    if (policy->decider.commands()) {
      return Say(BERTH_UNSUPPORTED,
                 Join("berth_policy_decide: expected a policy that only puts jobs on types, found one of ",
                      policy->decider.bundle().mdp.actions, ", which berth_policy_command runs"),
                 message, message_size);
    }
    const ForeignCluster taken = Take(*policy, *cluster);
    policy->decided.resize(cluster->num_jobs);
    policy->decider.Decide(taken, policy->decided);
    std::copy(policy->decided.begin(), policy->decided.end(), runs_on);
    return BERTH_OK;
  });
}

const char* berth_policy_actions(const berth_policy* policy) {
  return policy == nullptr ? nullptr : policy->decider.bundle().mdp.actions.c_str();
}

berth_status berth_policy_command(berth_policy* policy, const berth_cluster* cluster,
                                  const berth_details* details, berth_command* commands, size_t command_size,
                                  size_t capacity, size_t* num_commands, char* message, size_t message_size) {
  using namespace berth;
  if (policy == nullptr || cluster == nullptr || num_commands == nullptr ||
      (commands == nullptr && capacity > 0)) {
    return Say(BERTH_BAD_ARGUMENT,
               "berth_policy_command: expected a policy, a cluster and outputs, found NULL", message,
               message_size);
  }
  return Guarded(BERTH_BAD_ARGUMENT, message, message_size, [&] {
    CheckSize("command_size", sizeof(berth_command), command_size);
    if (capacity < cluster->num_jobs) {
      return Say(BERTH_BUFFER_TOO_SMALL,
                 Join("commands: expected room for ", cluster->num_jobs, " of them, found ", capacity),
                 message, message_size);
    }
    ForeignCluster taken = Take(*policy, *cluster);
    if (details != nullptr) TakeDetails(*policy, *cluster, *details, taken);
    std::size_t n = 0;
    for (const ForeignCommand& c : policy->decider.DecideCommands(taken))
      commands[n++] = {static_cast<int32_t>(c.kind), c.job, c.type, c.width, c.host};
    *num_commands = n;
    return BERTH_OK;
  });
}

void berth_policy_free(berth_policy* policy) {
  delete policy;
}

// tenants: whose jobs hold and want how much, as entities, and of each job what its tenant is due. A share is
// fair that goes by the weights of those who have jobs now (weighted max-min of one resource, without what a
// tenant cannot use). rho is finish-time fairness (Mahajan et al., Themis, NSDI 2020, section 3.1) with the
// jobs there are now, as env/sim/metrics.cpp has it with their mean over a job's life.
#include <algorithm>
#include <numeric>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/block_table.hpp"
#include "env/sim/entity_rows.hpp"

namespace berth {
namespace {

constexpr ParamInfo kTenantsParams[] = {
    {"most", "8",
     "tenants with a row of their own, 1 to 1024, of those with jobs now: who holds and wants most GPUs "
     "first, "
     "then by number"},
};
constexpr ChannelInfo kTenantsJob[] = {
    {"tenant_held", "GPUs that its tenant's jobs hold, over all", 0, 1},
    {"tenant_due", "what is fair for its tenant less that, over all", -1, 1},
    {"rho",
     "ln(its age and time left on its fastest type, over all its time on one of n parts of every type), n = "
     "jobs "
     "now, within [-3, 3]; 0 when blind",
     -3, 3},
};
constexpr ChannelInfo kTenant[] = {
    {"tenant", "1 = the row is a tenant's, or that of all further ones", 0, 1},
    {"tenants", kEntityCountMeaning, 0, 2},
    {"fair", "its weight over that of all tenants with jobs now", 0, 1},
    {"held", "GPUs that its jobs hold, over all", 0, 1},
    {"due", "fair less held", -1, 1},
    {"jobs", "ln(1 + its jobs) / 5", 0, 3},
    {"waiting", "ln(1 + its waiting jobs) / 5", 0, 3},
    {"wanted", "ln(1 + GPUs wanted by its waiting jobs / GPUs)", 0, 10},
    {"served", "its share of the GPU time that all jobs of now have had; 0 without knowledge", 0, 1},
    {"oldest", "ln(1 + time since its first waiting job arrived / 60 s) / 10; 0 = none waits", 0, 2},
    {"rho", "largest rho of its jobs; 0 when blind", -3, 3},
};
constexpr std::size_t kTenantChannels = std::size(kTenant);

class Tenants final : public EntityBlock {
 public:
  Tenants(int most, const BlockSetup& setup)
      : EntityBlock(most),
        sighted_(setup.knowledge >= Knowledge::kEstimate),
        attains_(setup.knowledge >= Knowledge::kBlind) {}

  void Begin(const ClusterView& view) override {
    all_.assign(std::max<std::size_t>(1, view.tenants().size()), {});
    for (std::size_t t = 0; t < view.tenants().size(); ++t) all_[t].weight = view.tenants()[t].weight;
    order_.reserve(all_.size());
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    Count(view);
    const double gpus = view.num_whole_gpus();
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const int job = input.visible[row];
      const Tenant& tenant = all_[U(view.TenantOf(job))];
      float* f = out.jobs[row];
      f[0] = static_cast<float>(tenant.held / gpus);
      f[1] = static_cast<float>(Fair(tenant) - tenant.held / gpus);
      f[2] = static_cast<float>(Rho(view, job));
    }
    WriteEntities(out.entities, most_, order_.size(), kTenantChannels, /*edges=*/0, scratch_,
                  [&](std::size_t i, float* f) { WriteOne(view, all_[U(order_[i])], f); });
  }

 private:
  struct Tenant {
    double weight = 1.0;
    int jobs = 0, waiting = 0;
    double held = 0.0, wanted = 0.0, attained = 0.0, first_arrival = kNever, rho = -3.0;
  };

  void Count(const ClusterView& view) {
    for (Tenant& tenant : all_) tenant = {.weight = tenant.weight};
    attained_ = weight_ = 0.0;
    for (const int job : view.active()) {
      Tenant& tenant = all_[U(view.TenantOf(job))];
      ++tenant.jobs;
      tenant.rho = std::max(tenant.rho, Rho(view, job));
      if (attains_) tenant.attained += view.AttainedWholeGpuSeconds(job);
      if (view.IsRunning(job)) {
        tenant.held += Held(view, job);
      } else {
        ++tenant.waiting;
        tenant.wanted += view.Gang(job);
        tenant.first_arrival = std::min(tenant.first_arrival, view.Arrival(job));
      }
    }
    order_.clear();
    for (std::size_t t = 0; t < all_.size(); ++t) {
      if (all_[t].jobs == 0) continue;
      order_.push_back(static_cast<int>(t));
      attained_ += all_[t].attained, weight_ += all_[t].weight;
    }
    const auto wants = [&](int t) { return all_[U(t)].held + all_[U(t)].wanted; };
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return wants(a) > wants(b); });
  }

  // GPUs: of two jobs on one each half, of a part its part, of slices theirs.
  static double Held(const ClusterView& view, int job) {
    const std::span<const int> devices = view.Devices(job);
    const double part = view.PartOfGpu(view.TypeOf(job));
    if (!view.PartHolders(devices.front()).empty()) return view.GpuMilli(job) / 1000.0 * part;
    return static_cast<double>(devices.size()) * part / (view.Partner(job) >= 0 ? 2.0 : 1.0);
  }

  double Fair(const Tenant& tenant) const { return weight_ > 0.0 ? tenant.weight / weight_ : 0.0; }

  double Rho(const ClusterView& view, int job) const {
    if (!sighted_) return 0.0;
    const double jobs = view.num_active(), gang = view.Gang(job);
    double share = 0.0, rate = 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) <= 0.0 || view.cluster().types[U(type)].part.whole >= 0) continue;
      const double part = view.cluster().types[U(type)].count / jobs / gang;
      share += part, rate += part * view.Rate(job, type);
    }
    if (share > 1.0) rate /= share;
    const double shared = view.now() - view.Arrival(job) + view.RemainingSteps(job) / view.BestRate(job);
    const double isolated = view.TotalSteps(job) / rate;
    if (!(shared > 0.0 && isolated > 0.0)) return 0.0;
    return std::clamp(Log(shared / isolated), -3.0, 3.0);
  }

  void WriteOne(const ClusterView& view, const Tenant& tenant, float* f) const {
    const double gpus = view.num_whole_gpus();
    f[2] = static_cast<float>(Fair(tenant));
    f[3] = static_cast<float>(tenant.held / gpus);
    f[4] = static_cast<float>(Fair(tenant) - tenant.held / gpus);
    f[5] = static_cast<float>(Log(1.0 + tenant.jobs) / 5.0);
    f[6] = static_cast<float>(Log(1.0 + tenant.waiting) / 5.0);
    f[7] = static_cast<float>(Log(1.0 + tenant.wanted / gpus));
    f[8] = attained_ > 0.0 ? static_cast<float>(tenant.attained / attained_) : 0.0F;
    f[9] = tenant.waiting > 0 ? LogMinutes(view.now() - tenant.first_arrival) : 0.0F;
    f[10] = sighted_ ? static_cast<float>(tenant.rho) : 0.0F;
  }

  bool sighted_, attains_;
  std::vector<Tenant> all_;
  std::vector<int> order_;  // those with jobs now
  double attained_ = 0.0, weight_ = 0.0;
};

}  // namespace

BlockInfo TenantsBlock() {
  BlockInfo info{"tenants", 1,
                 "entities: tenants, what they hold, want and are due; and what a job's tenant is due",
                 "weighted fair shares; Themis (Mahajan et al., NSDI 2020)"};
  info.params = kTenantsParams;
  info.job = kTenantsJob;
  info.entity = kTenant;
  info.make = MakeEntityBlock<Tenants>;
  return info;
}

}  // namespace berth

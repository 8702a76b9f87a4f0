#include "baselines/slurm/priority.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "env/base/index.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

struct TreeUser {
  std::size_t tenant;
  double level;  // shares over usage among its siblings
};
struct TreeAccount {
  double weight = 1.0, usage = 0.0, level = 0.0;
  double inside = 0.0;  // weights of its users
  std::vector<TreeUser> users;
};

std::map<std::string, TreeAccount> AccountsOf(const std::vector<std::string>& tenants,
                                              const std::vector<double>& weights,
                                              const std::vector<double>& usage) {
  std::map<std::string, TreeAccount> accounts;
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    const std::size_t slash = tenants[t].find('/');
    TreeAccount& account = accounts[tenants[t].substr(0, slash)];
    if (slash == std::string::npos) account.weight = weights[t];
    account.usage += usage[t];
    account.inside += weights[t];
    account.users.push_back({t, 0.0});
  }
  return accounts;
}

}  // namespace

std::vector<SlurmClass> ClassesOf(const ClusterView& view, const SlurmSettings& settings,
                                  const std::vector<SlurmQos>& qos) {
  std::vector<SlurmClass> classes;
  for (const std::string& type : view.throughputs().job_types) {
    const std::size_t colon = type.find(':');
    const std::string partition = type.substr(0, colon),
                      level = colon == std::string::npos ? "" : type.substr(colon + 1);
    SlurmClass its{settings.default_partition, -1};
    for (std::size_t p = 0; p < settings.partitions.size(); ++p) {
      if (settings.partitions[p].name == partition) its.partition = static_cast<int>(p);
    }
    for (std::size_t q = 0; q < qos.size(); ++q) {
      if (qos[q].name == level) its.qos = static_cast<int>(q);
    }
    classes.push_back(its);
  }
  return classes;
}

double SlurmLimit(const ClusterView& view, int job, const SlurmPartitionRules& partition) {
  double limit = view.Requested(job);
  if (std::isnan(limit)) limit = std::min(partition.default_time, partition.max_time);
  if (limit == kUnlimited) limit = RequestedSeconds(view, job);
  return std::min(limit, kSlurmYear);
}

std::vector<double> FairTreeFactors(const std::vector<std::string>& tenants,
                                    const std::vector<double>& weights, const std::vector<double>& usage) {
  std::map<std::string, TreeAccount> accounts = AccountsOf(tenants, weights, usage);
  const auto level = [](double share, double shares, double used, double all) {
    return used > 0.0 && all > 0.0 ? share / shares / (used / all) : kUnlimited;
  };
  double shares = 0.0, used = 0.0;
  for (const auto& [name, account] : accounts) shares += account.weight, used += account.usage;
  std::vector<TreeAccount*> order;
  for (auto& [name, account] : accounts) {
    account.level = level(account.weight, shares, account.usage, used);
    for (TreeUser& user : account.users)
      user.level = level(weights[user.tenant], account.inside, usage[user.tenant], account.usage);
    order.push_back(&account);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const TreeAccount* a, const TreeAccount* b) { return a->level > b->level; });
  std::vector<double> factors(tenants.size(), 1.0);
  const std::size_t all =
      tenants.size() + 1;  // with root, who shares the first rank with others that used nothing
  std::size_t rank = all;
  if (used <= 0.0) return factors;
  if (order[0]->level != kUnlimited) --rank;  // root's alone
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::vector<TreeUser> users;
    for (end = begin; end < order.size() && order[end]->level == order[begin]->level; ++end)
      users.insert(users.end(), order[end]->users.begin(), order[end]->users.end());
    std::stable_sort(users.begin(), users.end(),
                     [](const TreeUser& a, const TreeUser& b) { return a.level > b.level; });
    std::size_t shared = rank;
    for (std::size_t u = 0; u < users.size(); ++u, --rank) {
      if (u == 0 || users[u].level != users[u - 1].level) shared = rank;
      factors[users[u].tenant] = static_cast<double>(shared) / static_cast<double>(all);
    }
    if (order[begin]->level == kUnlimited) --rank;  // root's
  }
  return factors;
}

std::vector<double> ClassicShareFactors(const std::vector<std::string>& tenants,
                                        const std::vector<double>& weights, const std::vector<double>& usage,
                                        double dampening) {
  const std::map<std::string, TreeAccount> accounts = AccountsOf(tenants, weights, usage);
  double shares = 1.0, used = 0.0;  // root's own share
  for (const auto& [name, account] : accounts) shares += account.weight, used += account.usage;
  std::vector<double> factors(tenants.size(), 1.0);
  if (used <= 0.0) return factors;
  for (const auto& [name, account] : accounts) {
    for (const TreeUser& user : account.users) {
      const double share = weights[user.tenant] / account.inside;
      const double own = usage[user.tenant] / used, above = account.usage / used;
      factors[user.tenant] =
          FairShareFactor((own + (above - own) * share) / dampening, share * account.weight / shares);
    }
  }
  return factors;
}

SlurmPriority::SlurmPriority(const SlurmSettings& settings, const std::vector<SlurmQos>& qos)
    : settings_(settings), qos_(qos), usage_(settings.half_life) {
  for (const SlurmPartitionRules& partition : settings.partitions)
    most_factor_ = std::max(most_factor_, static_cast<double>(partition.job_factor));
  for (const SlurmQos& level : qos) most_qos_ = std::max(most_qos_, level.priority);
}

void SlurmPriority::Reset(const ClusterView& view) {
  usage_.Reset(view);
  fair_share_.assign(U(NumTenants(view)), 1.0);
  since_.assign(U(view.num_jobs()), std::numeric_limits<double>::quiet_NaN());
  priority_.assign(U(view.num_jobs()), 0.0);
  next_ = -kNever;
}

double SlurmPriority::Age(const ClusterView& view, int job) const {
  return std::max(0.0, view.now() - since_[U(job)]);
}

// As Slurm's for nodes and CPUs, with GPUs in the place of CPUs.
double SlurmPriority::SizeFactor(const ClusterView& view, int job, double limit_s) const {
  int nodes_in_all = 0, per_node = 1;
  for (const GpuType& type : view.cluster().types) {
    if (type.count == 0 || type.part.whole >= 0) continue;
    nodes_in_all += (type.count + type.gpus_per_node - 1) / type.gpus_per_node;
    per_node = std::max(per_node, type.gpus_per_node);
  }
  const double all = std::max(1, nodes_in_all), gpus = std::max(1, view.num_whole_gpus());
  const double gang = view.Gang(job), nodes = std::ceil(gang / per_node);
  double factor = 0.0;
  if (settings_.relative_to_time) {
    const double minutes = std::max(1.0, limit_s / 60.0);
    factor = std::max(nodes * gpus / all, gang) / minutes / gpus;
    if (settings_.favor_small) factor = 1.0 - factor;
  } else {
    factor = (nodes / all + gang / gpus) / 2.0;
    if (settings_.favor_small) factor = 1.0 - factor;
  }
  return std::clamp(factor, 0.0, 1.0);
}

double SlurmPriority::Score(const ClusterView& view, int job, const SlurmClass& its,
                            const SlurmNodeTable& nodes, double when) const {
  const double age = std::clamp((when - since_[U(job)]) / settings_.max_age, 0.0, 1.0);
  double score = settings_.weight_age * age;
  if (settings_.weight_fair_share > 0.0)
    score += settings_.weight_fair_share * fair_share_[U(view.TenantOf(job))];
  const SlurmPartitionRules& partition = settings_.partitions[U(its.partition)];
  if (settings_.weight_size > 0.0)
    score += settings_.weight_size * SizeFactor(view, job, SlurmLimit(view, job, partition));
  score += settings_.weight_partition * partition.job_factor / most_factor_;
  if (its.qos >= 0 && most_qos_ > 0.0) score += settings_.weight_qos * qos_[U(its.qos)].priority / most_qos_;
  if (settings_.weight_gpu > 0.0)
    score += settings_.weight_gpu * view.Gang(job) / std::max(1, nodes.GpusIn(view, its.partition));
  return std::floor(std::max(1.0, score));  // Slurm keeps whole numbers; 0 is for held jobs
}

void SlurmPriority::Observe(const ClusterView& view, const std::vector<SlurmClass>& classes,
                            const SlurmNodeTable& nodes) {
  const double now = view.now();
  const bool due = now >= next_;
  if (settings_.multifactor && settings_.weight_fair_share > 0.0) usage_.Observe(view);
  if (due && settings_.multifactor && settings_.weight_fair_share > 0.0) {
    std::vector<std::string> names;
    std::vector<double> weights, usage;
    for (int t = 0; t < NumTenants(view); ++t) {
      names.push_back(view.tenants().empty() ? "default" : view.tenants()[U(t)].name);
      weights.push_back(TenantWeight(view, t));
      usage.push_back(usage_.usage(t));
    }
    fair_share_ = settings_.fair_tree
                      ? FairTreeFactors(names, weights, usage)
                      : ClassicShareFactors(names, weights, usage, settings_.fair_share_dampening);
  }
  const double period = settings_.calc_period, phase = settings_.calc_phase;
  const double tick = std::floor((now - phase) / period) * period + phase;
  for (int job : view.waiting()) {
    double& since = since_[U(job)];
    const bool is_new = std::isnan(since);
    // Who has run before, or was here when the scheduler came, has waited since it arrived.
    if (is_new) since = next_ == -kNever || view.LastTypeOf(job) >= 0 ? view.Arrival(job) : now;
    if (settings_.multifactor && (is_new || due)) {
      const SlurmClass& its = classes[U(view.JobType(job))];
      priority_[U(job)] = Score(view, job, its, nodes, std::max(is_new ? now : tick, since));
    }
  }
  const bool time_counts =
      settings_.multifactor && (settings_.weight_age > 0.0 || settings_.weight_fair_share > 0.0);
  if (due) next_ = time_counts ? tick + settings_.calc_period : kNever;
}

}  // namespace berth

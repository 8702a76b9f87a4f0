#include "tools/docs/pages.hpp"

#include <regex>
#include <span>
#include <utility>

#include "env/gym/encoder.hpp"
#include "env/gym/mdp.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/task_placement.hpp"
#include "tools/docs/examples.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr const char* kMade = "<!-- made by berth_tests --update-golden 'docs*'; do not edit -->\n\n";

// A cell of a table: a bar would end it.
std::string Cell(const std::string& text) {
  return std::regex_replace(text, std::regex("\\|"), "\\|");
}

std::string Channels(const char* block, const char* shape, std::span<const ChannelInfo> channels) {
  if (channels.empty()) return "";
  std::string text = Join("\n`", block, "` ", shape, "\n\n| channel | meaning | range |\n|---|---|---|\n");
  for (const ChannelInfo& channel : channels) {
    text += Join("| `", channel.name, "` | ", Cell(channel.meaning), " | ", channel.low, " to ", channel.high,
                 " |\n");
  }
  return text;
}

std::string Lists() {
  std::string text = "\n| encoder | blocks | what | source |\n|---|---|---|---|\n";
  for (const EncoderInfo& info : Encoders()) {
    text += Join("| `", info.name, "` | `", info.Blocks(), "` | ", Cell(info.summary), " | ",
                 Cell(info.source), " |\n");
  }
  return text;
}

// Where a list has them in another order than its blocks.
std::string Order(const EncoderInfo& info) {
  std::string text;
  const auto add = [&](const char* part, bool differs, std::span<const ChannelInfo> channels) {
    if (!differs) return;
    text += Join("- `", info.name, "`, `", part, "`:");
    for (const ChannelInfo& channel : channels) text += Join(" `", channel.name, "`");
    text += "\n";
  };
  add("jobs", !info.order.job.empty(), info.job);
  add("pairs", !info.order.pair.empty(), info.pair);
  add("types", !info.order.type.empty(), info.type);
  add("global", !info.order.global.empty(), info.global);
  return text;
}

std::string Observations() {
  std::string text = Lists();
  text +=
      "\nChannels stand in the order of the blocks, the first of a job is `present`, 1 where the row is a "
      "job's "
      "(`RLScheduler` has none), but for\n\n";
  for (const EncoderInfo& info : Encoders()) text += Order(info);
  for (const BlockInfo& info : Blocks()) {
    text += Join("\n### `", info.name, ":", info.version, "`\n\n", info.summary, ". Source: ", info.source,
                 ".\n");
    for (const ParamInfo& param : info.params)
      text += Join("- `", param.name, "=", param.default_value, "`: ", Cell(param.help), "\n");
    text += Channels("jobs", "[Q, channels], a row a visible job", info.job);
    text += Channels("entities", "[most + 1, channels], rows behind those of jobs", info.entity);
    text += Channels("pairs", "[Q, G, channels], a job on a GPU type", info.pair);
    text += Channels("types", "[G, channels], a row a GPU type", info.type);
    text += Channels("global", "[channels]", info.global);
  }
  return text;
}

std::string RewardTerms() {
  std::string text = "\n| term | the return of an episode is | paid | source |\n|---|---|---|---|\n";
  for (const RewardInfo& info : Rewards()) {
    text += Join("| `", info.name, "` | ", Cell(info.summary), " | ",
                 info.terminal ? "at the end" : "every step", " | ", Cell(info.source), " |\n");
  }
  return text;
}

std::string TaskPlacementSection() {
  const TaskPlacementOptions defaults;
  const ChannelInfo channels[] = {TaskPlacement::Channel(0, defaults.episode_jobs),
                                  TaskPlacement::Channel(1, defaults.episode_jobs)};
  return Join(
      "\n## `TaskPlacement-v0`\n\nThe environment of the textbooks, for [Python](../tools/python/README.md) ",
      "(`env/gym/task_placement.hpp`): one task at a time, the one that has waited longest; where no GPU "
      "can ",
      "take it, time passes until one can. Tasks run to their ends, on a cluster without features. ",
      "N = GPUs of the cluster.\n\nObservation float32 `[1 + N]`: `", channels[0].name, "`, then `",
      channels[1].name, "` of each GPU in the order of the cluster.\n",
      Channels("global", "[1 + N]", channels),
      "\nAction `Discrete(N)`: the GPU that takes the task at hand; a gang also takes the lowest-numbered ",
      "other idle GPUs of the type. Masked are GPUs that are not idle, and those of types that cannot run ",
      "the task or lack room for its gang.\n\nReward, every step: `", defaults.reward,
      "` (the default), minus the mean of the utilisations that the step's observation shows; or a sum of ",
      "the terms above. `discount = exp(-dt / tau)`, tau ", defaults.tau_s,
      " s; an episode terminates when its tasks are done and is truncated after ", defaults.episode_jobs,
      " arrivals, both unless a keyword says otherwise.\n");
}

std::string ActionKinds() {
  std::string text;
  for (const ActionInfo& info : Actions()) {
    text += Join("\n### `", info.name, "`\n\n", info.summary, ".\n", Channels("jobs", "[Q, Fj]", info.row),
                 Channels("pairs", "[Q, G, Fp]", info.pair), Channels("types", "[G, Ft]", info.column));
  }
  return text;
}

}  // namespace

std::string ReferencePage() {
  const MdpSpec mdp;
  return Join(
      "# Observation, action, reward\n\n", kMade,
      "What `berth train` offers a learner, as the code declares it. The process, where no option is given "
      "and none is "
      "`auto`, is `",
      mdp.ToString(),
      "`; `berth train` itself works out `--encoder auto` (ObservationV3 without features) and `--tau auto`. "
      "Options `--encoder`, `--semantics`, `--preemptive`, `--knowledge`, `--order`, `--visible`, "
      "`--reward` and "
      "`--tau` change it. Q = visible jobs (",
      mdp.visible,
      "), G = GPU types of the cluster. The environment of the textbooks, `TaskPlacement-v0`, stands at the "
      "end.\n\n"
      "## Observation\n\nOne row of float32 a decision: `jobs` [Q, Fj], `pairs` [Q, G, Fp], `types` [G, Ft] "
      "and "
      "`global` [Fg], one after the other. An encoder is a list of blocks that lie side by side in them: "
      "any, "
      "as "
      "`--encoder 'observation(blocks=queue:1+prices:1+power:1)'`, with parameters as "
      "`lookahead:1(hour=2)`, or one that has a name. Blocks are never edited, a change is a new version; "
      "what is "
      "not named costs nothing (`env/gym/encoder.hpp`, `env/sim/observation_block.hpp`).\n",
      Observations(),
      "\n## Action\n\n`Discrete(Q * G + 1)`, without the last under semantics `commit`. Action `q * G + g` "
      "puts visible "
      "job `q` on GPU type `g`; the last, `done`, ends the decision point and lets time pass. Illegal "
      "actions are masked "
      "(`env/gym/action_mask.hpp`) and at least one is legal. Under `redecide` a decision point is a "
      "sequence of "
      "actions until "
      "`done`; under `commit` one action picks the job that starts next and waits until it fits.\n\n"
      "With more kinds of commands (`--actions`) Q and G are the rows and columns of a grid: beside the jobs "
      "stand rows of what kinds are about, beside `start` on each type the columns of each kind, and the "
      "kinds' channels stand behind those of the blocks (`env/gym/actions`).\n",
      ActionKinds(),
      "\nTime passes at `done` alone, so `discount = exp(-dt / tau)` is 1 within an instant; tau is ",
      mdp.tau_s,
      " s unless `--tau` says otherwise. An episode terminates when its jobs are done and is truncated after "
      "`--episode-jobs` arrivals where more would come, unless the reward is paid at the end; truncation "
      "bootstraps from the final observation. Under `commit` the cut waits until the chosen job has started, "
      "which may be long after the last of these arrivals: the step is paid for all of that time.\n\n"
      "## Reward\n\nA sum of named terms with weights, `jct+0.5*slowdown`; the default is `",
      mdp.reward, "`.\n", RewardTerms(), TaskPlacementSection());
}

std::string VerbPage(const std::string& verb, const std::string& help) {
  // The default of --threads is the machine's.
  const std::string text =
      std::regex_replace(help, std::regex("(\n  --threads [^\\[]*)\\[\\d+\\]"), "$1[this machine's cores]");
  std::string page = Join("# berth ", verb, "\n\n", kMade, "```text\n", text, "```\n");
  for (const VerbExample& example : kVerbExamples) {
    if (example.verb != verb) continue;
    page += page.find("## Examples") == std::string::npos ? "\n## Examples\n\n" : "\n";
    if (*example.marker != '\0') page += Join("<!-- ", example.marker, " -->\n");
    page += Join("```sh\n", example.commands, "```\n");
  }
  return page;
}

std::string VerbsPage() {
  std::string text =
      Join("# The verbs of berth\n\n", kMade,
           "A page a verb: what `berth VERB --help-all` prints. What they write is documented in "
           "[tools/FORMATS.md](../FORMATS.md).\n\n| verb | what it does |\n|---|---|\n");
#define BERTH_ROW(verb, function, summary) text += Join("| [", verb, "](", verb, ".md) | ", summary, " |\n");
  BERTH_VERBS(BERTH_ROW)
#undef BERTH_ROW
  return text +
         "\n## To add a verb or an option\n\n"
         "A verb is a file of `tools/` and a line of `tools/verbs.hpp` ([how](../README.md)); its example is "
         "a row of "
         "`tools/docs/examples.hpp`, which\n"
         "a test runs. An option is declared where the verb reads it, with its help; `Everyday` there says "
         "whether "
         "`--help` shows it too.\n"
         "`build/release/berth_tests --update-golden 'docs*'` then writes these pages anew.\n";
}

}  // namespace berth

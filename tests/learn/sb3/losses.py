"""Losses and gradients of Stable-Baselines3 on a random minibatch, for tests/learn/sb3_test.cpp.

    python losses.py > losses.txt                       # stable-baselines3 and sb3-contrib 2.9.2, torch 2.11.0
    python losses.py --seed 7 --rows 64 --hidden 32,16  # other ones

Nothing is computed here: each library's own train() runs once on buffers that hold the minibatch, with a learning rate of 0 and no
clipping of the gradient's norm, and what it left in .grad and in its logger is printed. Stable-Baselines3 has no double Q-learning;
there its target network is one that answers every action with the target's value of the online network's choice, so that its maximum
is the double target and loss and gradient are its own.

Lines: "case NAME", then "KEY value value ..."; "parameter.", "target." and "gradient." begin keys by our names of the layers, row-major.
"""

import argparse

import gymnasium
import numpy as np
import sb3_contrib
import stable_baselines3
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import ReplayBufferSamples

INPUTS, ACTIONS, QUANTILES = 4, 3, 3
VF, ENT, CLIP = 0.5, 0.01, 0.2


class Spaces(gymnasium.Env):
    """What the libraries ask of an environment that they never play in."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (INPUTS,), np.float32)
    action_space = gymnasium.spaces.Discrete(ACTIONS)


def show(key, values):
    flat = np.asarray(values.detach() if isinstance(values, torch.Tensor) else values).reshape(-1)
    print(key, *(format(float(x), ".9g") for x in flat))


def randomise(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.5 * torch.randn_like(parameter))


def actor_critic_names(layers):
    names = {}
    for trunk, ours, head in (("policy_net", "actor", "action_net"), ("value_net", "critic", "value_net")):
        for k in range(layers):
            names[f"mlp_extractor.{trunk}.{2 * k}"] = f"{ours}_{k}"
        names[head] = f"{ours}_head"
    return names


def show_layers(prefix, module, names, of=lambda parameter: parameter, rows=None):
    for name, parameter in module.named_parameters():
        layer, part = name.rsplit(".", 1)
        values = of(parameter)
        if rows is not None and names[layer] == "actor_head":
            values = values[rows]
        show(f"{prefix}.{names[layer]}.{part}", values)


def finish(model, module, names, rows=None):
    model.set_logger(Logger(None, []))
    return lambda: show_layers("gradient", module, names, lambda parameter: parameter.grad, rows)


def on_policy(name, algorithm, options, args):
    hidden, rows = args.hidden, args.rows
    model = algorithm("MlpPolicy", Spaces(), learning_rate=0.0, n_steps=rows, vf_coef=VF, ent_coef=ENT, max_grad_norm=1e9,
                      policy_kwargs={"net_arch": hidden, "activation_fn": torch.nn.Tanh}, device="cpu", **options)
    randomise(model.policy)
    names = actor_critic_names(len(hidden))
    buffer = model.rollout_buffer
    observation = torch.randn(rows, INPUTS)
    action = torch.randint(ACTIONS, (rows,))
    mask = torch.ones(rows, ACTIONS)
    more = {}
    if algorithm is MaskablePPO:
        mask = (torch.rand(rows, ACTIONS) < 0.6).float()
        mask[torch.arange(rows), action] = 1
        buffer.action_masks[:] = mask.numpy()[:, None]
        more = {"action_masks": mask}
    with torch.no_grad():
        value, log_prob, _ = model.policy.evaluate_actions(observation, action, **more)
    old_log_prob = log_prob + 0.3 * torch.randn(rows)
    old_value = value.flatten() + torch.randn(rows)
    advantage, returns = 2 * torch.randn(rows) + 0.5, 2 * torch.randn(rows)
    for column, values in (("observations", observation), ("actions", action[:, None]), ("log_probs", old_log_prob),
                           ("values", old_value), ("advantages", advantage), ("returns", returns)):
        getattr(buffer, column)[:] = values.numpy().reshape(getattr(buffer, column).shape)
    buffer.full, buffer.pos = True, rows
    print("case", name)
    for key, values in (("inputs", INPUTS), ("actions", ACTIONS), ("rows", rows), ("hidden", hidden), ("clip", CLIP), ("vf", VF),
                        ("ent", ENT), ("observation", observation), ("mask", mask), ("action", action), ("old_log_prob", old_log_prob),
                        ("advantage", advantage), ("returns", returns), ("old_value", old_value)):
        show(key, values)
    show_layers("parameter", model.policy, names)
    show_gradients = finish(model, model.policy, names)
    model.train()
    show_gradients()
    logged = model.logger.name_to_value
    show("policy_loss", logged.get("train/policy_gradient_loss", logged.get("train/policy_loss")))
    show("value_loss", logged["train/value_loss"])
    show("entropy", -logged["train/entropy_loss"])
    if algorithm is not A2C:
        show("approx_kl", logged["train/approx_kl"])
        show("clip_fraction", logged["train/clip_fraction"])


class DoubleTarget(torch.nn.Module):
    def __init__(self, online, target):
        super().__init__()
        self.online, self.target = online, target

    def forward(self, rows):
        best = self.online(rows).argmax(1, keepdim=True)
        return self.target(rows).gather(1, best).expand(-1, ACTIONS)


def q_learning(name, algorithm, args):
    hidden, rows = args.hidden, args.rows
    kwargs = {"net_arch": hidden, "activation_fn": torch.nn.ReLU}
    if algorithm is QRDQN:
        kwargs["n_quantiles"] = QUANTILES
    model = algorithm("MlpPolicy", Spaces(), learning_rate=0.0, buffer_size=8, max_grad_norm=1e9, policy_kwargs=kwargs, device="cpu")
    if algorithm is QRDQN:
        online, target = model.quantile_net, model.quantile_net_target
        inner, order = "quantile_net", torch.arange(QUANTILES * ACTIONS).view(QUANTILES, ACTIONS).T.reshape(-1)
    else:
        online, target, inner, order = model.q_net, model.q_net_target, "q_net", None
    randomise(online)
    randomise(target)
    names = {f"{inner}.{2 * k}": f"actor_{k}" for k in range(len(hidden))}
    names[f"{inner}.{2 * len(hidden)}"] = "actor_head"
    observation, following = torch.randn(rows, INPUTS), torch.randn(rows, INPUTS)
    action, reward = torch.randint(ACTIONS, (rows,)), 2 * torch.randn(rows)
    done = (torch.rand(rows) < 0.25).float()
    discount = torch.where(torch.rand(rows) < 0.5, 0.9, 0.81)  # one step and two
    sample = ReplayBufferSamples(observation, action[:, None], following, done[:, None], reward[:, None], discount[:, None])
    model.replay_buffer.sample = lambda *_, **__: sample
    print("case", name)
    for key, values in (("inputs", INPUTS), ("actions", ACTIONS), ("rows", rows), ("hidden", hidden),
                        ("quantiles", QUANTILES if algorithm is QRDQN else 0), ("observation", observation),
                        ("next_observation", following), ("action", action), ("reward", reward), ("discount", (1 - done) * discount)):
        show(key, values)
    show_layers("parameter", online, names, rows=order)
    show_layers("target", target, names, rows=order)
    if name == "double_dqn":
        model.q_net_target = DoubleTarget(online, target)
    show_gradients = finish(model, online, names, order)
    model.train(gradient_steps=1, batch_size=rows)
    show_gradients()
    show("loss", model.logger.name_to_value["train/loss"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--hidden", type=lambda text: [int(x) for x in text.split(",")], default=[5, 4])
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    print(f"# stable-baselines3 {stable_baselines3.__version__}, sb3-contrib {sb3_contrib.__version__}, torch {torch.__version__};"
          f" by losses.py, seed {args.seed}")
    ppo = {"batch_size": args.rows, "n_epochs": 1, "clip_range": CLIP}
    on_policy("ppo", PPO, ppo, args)
    on_policy("maskable_ppo", MaskablePPO, ppo, args)
    on_policy("a2c", A2C, {"use_rms_prop": False}, args)
    q_learning("dqn", DQN, args)
    q_learning("double_dqn", DQN, args)
    q_learning("qrdqn", QRDQN, args)


main()

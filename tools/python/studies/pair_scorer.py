"""Berth's two networks for Stable-Baselines3: `pair_scorer(width=..,skip=true)` written in PyTorch, and the file that
`berth evaluate` reads, for it and for MlpPolicy. The file's examples prove the port: Berth refuses weights that do not
give the scores which PyTorch gave, to 1e-5."""

import shutil

import h5py
import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from berth.blocks import blocks_of


def dense(inputs, outputs, gain):
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class PairScorer(nn.Module):
    """policies/networks/pair_scorer.hpp, two layers, ReLU, skip=true; for the policy below what SB3 calls the mlp_extractor:
    its "latents" are the scores [B, Q G + 1] and the value [B, 1]. One product of a concatenation is a sum of products of
    its parts, so that a job's and a type's are computed once and not for every pair."""

    def __init__(self, layout, width):
        super().__init__()
        self.layout = layout
        job, pair, kind, rest = (layout[f"{part}_channels"] for part in ("job", "pair", "type", "global"))
        self.parts = job, pair, kind, width
        root2 = 2**0.5
        self.layers = {
            "job": dense(job, width, root2), "type": dense(kind, width, root2),
            "context": dense(rest + 3 * width, width, root2),
            "pair_0": dense(job + pair + kind + width, width, root2), "pair_1": dense(width, width, root2),
            "score": dense(width, 1, 0.01), "skip": dense(job + pair + kind, 1, 0.01),
            "done_hidden": dense(width, width, root2), "done": dense(width, 1, 0.01),
            "value_hidden": dense(width, width, root2), "value": dense(width, 1, 1.0)}
        self.registered = nn.ModuleList(self.layers.values())  # a ModuleDict refuses the name "type"
        self.latent_dim_pi, self.latent_dim_vf = layout["q"] * layout["g"] + 1, 1

    def hidden(self, name, x):
        return torch.relu(self.layers[name](x))

    def of_pairs(self, name, blocks, context=None):
        """The layer on job ++ pair ++ type [++ context]: [B, Q, G, outputs]."""
        layer = self.layers[name]
        weights = layer.weight.split([*self.parts[:3], *([] if context is None else [self.parts[3]])], dim=1)
        apart = nn.functional.linear(blocks["types"], weights[2], layer.bias)  # [B, G, outputs]
        if context is not None:
            apart = apart + nn.functional.linear(context, weights[3]).unsqueeze(1)
        jobs = nn.functional.linear(blocks["jobs"], weights[0]).unsqueeze(2)
        return nn.functional.linear(blocks["pairs"], weights[1]) + jobs + apart.unsqueeze(1)

    def context(self, blocks):
        """Also who is there, [B, Q, 1]: rows whose first channel is not 0."""
        present = (blocks["jobs"][..., :1] != 0).float()
        jobs = self.hidden("job", blocks["jobs"]) * present  # a ReLU's maximum over nobody is 0 as well
        mean = jobs.sum(1) / present.sum(1).clamp(min=1.0)
        types = self.hidden("type", blocks["types"]).mean(1)
        return self.hidden("context", torch.cat([blocks["global"], mean, jobs.amax(1), types], -1)), present

    def scores(self, blocks, context, present):
        pair = self.hidden("pair_1", torch.relu(self.of_pairs("pair_0", blocks, context)))
        score = (self.layers["score"](pair) + self.of_pairs("skip", blocks)).squeeze(-1) * present
        return torch.cat([score.flatten(1), self.layers["done"](self.hidden("done_hidden", context))], -1)

    def forward_critic(self, observation):
        context, _ = self.context(blocks_of(observation, self.layout))
        return self.layers["value"](self.hidden("value_hidden", context))

    def forward_actor(self, observation):
        blocks = blocks_of(observation, self.layout)
        return self.scores(blocks, *self.context(blocks))

    def forward(self, observation):
        blocks = blocks_of(observation, self.layout)
        context, present = self.context(blocks)
        return self.scores(blocks, context, present), self.layers["value"](self.hidden("value_hidden", context))


class PairScorerPolicy(MaskableActorCriticPolicy):
    """MaskablePPO(PairScorerPolicy, envs, policy_kwargs=dict(layout=..., width=8))."""

    def __init__(self, *arguments, layout, width, **more):
        self.scorer = layout, width
        super().__init__(*arguments, **{**more, "ortho_init": False})

    def _build(self, lr_schedule):
        super()._build(lr_schedule)  # makes heads, which the scorer has itself, and the optimiser
        self.action_net, self.value_net = nn.Identity(), nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _build_mlp_extractor(self):
        self.mlp_extractor = PairScorer(*self.scorer)


def layers_of(policy):
    """The policy's layers under their names in a policy file; MlpPolicy's as those of `mlp(hidden=...,activation=tanh)`."""
    if isinstance(policy, PairScorerPolicy):
        return policy.mlp_extractor.layers
    trunks = {"actor": (policy.mlp_extractor.policy_net, policy.action_net),
              "critic": (policy.mlp_extractor.value_net, policy.value_net)}
    return {f"{name}_{place}": layer for name, (trunk, head) in trunks.items()
            for place, layer in [*enumerate(m for m in trunk if isinstance(m, nn.Linear)), ("head", head)]}


def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def content_hash(file):
    """Of an open policy file, as policies/FORMAT.md says; texts count without the zeros behind them."""
    parts = [(k, v) for k, v in file.attrs.items() if k not in ("berth_kind", "content_hash")]
    file.visititems(lambda k, v: parts.append((k, v[...])) if isinstance(v, h5py.Dataset) else None)
    total = 0
    for name, value in parts:
        data = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else np.asarray(value).tobytes()
        total += fnv1a(name.encode() + b"\0" + data)
    return total % 2**64


def write_policy(policy, template, path):
    """`template` (what `berth export` gave for the same network, environment and process) with the weights of `policy`, and
    the scores and values that PyTorch computes for its examples."""
    shutil.copy(template, path)
    with h5py.File(path, "r+") as file, torch.no_grad():
        for name, layer in layers_of(policy).items():
            file[f"weights/{name}/weight"][:], file[f"weights/{name}/bias"][:] = layer.weight.numpy(), layer.bias.numpy()
        pi, vf = policy.mlp_extractor(torch.from_numpy(file["examples/observation"][:]))
        file["examples/scores"][:], file["examples/value"][:] = policy.action_net(pi).numpy(), policy.value_net(vf)[:, 0].numpy()
        file.attrs.modify("content_hash", np.uint64(content_hash(file)))

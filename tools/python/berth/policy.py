"""Frozen policies: what berth.train learns and policy.h5 holds."""

import json
import os
import pathlib
import re
from typing import Any

from berth import _berth
from berth._arguments import texts_of
from berth._berth import View


class Policy:
    """A trained policy; stands wherever a scheduler does: berth.evaluate([policy, "fcfs"]). berth.load_policy reads one.

    path: its file, which spec `policy(file=PATH)` and other programs read; name: in tables, to be set at will. training:
    of what berth.train gave the outcome, by the keys of `berth train --json`, else None. What decides is in memory, whatever
    becomes of the file. Threads: any number at once.
    """

    def __init__(self, core: Any, path: Any, training: dict[str, Any] | None = None) -> None:
        self._core, self.path, self.training = core, pathlib.Path(path), training
        near = "/".join(self.path.resolve().parts[-2:])  # run/policy.h5
        self.name = re.sub(r"[^\w .+/-]", "_", near if re.match(r"[A-Za-z_]", near) else f"_{near}", flags=re.ASCII)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Policy({os.fspath(self.path)!r})"

    @property
    def card(self) -> dict[str, Any]:
        """What it was trained on: agent, network, parameters, steps, seed, workload, gpu_types, what it knows, sees and may do
        (knowledge, encoder, actions, reward, semantics, ...), commit, and `config`, every option of its training by its name."""
        return json.loads(self._core.card())

    def save(self, path: Any) -> "Policy":
        """Writes it as a policy file (.h5), which it then is. berth.Error where that cannot be."""
        self._core.save(os.fspath(path))
        self.path = pathlib.Path(path)
        return self

    def explain(self, view: View | None = None, *, at: Any = None, scenario: Any = None, workload: Any = None, cluster: Any = None,
                seed: Any = None, until_then: Any = None, **keywords: Any) -> dict[str, Any]:
        """What it considers at one moment, what it chooses, and what of its observation that hangs on: as `berth explain --json`.

        view: within the `decide` of a scheduler that declares the policy's knowledge, what that sees now. Without it the first
        decision at or after `at` (s) of a run on the scenario, or on the workload of `seed` (1000), which until then the policy
        itself decides, or the spec `until_then`. Keywords: those of `berth explain`.
        Keys: time_s, decision (in words), commands (best first: command, score, chosen: "1" = first) and blocks (of the
        observation: block, change of the first choice's score without it, first: what would then be chosen). berth.Error.
        """
        given = texts_of(dict(keywords, at=at, scenario=scenario, workload=workload, cluster=cluster, seed=seed,
                              until_then=until_then))
        if view is not None and given:
            raise ValueError(f"explain: expected a view or a scenario, found a view and {', '.join(given)}")
        said = self._core.explain_at(given) if view is None else self._core.explain_view(view)
        return {"commands": [], "blocks": []} | json.loads(said)

    def _factory(self):
        return _Factory(self._core, self.card["semantics"])


class _Factory:
    """What berth.scheduler.named gives C++ of a policy: `semantics`, which a table never mixes."""

    def __init__(self, core, semantics):
        self._core, self.semantics = core, semantics

    def __call__(self):
        return self._core


def load_policy(path: Any) -> Policy:
    """The policy of a file that berth.train, `berth export` or `berth tune` wrote. berth.Error where it is none."""
    return Policy(_berth.load_policy(os.fspath(path)), path)

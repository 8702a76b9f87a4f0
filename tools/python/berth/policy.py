"""Frozen policies: what berth.train learns and policy.h5 holds."""

import json
import os
import pathlib
import re
import tempfile

from berth import _berth
from berth._arguments import texts_of, utf8_of
from berth._berth import View
from berth.typing import Option, Record, StrPath

__all__ = ["Policy", "load_policy"]


class Policy:
    """A trained policy; stands wherever a scheduler does. `load_policy` reads one, `train` makes one.

    Attributes: `path`, its file; `name`, in tables, to be set at will; `training`, of what `train` gave the outcome, by the keys
    of ``berth train --json``, else None. What decides is in memory, whatever becomes of the file, and travels when it is pickled.

    Threads: any number at once.

    Examples
    --------
    >>> policy = berth.load_policy("data/policies/cluster/hetero_oracle.h5")
    >>> table = berth.evaluate(["fcfs", policy], workload="synthetic(rate=1,jobs=30)", cluster="v100=4,p100=4,k80=4", seeds=[1])
    >>> table["scheduler"].tolist()
    ['fcfs', 'cluster/hetero_oracle.h5']
    >>> policy.card["knowledge"], policy.card["gpu_types"]
    ('oracle', ['v100', 'p100', 'k80'])
    """

    def __init__(self, core: _berth.Policy, path: StrPath, training: Record | None = None) -> None:
        self._core = core
        self.path: pathlib.Path = pathlib.Path(path)
        self.training: Record | None = training
        near = "/".join(self.path.resolve().parts[-2:])  # run/policy.h5
        self.name: str = re.sub(r"[^\w .+/-]", "_", near if re.match(r"[A-Za-z_]", near) else f"_{near}", flags=re.ASCII)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Policy({os.fspath(self.path)!r})"

    def __copy__(self) -> "Policy":
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> "Policy":
        return self.__copy__()  # what decides never changes

    def __getstate__(self) -> Record:
        return dict(vars(self), _core=self._content())

    def __setstate__(self, state: Record) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "policy.h5")
            pathlib.Path(path).write_bytes(state["_core"])
            vars(self).update(state, _core=_berth.load_policy(path, os.fspath(state["path"])))

    def _content(self) -> bytes:
        """What is in its file, wherever that has gone."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "policy.h5")
            self._core.save(path)
            return pathlib.Path(path).read_bytes()

    @property
    def card(self) -> Record:
        """What it was trained on: agent, network, parameters, steps, seed, workload, gpu_types, what it knows, sees and may do
        (knowledge, encoder, actions, reward, semantics, ...), commit, and config, every option of its training by its name."""
        card: Record = json.loads(self._core.card())
        return card

    def save(self, path: StrPath) -> "Policy":
        """Writes it as a policy file.

        Parameters
        ----------
        path
            The file (.h5), which `path` is then.

        Returns
        -------
        Policy
            This one.

        Raises
        ------
        berth.Error
            Where the file cannot be written.
        """
        self._core.save(utf8_of("path", os.fspath(path)))
        self.path = pathlib.Path(path)
        return self

    def explain(self, view: View | None = None, *, at: float | None = None, scenario: StrPath | None = None,
                workload: str | None = None, cluster: StrPath | None = None, seed: int | None = None,
                until_then: str | None = None, **keywords: Option) -> Record:
        """What it considers at one moment, what it chooses, and what of its observation that hangs on.

        Parameters
        ----------
        view
            Within the `decide` of a `Scheduler` that declares the policy's knowledge: what that sees now. None: a run says.
        at
            Simulated seconds: the first decision at or after it.
        scenario, workload, cluster, seed
            Of the run: a file, or a generated workload with its seed (1000).
        until_then
            A spec, which decides until `at`. None: the policy itself.
        **keywords
            Those of ``berth explain`` with ``_`` for ``-``.

        Returns
        -------
        dict
            ``berth explain --json``: time_s; decision, in words; commands, best first (command, score, chosen: "1" = first);
            blocks of the observation (block; change of the first choice's score without it; first: what would then be chosen).

        Raises
        ------
        berth.Error
            Where the policy cannot decide there, or an option is wrong.

        Examples
        --------
        >>> policy = berth.load_policy("data/policies/cluster/hetero_oracle.h5")
        >>> why = policy.explain(at=3600, seed=1000, workload="synthetic(rate=1)", cluster="v100=4,p100=4,k80=4")
        >>> sorted(why["commands"][0])
        ['chosen', 'command', 'score']
        """
        given = texts_of(dict(keywords, at=at, scenario=scenario, workload=workload, cluster=cluster, seed=seed,
                              until_then=until_then))
        if view is not None and given:
            raise ValueError(f"explain: expected a view or a scenario, found a view and {', '.join(given)}")
        said = self._core.explain_at(given) if view is None else self._core.explain_view(view)
        found: Record = json.loads(said)
        return {"commands": [], "blocks": []} | found

    def _factory(self) -> "_Factory":
        return _Factory(self._core, self.card["semantics"])


class _Factory:
    """What berth.scheduler.named gives C++ of a policy: `semantics`, which a table never mixes."""

    def __init__(self, core: _berth.Policy, semantics: str) -> None:
        self._core, self.semantics = core, semantics

    def __call__(self) -> _berth.Policy:
        return self._core


def load_policy(path: StrPath) -> Policy:
    """Reads a policy file.

    Parameters
    ----------
    path
        What `train`, ``berth export`` or ``berth tune`` wrote.

    Returns
    -------
    Policy
        Stands wherever a scheduler does.

    Raises
    ------
    berth.Error
        Where it is no policy file.

    Examples
    --------
    >>> berth.load_policy("data/policies/cluster/hetero_oracle.h5").card["network"]
    'pair_scorer(width=8,layers=2,activation=relu,skip=true)'
    """
    return Policy(_berth.load_policy(utf8_of("path", os.fspath(path))), path)

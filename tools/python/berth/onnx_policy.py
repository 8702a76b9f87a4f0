"""Networks of other libraries as schedulers."""

import os
import pathlib
import re
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from berth import _berth
from berth._arguments import texts_of
from berth.jobs import Jobs, workload_of
from berth.scheduler import Scheduler
from berth.typing import Knowledge, Option, Record, StrPath, Workload

__all__ = ["OnnxPolicy"]

_DTYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(bool)": np.bool_,
    "tensor(int8)": np.int8, "tensor(uint8)": np.uint8, "tensor(int64)": np.int64}


class OnnxPolicy(Scheduler):
    """A network of another library, trained on HeteroCluster-v0, as a scheduler: it sees what `env.step` gave, and decides as there.

    ONNX Runtime runs the model, on one thread of the CPU. Its first input is the observation [N, D] or [D]; a second one, whose
    name holds "mask", is the action mask, 1 = legal. Its first output is scores [N, A], of which the best legal one is taken, of
    equal ones the first; or, of whole numbers, the action itself, which where it is illegal makes way for the next legal one.

    One thing alone differs from training: a scheduler does not know whether jobs are still to come, so where nothing runs and not
    preemptive it may not wait for them. Attributes: `knowledge`, the environment's; `name`, the file's; `path`, the file.

    Parameters
    ----------
    path
        The model (.onnx).
    env
        The environment of the training: one, many, or an `SB3VecEnv`. None: `keywords` say which.
    workload, **keywords
        Of HeteroCluster-v0, in place of or beside `env`.

    Raises
    ------
    ImportError
        Without onnxruntime.
    berth.Error
        What does not fit: file, shapes, and of a run a cluster without the GPU types of the environment's.

    Examples
    --------
    >>> import torch
    >>> env = berth.make_vec(1, cluster="v100=2,k80=2", visible=4)
    >>> net = torch.nn.Linear(env.single_observation_space.shape[0], int(env.single_action_space.n))
    >>> torch.onnx.export(net, (torch.zeros(1, net.in_features),), "net.onnx", dynamo=False)
    >>> policy = berth.OnnxPolicy("net.onnx", env)
    >>> table = berth.evaluate(["fcfs", policy], workload="synthetic(rate=1,jobs=20)", cluster="v100=2,k80=2", seeds=[1])
    >>> table["scheduler"].tolist()
    ['fcfs', 'net']
    """

    def __init__(self, path: StrPath, env: Any = None, *, workload: Workload | None = None, **keywords: Option) -> None:
        spec, jobs = workload_of(workload)
        its, its_jobs = _of_environment(env)
        given = texts_of(dict(keywords, workload=spec))
        self._keywords = its | given, its_jobs if spec is None and jobs is None else jobs
        self._point = _berth.DecisionPoint(*self._keywords)
        self.knowledge = cast(Knowledge, self._point.knowledge)
        self.path: pathlib.Path = pathlib.Path(path)
        self.name = re.sub(r"[^\w .+/-]", "_", self.path.stem if re.match(r"[A-Za-z_]", self.path.stem) else f"_{self.path.stem}",
                           flags=re.ASCII)
        try:
            self._model = self.path.read_bytes()
        except OSError:
            raise self._wrong("expected an ONNX model, found no such file that can be read") from None
        self._session = self._opened()
        self._inputs = [self._input(i, given) for i, given in enumerate(self._session.get_inputs())]
        self._reads_mask = any(masks for _, masks, _, _ in self._inputs)
        self._output = self._session.get_outputs()[0].name
        self._answer: NDArray[Any] = np.zeros(0)

    def __deepcopy__(self, memo: dict[int, Any]) -> "OnnxPolicy":
        other = object.__new__(type(self))
        vars(other).update(vars(self), _point=_berth.DecisionPoint(*self._keywords))  # the session is any number of threads'
        return other

    def __getstate__(self) -> Record:
        return {name: value for name, value in vars(self).items() if name not in ("_point", "_session")}

    def __setstate__(self, state: Record) -> None:
        vars(self).update(state, _point=_berth.DecisionPoint(*state["_keywords"]))
        self._session = self._opened()

    def _opened(self) -> Any:
        """A session of the model: of its file, beside which weights may lie, where that is still the same, else of its bytes."""
        try:
            import onnxruntime
        except ImportError:
            raise ImportError("OnnxPolicy needs onnxruntime: pip install onnxruntime") from None
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        there = self.path.is_file() and self.path.read_bytes() == self._model
        model = os.fspath(self.path) if there else self._model
        try:
            return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # of many classes of its own
            raise self._wrong(f"expected an ONNX model, found: {str(error).splitlines()[0]}") from None

    def reset(self, view: _berth.View) -> None:
        """A run begins. berth.Error where its cluster has other GPU types than the environment's."""
        try:
            self._point.begin(view)
        except _berth.Error as error:
            raise _berth.Error(f"{os.fspath(self.path)}: {error}") from None

    def decide(self, view: _berth.View, decision: _berth.Decision) -> None:
        """Orders what the model chooses, action after action, as `env.step` would."""
        more = self._point.open(view)
        while more:
            more = self._point.put(view, self.act())
        self._point.close(view, decision)

    def act(self) -> int:
        """The legal action that the model takes now, from 0 to A - 1."""
        mask = self._point.mask
        if self._point.take_moved() or self._reads_mask:
            seen = {name: self._fed(mask if masks else self._point.observation, dtype, batched)
                    for name, masks, dtype, batched in self._inputs}
            self._answer = self._session.run([self._output], seen)[0].reshape(-1)
        legal = np.flatnonzero(mask)
        if self._answer.dtype.kind in "iu" and self._answer.size == 1:
            action = int(self._answer[0])
            if not 0 <= action < mask.size:
                raise self._wrong(f"expected an action from 0 to {mask.size - 1}, found {action}")
            return int(legal[np.searchsorted(legal, action) % legal.size])
        if self._answer.size != mask.size:
            raise self._wrong(f"expected {mask.size} scores or one whole number in its first output, found {self._answer.size} "
                              f"of {self._answer.dtype}")
        scores = self._answer[legal]
        if np.isnan(scores).any():
            raise self._wrong("expected numbers as scores, found nan")
        return int(legal[np.argmax(scores)])

    @staticmethod
    def _fed(row: NDArray[Any], dtype: type[np.generic], batched: bool) -> NDArray[Any]:
        return row.astype(dtype, copy=False)[None] if batched else row.astype(dtype, copy=False)

    def _input(self, place: int, given: Any) -> tuple[str, bool, type[np.generic], bool]:
        """Name, is it the mask?, dtype, has it a first dimension for several?"""
        masks = place > 0 and "mask" in given.name
        if place > 0 and not masks:
            raise self._wrong(f"expected an observation and, with 'mask' in its name, a mask as inputs, found {given.name!r}")
        wanted = self._point.num_actions if masks else self._point.size
        one = given.shape[:-1] in ([], [1]) or (len(given.shape) == 2 and not isinstance(given.shape[0], int))
        if given.type not in _DTYPES or not one or (isinstance(given.shape[-1], int) and given.shape[-1] != wanted):
            raise self._wrong(f"{given.name}: expected numbers of shape [N, {wanted}] or [{wanted}], as the environment gives, found "
                              f"{given.type} of {given.shape}")
        return given.name, masks, _DTYPES[given.type], len(given.shape) == 2

    def _wrong(self, words: str) -> _berth.Error:
        return _berth.Error(f"{os.fspath(self.path)}: {words}")


def _of_environment(env: Any) -> tuple[dict[str, str], Jobs | None]:
    """Its keywords, as resolved, and jobs of Python's; env may be none."""
    if env is None:
        return {}, None
    inner: Any = getattr(env, "envs", None) if not hasattr(env, "description") else env
    inner = inner if hasattr(inner, "description") else getattr(env, "unwrapped", env)
    if not isinstance(getattr(inner, "description", None), str):
        raise TypeError(f"env: expected an environment of Berth's, found {type(env).__name__}")
    if inner._core.layout["q"] == 0:
        raise _berth.Error("env: expected HeteroCluster-v0, found TaskPlacement-v0, which decides on no job")
    lines = (line for line in inner.description.splitlines() if not line.startswith("#"))  # what is Python's in it decides nothing
    pairs = (line.split("=", 1) for line in lines)
    return {name.replace("-", "_"): value for name, value in pairs}, inner._own.jobs

"""Networks of other libraries as schedulers."""

import copy
import os
import pathlib
import re
from typing import Any

import numpy as np

from berth import _berth
from berth._arguments import texts_of
from berth.jobs import workload_of
from berth.scheduler import Scheduler

_DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(bool)": np.bool_,
           "tensor(int8)": np.int8, "tensor(uint8)": np.uint8, "tensor(int64)": np.int64}


class OnnxPolicy(Scheduler):
    """An ONNX model that was trained on HeteroCluster-v0, as a scheduler: it sees what `env.step` gave and decides as with it.

        torch.onnx.export(net, (torch.zeros(1, env.observation_space.shape[0]),), "net.onnx", dynamo=False)
        berth.evaluate(["srpt", berth.OnnxPolicy("net.onnx", env)], cluster="v100=4,k80=4")

    env: the environment of the training (one, many, or SB3VecEnv), or its keywords in its place. ONNX Runtime runs the model
    (onnxruntime; one thread, on the CPU): its first input is the observation [N, D] or [D], one whose name holds "mask" the
    action mask, 1 = legal. Its first output is scores [N, A], of which the best legal one is taken, of equal ones the first; or,
    of whole numbers, the action itself, which where it is illegal makes way for the next legal one, as with
    illegal="next_legal". A cluster must have the GPU types of the environment's. berth.Error says what does not fit.

    Only one thing differs from training: a scheduler does not know whether jobs are still to come, so where nothing runs and
    not preemptive it may not wait for them. Attributes: knowledge (the environment's), name (the file's).
    """

    def __init__(self, path: Any, env: Any = None, **keywords: Any) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise ImportError("OnnxPolicy needs onnxruntime: pip install onnxruntime") from None
        keywords["workload"], jobs = workload_of(keywords.get("workload"))
        its, its_jobs = _of_environment(env)
        self._keywords = its | texts_of(keywords), its_jobs if keywords["workload"] is None and jobs is None else jobs
        self._point = _berth.DecisionPoint(*self._keywords)
        self.knowledge = self._point.knowledge
        self.path = pathlib.Path(path)
        self.name = re.sub(r"[^\w .+/-]", "_", self.path.stem if re.match(r"[A-Za-z_]", self.path.stem) else f"_{self.path.stem}",
                           flags=re.ASCII)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        if not self.path.is_file():
            raise _berth.Error(f"{os.fspath(path)}: expected an ONNX model, found no such file")
        try:
            self._session = onnxruntime.InferenceSession(os.fspath(path), settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # of many classes of its own
            raise _berth.Error(f"{os.fspath(path)}: expected an ONNX model, found: {str(error).splitlines()[0]}") from None
        self._inputs = [self._input(i, given) for i, given in enumerate(self._session.get_inputs())]
        self._reads_mask = any(masks for _, masks, _, _ in self._inputs)
        self._output = self._session.get_outputs()[0].name
        self._answer = np.zeros(0)

    def __deepcopy__(self, memo: Any) -> "OnnxPolicy":
        other = copy.copy(self)  # the session is any number of threads'
        other._point = _berth.DecisionPoint(*self._keywords)
        return other

    def reset(self, view: _berth.View) -> None:
        try:
            self._point.begin(view)
        except _berth.Error as error:
            raise _berth.Error(f"{os.fspath(self.path)}: {error}") from None

    def decide(self, view: _berth.View, decision: _berth.Decision) -> None:
        more = self._point.open(view)
        while more:
            more = self._point.put(view, self.act())
        self._point.close(view, decision)

    def act(self) -> int:
        """The legal action that the model takes now. What a subclass may replace, reading self._point."""
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
    def _fed(row, dtype, batched):
        return row.astype(dtype, copy=False)[None] if batched else row.astype(dtype, copy=False)

    def _input(self, place, given):
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

    def _wrong(self, words):
        return _berth.Error(f"{os.fspath(self.path)}: {words}")


def _of_environment(env):
    """Its keywords, as resolved, and jobs of Python's; env may be none."""
    if env is None:
        return {}, None
    inner = getattr(env, "envs", None) if not hasattr(env, "description") else env
    inner = inner if hasattr(inner, "description") else getattr(env, "unwrapped", env)
    if not isinstance(getattr(inner, "description", None), str):
        raise TypeError(f"env: expected an environment of Berth's, found {type(env).__name__}")
    if inner._core.layout["q"] == 0:
        raise _berth.Error("env: expected HeteroCluster-v0, found TaskPlacement-v0, which decides on no job")
    lines = (line for line in inner.description.splitlines() if not line.startswith("#"))  # what is Python's in it decides nothing
    pairs = (line.split("=", 1) for line in lines)
    return {name.replace("-", "_"): value for name, value in pairs}, inner._own.jobs

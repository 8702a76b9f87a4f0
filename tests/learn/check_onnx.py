"""Compares an ONNX model with expected outputs: check_onnx.py MODEL CASES.

Exit code 0 when all agree to 1e-5. CASES is JSON: a list of
{"inputs": {name: {"shape", "type", "values"}}, "scores": [...], "value": [...]}, of a
network with a memory "next_state" too.
"""
import json
import sys

import numpy
import onnx
import onnxruntime


def main(model_path, cases_path):
    model = onnx.load(model_path)
    onnx.checker.check_model(model, full_check=True)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    for key in ("encoder", "mdp", "network", "agent", "commit", "steps", "seed"):
        if not metadata.get(key):
            sys.exit(f"metadata_props: expected '{key}', found {sorted(metadata)}")
    session = onnxruntime.InferenceSession(model_path, providers=["CPUExecutionProvider"])
    worst = 0.0
    with open(cases_path) as file:
        cases = json.load(file)
    for case in cases:
        feed = {
            name: numpy.array(x["values"], dtype=x["type"]).reshape(x["shape"])
            for name, x in case["inputs"].items()
        }
        scores, value = session.run(["scores", "value"], feed)
        if "next_state" in case:
            (following,) = session.run(["next_state"], feed)
            wanted = numpy.array(case["next_state"], dtype="float32").reshape(following.shape)
            worst = max(worst, float(abs(following - wanted).max()))
        mask = feed["action_mask"]
        expected = numpy.array(case["scores"], dtype="float32").reshape(mask.shape)
        if scores.shape != expected.shape or value.shape != (mask.shape[0],):
            sys.exit(f"shapes: expected {expected.shape}, found {scores.shape} and {value.shape}")
        if not (scores[~mask] == numpy.float32(-1e8)).all():
            sys.exit("masked scores: expected -1e8")
        # The best action must be the same one, except where two scores agree to the last digits.
        for row, legal, wanted in zip(scores, mask, expected):
            if legal.any() and wanted[legal].max() - wanted[row.argmax()] > 1e-5:
                sys.exit("argmax: expected the same action")
        for found, wanted in ((scores[mask], expected[mask]), (value, numpy.array(case["value"]))):
            if found.size:
                worst = max(worst, float((abs(found - wanted) / numpy.maximum(1, abs(wanted))).max()))
    print(f"{len(cases)} cases, max difference {worst:.2e}")
    if not worst <= 1e-5:
        sys.exit(f"expected agreement to 1e-5, found {worst}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

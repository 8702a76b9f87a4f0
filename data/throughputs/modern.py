#!/usr/bin/env python3
"""Makes modern.csv: training speeds of present-day GPUs, measured ones and, marked, modelled ones.

usage: modern.py FOLDER > modern.csv

FOLDER is pytorch/csv_v1_v2 of https://github.com/lambdal/deeplearning-benchmark (commit aa5addb6, 2025-12-17):
Lambda's runs of NVIDIA's Deep Learning Examples, in samples a second of the whole gang. What is not
measured is scaled from the type that is built most alike, by memory bandwidth and TFLOPS to the powers that fit
what was measured. What that does for types that were measured is said on stderr.
"""
import csv
import math
import sys

# Published name of the type, and the gangs that were measured.
MEASURED = {
    "v100": ("LambdaCloud {}x V100 16GB", (1, 2, 4, 8)),
    "a10": ("LambdaCloud {}x A10", (1,)),
    "rtx4090": ("{}RTX 4090", (1, 2)),
    "rtxa6000": ("{}RTX A6000", (1, 2)),
    "rtx6000ada": ("{}RTX 6000 Ada", (1, 2, 4, 8)),
    "a100": ("{}A100 80GB SXM4", (1, 2, 4, 8)),
    "h100": ("LambdaCloud {}x H100 80GB SXM5", (1, 2, 4, 8)),
    "b200": ("LambdaCloud {}x B200 192GB SXM5", (1, 2, 4, 8)),
}
# Data sheets: memory GB/s; dense TFLOPS of FP16 with tensor cores; of TF32, or FP32 where there is no TF32.
SHEETS = {
    "t4": (300, 65, 8.1),
    "v100": (900, 125, 15.7),
    "a10": (600, 125, 62.5),
    "l4": (300, 121, 60),
    "l40s": (864, 362, 183),
    "rtxa6000": (768, 155, 77.4),
    "rtx4090": (1008, 330, 82.6),
    "rtx6000ada": (960, 364, 182),
    "a100": (2039, 312, 156),
    "h100": (3350, 989, 495),
    "h200": (4800, 989, 495),
    "b200": (7700, 2250, 1100),
}
# What one GPU does is scaled from these; below, types that show how far that can be trusted.
SCALED_FROM = {"t4": "v100", "l4": "rtx4090", "l40s": "rtx6000ada", "h200": "h100"}
CHECKED_FROM = {"a10": "rtxa6000", "rtx4090": "rtx6000ada", "a100": "v100", "h100": "a100", "b200": "h100"}
# A type whose gangs of more GPUs were not measured takes the efficiency of one that is wired alike.
WIRED_AS = {"h200": "h100", "t4": "rtx6000ada", "a10": "rtx6000ada", "l4": "rtx6000ada", "l40s": "rtx6000ada",
            "rtx4090": "rtx6000ada", "rtxa6000": "rtx6000ada"}
JOBS = {"ssd": "SSD300", "bert_base_squad": "BERT-base (SQuAD)", "bert_large_squad": "BERT-large (SQuAD)",
        "gnmt": "GNMT", "resnet50": "ResNet-50", "tacotron2": "Tacotron 2", "waveglow": "WaveGlow"}
GANGS = (1, 2, 4, 8)
MOST, LEAST = 1.1, 0.9  # credible: at most 1.1 of linear, at least 0.9 of what half of the GPUs do


def published(folder, precision):
    with open(f"{folder}/pytorch-train-throughput-{precision}.csv", encoding="utf-8") as file:
        rows = {row["name_gpu"]: row for row in csv.DictReader(file)}
    rates = {}  # (job, type, gang): samples/s, published name
    for gpu, (name, gangs) in MEASURED.items():
        for gang in gangs:
            count = f"{gang}x " if gang > 1 else ""
            full = name.format(gang if "{}x" in name else count)
            for job in JOBS:
                rates[job, gpu, gang] = float(rows[full][job]), full
    for job in JOBS:  # what cannot be: left to the model
        for gpu, (_, gangs) in MEASURED.items():
            for gang in gangs[1:]:
                alone, own = rates[job, gpu, 1][0], rates[job, gpu, gang][0]
                half = rates.get((job, gpu, gang // 2), (0.0, ""))[0]
                if own > MOST * gang * alone or own < LEAST * half:
                    print(f"{precision} {job} {gang} {gpu}: {own:g} beside {alone:g} alone is not taken",
                          file=sys.stderr)
                    del rates[job, gpu, gang]
    return rates


def solve(matrix, right):
    n = len(right)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(matrix[r][i]))
        matrix[i], matrix[pivot], right[i], right[pivot] = matrix[pivot], matrix[i], right[pivot], right[i]
        for r in range(i + 1, n):
            factor = matrix[r][i] / matrix[i][i]
            matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[i])]
            right[r] -= factor * right[i]
    for i in reversed(range(n)):
        right[i] = (right[i] - sum(matrix[i][k] * right[k] for k in range(i + 1, n))) / matrix[i][i]
    return right


def fit(rates, precision, without=""):
    """log rate = a(job) + b log bandwidth + c log TFLOPS, least squares over what one GPU was measured to do."""
    tflops = 1 if precision == "fp16" else 2
    jobs = list(JOBS)
    rows = []
    for (job, gpu, gang), (rate, _) in rates.items():
        if gang == 1 and gpu != without:
            own = [1.0 if job == other else 0.0 for other in jobs]
            rows.append((own + [math.log(SHEETS[gpu][0]), math.log(SHEETS[gpu][tflops])], math.log(rate)))
    n = len(jobs) + 2
    normal = [[sum(x[i] * x[k] for x, _ in rows) for k in range(n)] for i in range(n)]
    answer = solve(normal, [sum(x[i] * y for x, y in rows) for i in range(n)])

    def scaled(job, gpu, other):
        return (rates[job, other, 1][0] * (SHEETS[gpu][0] / SHEETS[other][0]) ** answer[-2] *
                (SHEETS[gpu][tflops] / SHEETS[other][tflops]) ** answer[-1])
    return scaled, answer[-2:]


def efficiency(rates, job, gpu, gang):
    """Of a gang beside as many single GPUs. Where it was not measured: between the next smaller and the next
    larger gang, or that of half the gang, times what doubling costs the type that is wired alike."""
    if gang == 1:
        return 1.0
    if (job, gpu, gang) in rates:
        return rates[job, gpu, gang][0] / gang / rates[job, gpu, 1][0]
    half = efficiency(rates, job, gpu, gang // 2)
    if (job, gpu, 2 * gang) in rates:
        return math.sqrt(half * efficiency(rates, job, gpu, 2 * gang))
    like = WIRED_AS.get(gpu)
    if like is None:
        return half
    return half * efficiency(rates, job, like, gang) / efficiency(rates, job, like, gang // 2)


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["job_type", "gpu_type", "gpus", "steps_per_s", "source"])
    cells = measured = 0
    for precision in ("fp16", "fp32"):
        rates = published(sys.argv[1], precision)
        model, (by_bandwidth, by_tflops) = fit(rates, precision)
        print(f"{precision}: rate ~ bandwidth^{by_bandwidth:.2f} TFLOPS^{by_tflops:.2f}", file=sys.stderr)
        for gpu, other in CHECKED_FROM.items():
            guess, _ = fit(rates, precision, gpu)
            errors = [guess(job, gpu, other) / rates[job, gpu, 1][0] for job in JOBS]
            print(f"  {gpu} from {other}, itself left out of the fit: {min(errors):.2f} to {max(errors):.2f} of "
                  "what was measured", file=sys.stderr)
        for job, title in JOBS.items():
            unit = rates[job, "a100", 1][0]  # a step is what one A100 does in a second
            for gpu in SHEETS:
                alone = rates[job, gpu, 1][0] if gpu in MEASURED else model(job, gpu, SCALED_FROM[gpu])
                for gang in GANGS:
                    rate, source = rates.get((job, gpu, gang), (0.0, "model"))
                    if source == "model":
                        rate = alone * gang * efficiency(rates, job, gpu, gang)
                    cells, measured = cells + 1, measured + (source != "model")
                    name = f"{title} ({'FP16' if precision == 'fp16' else 'TF32'})"
                    out.writerow([name, gpu, gang, f"{rate / unit:.4g}", source])
    print(f"{measured} of {cells} cells measured", file=sys.stderr)


main()

#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds examples/fused-moe against the definition: every row of every expert by
itself in float64, rounded where the program rounds, and nothing else."""

import bisect
import json
import math
import os
import struct
from operator import mul

from harness import Failed, Tools, arguments, main, read_tensors, relative_l2, small_float

# Rows of each expert, tokens: mixed, hot and empty ones, one row, none, all in one
# expert, and tokens that go nowhere, or to 8 experts.
ROUTINGS = (([9, 21, 1, 0, 16, 33], 40), ([0, 1, 0], 1), ([0, 0], 2), ([0, 70, 0, 0], 70))
# (parameters, routings)
CORE = (
    ({"hidden": 128, "width": 64, "rows": 16, "columns": 32, "outputs": 64, "depth": 64,
      "element": "f8E4M3FN"}, ROUTINGS),
    ({"hidden": 96, "width": 96, "rows": 8, "columns": 48, "outputs": 96, "depth": 32,
      "element": "bf16"}, ROUTINGS[:1]),
    ({"hidden": 64, "width": 128, "rows": 64, "columns": 32, "outputs": 64, "depth": 64,
      "element": "f16"}, ROUTINGS[:1]),
)
FULL = (
    ({"hidden": 128, "width": 64, "rows": 16, "group": 32}, ROUTINGS + (([5, 0, 3], 9),)),
    ({"hidden": 64, "width": 64, "rows": 48, "group": 32}, ROUTINGS[:1]),
    ({"hidden": 128, "width": 64, "rows": 8, "group": 64, "tokens": 4, "choices": 8},
     (([9, 5, 9, 9, 9, 9, 9, 9, 0, 4], 9),)),
)
# The float64 reference of df-run does not round between the products.
E4M3 = "f8E4M3FN"
TOLERANCE = {E4M3: 0.04, "bf16": 8e-3, "f16": 1e-3}
# y is f16, or bf16.
LIMITS = {"core": 5e-4, "full": 4e-3}
SUMMED = {"core": ("gate_up", "down"), "full": ("gate_up_scale", "down_scale")}
TOPOLOGIES = (["--ctas", "7"], ["--ctas", "8", "--cluster-size", "4"],
              ["--ctas", "3", "--solver", "tickets"], ["--solver", "longest-first"])

CODES = sorted({small_float(code, 4, 3, False) for code in range(127)})


def round_e4m3(x):
    """To nearest even; what is too large stays the largest."""
    size = abs(x)
    above = bisect.bisect_left(CODES, size)
    if above == len(CODES):
        return math.copysign(CODES[-1], x)
    if above and CODES[above] != size:
        middle = (CODES[above - 1] + CODES[above]) / 2
        if size < middle or size == middle and above % 2:
            above -= 1
    return math.copysign(CODES[above], x)



def round_bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def round_f16(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


ROUND = {E4M3: round_e4m3, "bf16": round_bf16, "f16": round_f16}


class Rows:
    """Vectors along the last dimension of a tensor."""

    def __init__(self, tensor):
        self.shape, self.data = tensor

    def __call__(self, *index):
        flat = 0
        for extent, i in zip(self.shape, index):
            flat = flat * extent + i
        return self.data[flat * self.shape[-1]:(flat + 1) * self.shape[-1]]


def dot(a, b):
    return sum(map(mul, a, b))


def gated(gate, up):
    return gate / (1 + math.exp(-gate)) * up


def core(tensors, counts, params):
    """The rows of y, one after the other."""
    x, weights, down = (Rows(tensors[name]) for name in ("x", "gate_up", "down"))
    factors, block_rows = tensors["weight"][1], params["rows"]
    rounded = ROUND[params["element"]]
    result, row, block = [], 0, 0
    for expert, count in enumerate(counts):
        projections = [(weights(expert, 0, c), weights(expert, 1, c))
                       for c in range(params["width"])] if count else ()
        columns = [down(expert, c) for c in range(params["hidden"])] if count else ()
        for i in range(count):
            token = x(row)
            middle = [rounded(gated(dot(token, gate), dot(token, up)))
                      for gate, up in projections]
            factor = factors[(block + i // block_rows) * block_rows + i % block_rows]
            result += [factor * dot(middle, column) for column in columns]
            row += 1
        block += -(-count // block_rows)
    return result


def full(tensors, counts, params):
    """The rows of y: blocks of x and the weights have scales, and so has what
    lies between the products, a scale for each row and group of columns."""
    group, block_rows = params["group"], params["rows"]
    x, x_scale, weights, weight_scales, down, down_scales = (
        Rows(tensors[name]) for name in ("x", "x_scale", "gate_up", "gate_up_scale", "down",
                                         "down_scale"))
    tokens, factors = Rows(tensors["token"]), Rows(tensors["weight"])
    count = tensors["x"][0][0]
    result = [[0.0] * params["hidden"] for _ in range(count)]

    def scaled(values, scales):
        return [value * scales[i // group] for i, value in enumerate(values)]

    def quantized(values):
        scales = []
        for begin in range(0, len(values), group):
            scales.append(max(1e-12, *map(abs, values[begin:begin + group])) / 448)
        return [round_e4m3(value / scales[i // group]) * scales[i // group]
                for i, value in enumerate(values)]

    block = 0
    for expert, rows in enumerate(counts):
        if not rows:
            continue
        projections = [[scaled(weights(expert, half, c), weight_scales(expert, half, c // group))
                        for c in range(params["width"])] for half in (0, 1)]
        columns = [scaled(down(expert, c), down_scales(expert, c // group))
                   for c in range(params["hidden"])]
        for i in range(rows):
            place = block + i // block_rows, i % block_rows
            token, factor = tokens(place[0])[place[1]], factors(place[0])[place[1]]
            row = scaled(x(token), x_scale(token))
            middle = quantized([gated(dot(row, gate), dot(row, up))
                                for gate, up in zip(*projections)])
            for c, column in enumerate(columns):
                result[token][c] += round_bf16(factor * dot(middle, column))
        block += -(-rows // block_rows)
    return [value for row in result for value in row]


def test_form(tools, folder, form, cases, reference):
    worst = 0.0
    for number, (params, routings) in enumerate(cases):
        stem = tools.path(f"{form}_{number}")
        suffix = "_core" if form == "core" else ""
        tools.compile(f"{folder}/fused_moe{suffix}.mlir", stem + ".dfa",
                      ",".join(f"{name}={value}" for name, value in params.items()))
        with open(f"{folder}/workload{suffix}.json") as file:
            workload = json.load(file)
        workload["points"] = [
            {"name": str(i), "hidden": params["hidden"], "expert_width": params["width"],
             "rows_per_expert": counts, "tokens": tokens}
            for i, (counts, tokens) in enumerate(routings)]
        for name, argument in workload["arguments"].items():
            if name in SUMMED[form]:  # products of the size of the example's
                fan = params["hidden"] if name.startswith("gate_up") else params["width"]
                fill = argument["fill"]
                if form == "core":
                    fill["normal"]["scale"] = 1 / math.sqrt(fan)
                else:
                    fill["uniform"].update(low=0.01 / math.sqrt(fan), high=0.03 / math.sqrt(fan))
        with open(stem + ".json", "w") as file:
            json.dump(workload, file)
        sizes = [word for name in ("rows", "group", "choices") if name in params
                 for word in ("--set", f"{name}={params[name]}")]
        truth = {}  # inputs are the same under every topology
        for topology in TOPOLOGIES:
            tools.call("df-run", stem + ".dfa", "--input", stem + ".json", "--point", "all",
                       "--quiet", "--check", "--tolerance", TOLERANCE[params.get("element", E4M3)],
                       "--save-tensors", stem + ".%", *sizes, *topology)
            for i, (counts, _) in enumerate(routings):
                tensors = read_tensors(f"{stem}.{i}", None if i not in truth else ("y",))
                if i not in truth:
                    truth[i] = reference(tensors, counts, params)
                what = f"{form}, {params}, {counts}, {' '.join(topology)}"
                error = relative_l2(tensors["y"][1], truth[i], what)
                limit = LIMITS[form]
                if not error <= limit:
                    raise Failed(f"{what}: relative L2 error {error:.2e}, limit {limit:.0e}")
                worst = max(worst, error)
    print(f"{form}: {len(cases)} sets of parameters, worst relative L2 error {worst:.2e}")


def test():
    parser = arguments(__doc__)
    parser.add_argument("--examples", required=True, help="folder of the examples' sources")
    options = parser.parse_args()
    folder = os.path.join(options.examples, "fused-moe")
    tools = Tools(options)
    test_form(tools, folder, "core", CORE, core)
    test_form(tools, folder, "full", FULL, full)


if __name__ == "__main__":
    main(test)

#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the operators of examples/ against their definitions: edge sizes on the
CPU device under several plans, compared with operator_references.py, which is
written in float64 and apart from every other evaluator of this project."""

import json
import os

import operator_references as references
from harness import Failed, Tools, arguments, main, read_tensors, relative_l2

TOPOLOGIES = (["--ctas", "7"], ["--ctas", "8", "--cluster-size", "4"],
              ["--ctas", "3", "--solver", "tickets"])
# What a GPU's kernel is made from; the handlers' own bodies stay for the CPU.
PASSES = ("--dataflow-split-roles", "--dataflow-assign-layouts", "--dataflow-verify-kernel")
# Largest relative L2 error by the element type of the output.
LIMITS = {"f32": 1e-4, "f16": 1e-3, "bf16": 4e-3}


class Case:
    """A program with bound parameters and the points that it is run on.

    `params` are bound when the program is compiled; those that are numbers are
    dimensions of the workload too, where it has them. `arguments` add to those of
    the workload.
    `fragments` are the handlers that a GPU has to lay out over threads.
    """

    def __init__(self, example, program, reference, params, points, sizes=None, arguments=None,
                 fragments=()):
        self.example, self.program, self.reference = example, program, reference
        self.params, self.points, self.sizes = params, points, sizes or {}
        self.arguments, self.fragments = arguments or {}, fragments

    def name(self):
        return "_".join([self.program, *map(str, self.params.values())])

    def source(self, examples):
        return os.path.join(examples, self.example, self.program + ".mlir")

    def bindings(self):
        """As df-opt takes them."""
        return ",".join(f"{k}={v}" for k, v in self.params.items())

    def workload(self, examples):
        with open(os.path.join(examples, self.example, "workload.json")) as file:
            workload = json.load(file)
        workload["points"] = [{"name": str(i), **point} for i, point in enumerate(self.points)]
        for argument, more in self.arguments.items():
            workload["arguments"][argument].update(more)
        return workload

    def dimensions(self, examples):
        """Dimensions of the workload that the program fixes."""
        known = self.workload(examples)["dimensions"]
        return {**{k: v for k, v in self.params.items() if k in known}, **self.sizes}


def gqa(group, draft, dim, page, element, points, kv_heads=2):
    points = [{"lengths": lengths} for lengths in points]
    return Case("gqa-decode", "gqa_decode", references.gqa_decode,
                {"group": group, "draft": draft, "dim": dim, "page": page, "element": element},
                points, {"kv_heads": kv_heads}, fragments=("attend",) if page >= 64 else ())


def grouped(columns, depth, tiles, element, points):
    row_tile, column_tile, step = tiles
    points = [{"lengths": lengths} for lengths in points]
    return Case("grouped-gemm", "grouped_gemm", references.grouped_gemm,
                {"columns": columns, "depth": depth, "row_tile": row_tile,
                 "column_tile": column_tile, "step": step, "element": element, "result": "bf16"},
                points, fragments=("multiply",))


def dense(columns, depth, tiles, element, points):
    row_tile, column_tile, step = tiles
    return Case("dense-gemm", "dense_gemm", references.dense_gemm,
                {"columns": columns, "depth": depth, "row_tile": row_tile,
                 "column_tile": column_tile, "step": step, "element": element},
                [{"rows": rows} for rows in points], fragments=("multiply",))


def split(rows, columns, depth, tiles, element):
    row_tile, column_tile, step = tiles
    return Case("dense-gemm", "split_gemm", references.dense_gemm,
                {"rows": rows, "columns": columns, "depth": depth, "row_tile": row_tile,
                 "column_tile": column_tile, "step": step, "element": element},
                [{"rows": rows}], fragments=("multiply", "add", "store"))


def rows(example, reference, lanes, params, points, fragments):
    """A program on rows in lines of `lanes` elements; lines behind a row are NaN."""
    points = [{"lengths": lengths, "used": [-(-length // lanes) for length in lengths]}
              for lengths in points]
    return Case(example, example.replace("-", "_"), reference, params, points,
                arguments={"x": {"padding": {"lengths": "used", "value": "nan"}}},
                fragments=fragments)


def softmax(tile, lanes, element, points):
    return rows("ragged-softmax", references.ragged_softmax, lanes,
                {"tile": tile, "lanes": lanes, "element": element}, points,
                ("scan", "merge", "scale", "store"))


def prefix(tile, element, points):
    return rows("prefix-sum", references.prefix_sum, 16, {"tile": tile, "element": element},
                points, ("sum", "add", "scan", "store"))


def three(tile, element, points):
    return rows("three-maps", references.three_maps, 128, {"tile": tile, "element": element},
                points, ("moments", "scale", "tail", "add", "store"))


CASES = (
    gqa(8, 1, 128, 64, "f16", [[0, 1, 65, 130], [], [64]]),
    gqa(1, 1, 64, 16, "bf16", [[37, 0, 16, 1]]),
    gqa(3, 2, 64, 16, "f16", [[17, 33, 1, 0, 2]]),
    gqa(4, 4, 128, 64, "bf16", [[66, 3, 4, 35, 130]]),
    gqa(3, 1, 64, 64, "f16", [[65, 0, 1]]),
    gqa(16, 1, 256, 64, "f16", [[65]], kv_heads=1),
    gqa(1, 2, 64, 64, "f16", [[32769]], kv_heads=1),
    gqa(16, 4, 64, 32, "f16", [[34, 70]], kv_heads=1),
    softmax(1024, 256, "f16", [[1025, 0, 1, 255, 256, 2000], [], [0, 0], [9000]]),
    softmax(4096, 1024, "f32", [[4097, 3, 0]]),
    prefix(256, "f16", [[257, 0, 1, 16, 600], [], [0], [3000]]),
    prefix(1024, "f32", [[1024, 1025]]),
    three(512, "f16", [[513, 0, 1, 128, 2000], [], [0], [5000]]),
    three(4096, "bf16", [[100, 4100]]),
    grouped(128, 128, (64, 64, 64), "bf16", [[65, 0, 1, 64], [], [0, 0], [130]]),
    grouped(104, 64, (64, 64, 32), "f16", [[7, 70]]),
    dense(128, 128, (64, 64, 64), "f16", [64, 1, 130, 0]),
    dense(72, 192, (128, 64, 64), "bf16", [129]),
    split(65, 136, 256, (64, 64, 64), "f16"),
    split(64, 128, 512, (64, 128, 64), "bf16"),
    split(3, 64, 128, (64, 64, 64), "f16"),
    grouped(136, 256, (64, 128, 128), "f8E4M3FN", [[3, 0, 66]]),
)


def run(tools, examples, case):
    """The largest error of an output."""
    stem = tools.path(case.name())
    tools.compile(case.source(examples), stem + ".dfa", case.bindings(), PASSES, "cpu")
    with open(stem + ".json", "w") as file:
        json.dump(case.workload(examples), file)
    dimensions = case.dimensions(examples)
    sizes = [word for k, v in dimensions.items() for word in ("--set", f"{k}={v}")]
    worst = 0.0
    truth = {}  # inputs are the same under every topology
    for topology in TOPOLOGIES:
        tools.call("df-run", stem + ".dfa", "--input", stem + ".json", "--point", "all", "--quiet",
                   "--check", "--save-tensors", stem + ".%", *sizes, *topology)
        for i, point in enumerate(case.points):
            tensors = read_tensors(f"{stem}.{i}")
            if i not in truth:
                truth[i] = case.reference(tensors, {**case.params, **dimensions, **point})
            for output, expected in truth[i].items():
                what = f"{case.name()}, {point}, {' '.join(topology)}: {output}"
                error = relative_l2(tensors[output][1], expected, what)
                limit = LIMITS[case.params.get("result", case.params["element"])]
                if not error <= limit:
                    raise Failed(f"{what}: relative L2 error {error:.2e}, limit {limit:.0e}")
                worst = max(worst, error)
    return worst


def test():
    parser = arguments(__doc__)
    parser.add_argument("--examples", required=True, help="folder of the examples' sources")
    parser.add_argument("--example", help="only this one")
    options = parser.parse_args()
    tools = Tools(options)
    cases = [case for case in CASES if options.example in (None, case.example)]
    worst = max(run(tools, options.examples, case) for case in cases)
    print(f"{len(cases)} programs, worst relative L2 error {worst:.2e}")


if __name__ == "__main__":
    main(test)

#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds examples/mla-decode against the textbook: a softmax in float64, written
from the definition and apart from every other evaluator of this project."""

import json
import math
import os
from operator import mul

from harness import Failed, Tools, arguments, main, read_tensors, relative_l2

KEY, VALUE = 576, 512

# (form, heads, page, element, lengths of the points); in the dense form the page
# is the tile of the range, which batches need not be padded to.
CASES = (
    ("paged", 16, 16, "f16", [[0, 1, 37], [16, 15, 17, 0]]),
    ("paged", 32, 64, "f16", [[65, 128, 0, 70], [1], []]),
    ("paged", 32, 64, "bf16", [[130, 0, 3]]),
    ("paged", 32, 128, "f16", [[129, 1]]),
    ("paged", 128, 64, "f16", [[0, 66]]),
    ("paged", 128, 16, "bf16", [[33, 5]]),
    ("dense", 16, 64, "f16", [[70, 0, 5], []]),
    ("dense", 32, 16, "bf16", [[1, 40]]),
)
LIMITS = {"f16": 1e-3, "bf16": 4e-3}
LSE_LIMIT = 1e-4
TOPOLOGIES = (["--ctas", "7"], ["--ctas", "8", "--cluster-size", "4"],
              ["--ctas", "3", "--solver", "tickets"])


def attention(query, keys, lengths, heads):
    """Outputs of softmax(q k^T / sqrt(576)) v and log-sum-exps, row-major.

    query(r, h) and keys(r, t) are vectors; the value is the key's first part.
    """
    outputs, sums = [], []
    scale = 1 / math.sqrt(KEY)
    for request, length in enumerate(lengths):
        rows = [keys(request, t) for t in range(length)]
        columns = list(zip(*(row[:VALUE] for row in rows)))
        for head in range(heads):
            q = query(request, head)
            scores = [scale * sum(map(mul, q, row)) for row in rows]
            if not scores:
                outputs += [0.0] * VALUE
                sums.append(-math.inf)
                continue
            most = max(scores)
            weights = [math.exp(score - most) for score in scores]
            total = sum(weights)
            outputs += [sum(map(mul, weights, column)) / total for column in columns]
            sums.append(most + math.log(total))
    return outputs, sums


def rows_of(tensors, name):
    """A function from indices to the vector along the last dimension."""
    shape, data = tensors[name]

    def row(*index):
        flat = 0
        for extent, i in zip(shape, index):
            flat = flat * extent + i
        return data[flat * shape[-1]:(flat + 1) * shape[-1]]
    return row


def expected(tensors, form, lengths, heads, page):
    if form == "dense":
        query = [rows_of(tensors, name) for name in ("q_latent", "q_rope")]
        keys = [rows_of(tensors, name) for name in ("latent", "rope")]
        return attention(lambda *at: query[0](*at) + query[1](*at),
                         lambda *at: keys[0](*at) + keys[1](*at), lengths, heads)
    pages, table = rows_of(tensors, "pages"), tensors["table"]
    columns = table[0][1]

    def key(request, token):
        return pages(table[1][request * columns + token // page], token % page)
    return attention(rows_of(tensors, "q"), key, lengths, heads)


def compare(values, truth, limit, what):
    error = relative_l2(values, truth, what)
    if not error <= limit:
        raise Failed(f"{what}: relative L2 error {error:.2e}, limit {limit:.0e}")
    return error


def test():
    parser = arguments(__doc__)
    parser.add_argument("--examples", required=True, help="folder of the examples' sources")
    options = parser.parse_args()
    tools = Tools(options)
    worst = 0.0
    for form, heads, page, element, points in CASES:
        stem = tools.path(f"{form}_{heads}_{page}_{element}")
        suffix, tile = ("_dense", "tile") if form == "dense" else ("", "page")
        folder = os.path.join(options.examples, "mla-decode")
        tools.compile(f"{folder}/mla_decode{suffix}.mlir", stem + ".dfa",
                      f"heads={heads},{tile}={page},element={element}")
        with open(f"{folder}/workload{suffix}.json") as file:
            workload = json.load(file)
        workload["points"] = [{"name": str(i), "lengths": p} for i, p in enumerate(points)]
        with open(stem + ".json", "w") as file:
            json.dump(workload, file)
        sizes = ["--set", f"heads={heads}"]
        if form == "paged":
            sizes += ["--set", f"page={page}"]
        truth = {}  # inputs are the same under every topology
        for topology in TOPOLOGIES:
            tools.call("df-run", stem + ".dfa", "--input", stem + ".json", "--point", "all",
                       "--quiet", "--check", "--save-tensors", stem + ".%", *sizes, *topology)
            for i, lengths in enumerate(points):
                tensors = read_tensors(f"{stem}.{i}", None if i not in truth else ("out", "lse"))
                what = f"{form}, heads {heads}, page {page}, {element}, {lengths}, " + \
                    " ".join(topology)
                if i not in truth:
                    truth[i] = expected(tensors, form, lengths, heads, page)
                outputs, sums = truth[i]
                worst = max(worst, compare(tensors["out"][1], outputs, LIMITS[element],
                                           f"{what}: out"))
                compare(tensors["lse"][1], sums, LSE_LIMIT, f"{what}: lse")
    print(f"{len(CASES)} shapes, worst relative L2 error of out {worst:.2e}")


if __name__ == "__main__":
    main(test)

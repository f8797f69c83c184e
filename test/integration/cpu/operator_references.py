# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of examples/, from their definitions, in float64.

Each takes {name: (shape, values)} and the dimensions and lists of the point, and
returns {output: values}. Standard library only.
"""

import math
from operator import mul


class View:
    """Row-major values by index; fewer indices give a vector of the rest."""

    def __init__(self, tensor):
        self.shape, self.data = tensor

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        flat = 0
        for extent, i in zip(self.shape, index):
            flat = flat * extent + i
        count = math.prod(self.shape[len(index):])
        if len(index) == len(self.shape):
            return self.data[flat]
        return self.data[flat * count:(flat + 1) * count]


def dot(a, b):
    return sum(map(mul, a, b))


def softmax(scores):
    """Weights and log-sum-exp; of no scores none and -inf."""
    if not scores:
        return [], -math.inf
    most = max(scores)
    weights = [math.exp(score - most) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights], most + math.log(total)


def gqa_decode(tensors, sizes):
    q, keys, values, table = (View(tensors[name]) for name in ("q", "keys", "values", "table"))
    group, draft, dim, page = (sizes[name] for name in ("group", "draft", "dim", "page"))
    out, lse = [], []
    for request, length in enumerate(sizes["lengths"]):
        places = [(table[request, t // page], t % page) for t in range(length)]
        for head in range(sizes["kv_heads"]):
            columns = [keys[p, head, t] for p, t in places]
            rows = list(zip(*(values[p, head, t] for p, t in places)))
            for row in range(group * draft):
                seen = max(0, length - draft + row // group + 1)
                query = q[request, head, row]
                weights, total = softmax([dot(query, k) / math.sqrt(dim) for k in columns[:seen]])
                out += [dot(weights, column[:seen]) for column in rows] or [0.0] * dim
                lse.append(total)
    return {"out": out, "lse": lse}


def grouped_gemm(tensors, sizes):
    a, b, out_scale = View(tensors["a"]), View(tensors["b"]), View(tensors["a_scale"])[0]
    b_scale, out, row = View(tensors["b_scale"]), [], 0
    for group, length in enumerate(sizes["lengths"]):
        scale = out_scale * b_scale[group]
        columns = [b[group, column] for column in range(sizes["columns"])]
        for row in range(row, row + length):
            left = a[row]
            out += [scale * dot(left, column) for column in columns]
        row = sum(sizes["lengths"][:group + 1])
    return {"out": out}


def dense_gemm(tensors, sizes):
    a, b = View(tensors["a"]), View(tensors["b"])
    columns = [b[column] for column in range(sizes["columns"])]
    return {"out": [dot(a[row], column) for row in range(sizes["rows"]) for column in columns]}


def lines(tensors, sizes, lanes):
    """The valid elements of each row, and how many there are with its last tile."""
    x, tile = View(tensors["x"]), sizes["tile"]
    for row, length in enumerate(sizes["lengths"]):
        values = [v for line in range(-(-length // lanes)) for v in x[row, line]][:length]
        yield values, -(-length // tile) * tile


def ragged_softmax(tensors, sizes):
    y, lse = [], []
    capacity = math.prod(tensors["x"][0][1:])
    for values, written in lines(tensors, sizes, sizes["lanes"]):
        weights, total = softmax(values)
        y += weights + [0.0] * (written - len(values)) + [math.nan] * (capacity - written)
        lse.append(total)
    return {"y": y, "lse": lse}


def prefix_sum(tensors, sizes):
    y, totals = [], []
    capacity = math.prod(tensors["x"][0][1:])
    for values, written in lines(tensors, sizes, 16):
        total = 0.0
        for value in values:
            total += value
            y.append(total)
        y += [total] * (written - len(values)) + [math.nan] * (capacity - written)
        totals.append(total)
    return {"y": y, "totals": totals}


def three_maps(tensors, sizes):
    result = {name: [] for name in ("mean", "deviation", "skewness", "kurtosis", "far")}
    for values, _ in lines(tensors, sizes, 128):
        count = max(1, len(values))
        mean = math.fsum(values) / count
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / count)
        z = [(v - mean) / (deviation or 1.0) for v in values]
        result["mean"].append(mean)
        result["deviation"].append(deviation)
        result["skewness"].append(math.fsum(v ** 3 for v in z) / count)
        result["kurtosis"].append(math.fsum(v ** 4 for v in z) / count)
        result["far"].append(sum(abs(v) > 2 for v in z))
    return result

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

# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of records for random programs, each in MLIR and in plain Python.

A kind has an identity, a record made of one element (a short vector), an
associative merge, and the values that a finalize writes. Two kinds have merges
that do not commute, so a wrong order shows. The Python side is written apart
from every other evaluator of this project and computes in float64.
"""

import math

INF = math.inf


class Body:
    """Text of a handler: SSA names are numbered, constants made once."""

    def __init__(self, rng, width, indent="    "):
        self.lines, self.rng, self.width = [], rng, width
        self.counter, self.indent = [0], indent
        self.vector = f"tensor<{width}xf32>"

    def nested(self):
        inner = Body(self.rng, self.width, self.indent + "  ")
        inner.counter = self.counter
        return inner

    def op(self, text):
        self.counter[0] += 1
        name = f"%v{self.counter[0]}"
        self.lines.append(f"{self.indent}{name} = {text}")
        return name

    def line(self, text):
        self.lines.append(self.indent + text)

    def number(self, value):
        if value == -INF:
            return self.op("arith.constant 0xFF800000 : f32")
        return self.op(f"arith.constant {float(value):e} : f32")

    def index(self, value):
        return self.op(f"arith.constant {value} : index")

    def scalar(self, op, a, b):
        return self.op(f"arith.{op} {a}, {b} : f32")

    def splat(self, a):
        return self.op(f"tensor.splat {a} : {self.vector}")

    def elementwise(self, op, a, b):
        """Two spellings that mean the same."""
        if self.rng.random() < 0.5:
            return self.op(f"arith.{op} {a}, {b} : {self.vector}")
        empty = self.op(f"tensor.empty() : {self.vector}")
        return self.op(
            "linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, "
            "affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], "
            'iterator_types = ["parallel"]} '
            f"ins({a}, {b} : {self.vector}, {self.vector}) outs({empty} : {self.vector}) {{\n"
            f"{self.indent}^bb0(%l: f32, %r: f32, %o: f32):\n"
            f"{self.indent}  %x = arith.{op} %l, %r : f32\n"
            f"{self.indent}  linalg.yield %x : f32\n"
            f"{self.indent}}} -> {self.vector}")

    def scaled(self, factor, vector):
        """Scalar times vector."""
        return self.elementwise("mulf", self.splat(factor), vector)

    def at(self, vector, place):
        return self.op(f"tensor.extract {vector}[{self.index(place)}] : {self.vector}")

    def squashed(self, a):
        one = self.number(1)
        return self.scalar("divf", a, self.scalar("addf", a, one))

    def whole_or_one(self, a):
        """a, or 1 where a is 0."""
        zero, one = self.number(0), self.number(1)
        empty = self.op(f"arith.cmpf oeq, {a}, {zero} : f32")
        return self.op(f"arith.select {empty}, {one}, {a} : f32")


class Kind:
    """Base: fields are (name, shape); 0 in a shape stands for the width."""
    fields = ()
    commutes = True

    def types(self, width, rows=None, dynamic=False):
        lead = ["?"] if dynamic else []
        if rows is not None:
            lead = lead + [str(rows)]
        result = []
        for _, shape in self.fields:
            dims = lead + [str(d or width) for d in shape]
            result.append("tensor<" + "".join(d + "x" for d in dims) + "f32>" if dims else "f32")
        return result

    def record(self, width, rows=None):
        names = [name for name, _ in self.fields]
        fields = ", ".join(f"{n}: {t}" for n, t in zip(names, self.types(width, rows)))
        return f"!dataflow.record<{fields}>"


class Sum(Kind):
    """Count and vector sum: separable along the vector."""
    name, fields = "sum", (("n", ()), ("v", (0,)))

    def identity(self, b):
        zero = b.number(0)
        return [zero, b.splat(zero)]

    def element(self, b, e):
        return [b.number(1), e]

    def merge(self, b, x, y):
        return [b.scalar("addf", x[0], y[0]), b.elementwise("addf", x[1], y[1])]

    def outputs(self, b, x):
        more = b.scalar("addf", x[0], b.number(1))
        return [b.squashed(x[0]), b.elementwise("divf", x[1], b.splat(more))]

    def feature(self, b, x):
        more = b.scalar("addf", x[0], b.number(1))
        return b.scalar("divf", b.at(x[1], 0), more)

    def py_identity(self, width):
        return [0.0, [0.0] * width]

    def py_element(self, e):
        return [1.0, list(e)]

    def py_merge(self, x, y):
        return [x[0] + y[0], [p + q for p, q in zip(x[1], y[1])]]

    def py_outputs(self, x):
        return [x[0] / (1 + x[0]), [p / (1 + x[0]) for p in x[1]]]

    def py_feature(self, x):
        return x[1][0] / (x[0] + 1)


class Soft(Kind):
    """State of an online softmax: statistics and a separable sum."""
    name, fields = "soft", (("m", ()), ("l", ()), ("v", (0,)))

    def identity(self, b):
        zero = b.number(0)
        return [b.number(-INF), zero, b.splat(zero)]

    def element(self, b, e):
        return [b.scalar("mulf", b.at(e, 0), b.number(4)), b.number(1), e]

    def _weight(self, b, part, most):
        empty = b.op(f"arith.cmpf oeq, {part}, {b.number(-INF)} : f32")
        power = b.op(f"math.exp {b.scalar('subf', part, most)} : f32")
        return b.op(f"arith.select {empty}, {b.number(0)}, {power} : f32")

    def merge(self, b, x, y):
        most = b.scalar("maximumf", x[0], y[0])
        p, q = self._weight(b, x[0], most), self._weight(b, y[0], most)
        total = b.scalar("addf", b.scalar("mulf", p, x[1]), b.scalar("mulf", q, y[1]))
        return [most, total, b.elementwise("addf", b.scaled(p, x[2]), b.scaled(q, y[2]))]

    def outputs(self, b, x):
        divisor = b.splat(b.whole_or_one(x[1]))
        return [x[0], b.squashed(x[1]), b.elementwise("divf", x[2], divisor)]

    def feature(self, b, x):
        return b.scalar("divf", b.at(x[2], 0), b.whole_or_one(x[1]))

    def py_identity(self, width):
        return [-INF, 0.0, [0.0] * width]

    def py_element(self, e):
        return [4 * e[0], 1.0, list(e)]

    def py_merge(self, x, y):
        most = max(x[0], y[0])
        p = 0.0 if x[0] == -INF else math.exp(x[0] - most)
        q = 0.0 if y[0] == -INF else math.exp(y[0] - most)
        return [most, p * x[1] + q * y[1], [p * s + q * t for s, t in zip(x[2], y[2])]]

    def py_outputs(self, x):
        return [x[0], x[1] / (1 + x[1]), [p / (x[1] or 1) for p in x[2]]]

    def py_feature(self, x):
        return x[2][0] / (x[1] or 1)


class Matrix(Kind):
    """Product of stochastic 2 x 2 matrices: neither commutes nor separates."""
    name, fields, commutes = "matrix", (("p", (2, 2)),), False
    square = "tensor<2x2xf32>"

    def identity(self, b):
        return [b.op(f"arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : {self.square}")]

    def element(self, b, e):
        factor, one = b.number(0.375), b.number(1)
        p = b.scalar("mulf", b.at(e, 0), factor)
        q = b.scalar("mulf", b.at(e, b.width - 1), factor)
        q = b.scalar("mulf", q, b.number(0.5))
        return [b.op(f"tensor.from_elements {b.scalar('subf', one, p)}, {p}, {q}, "
                     f"{b.scalar('subf', one, q)} : {self.square}")]

    def merge(self, b, x, y):
        zero = b.op(f"arith.constant dense<0.0> : {self.square}")
        return [b.op(f"linalg.matmul ins({x[0]}, {y[0]} : {self.square}, {self.square}) "
                     f"outs({zero} : {self.square}) -> {self.square}")]

    def outputs(self, b, x):
        return [x[0]]

    def feature(self, b, x):
        return b.op(f"tensor.extract {x[0]}[{b.index(0)}, {b.index(1)}] : {self.square}")

    def py_identity(self, width):
        return [[[1.0, 0.0], [0.0, 1.0]]]

    def py_element(self, e):
        p, q = 0.375 * e[0], 0.1875 * e[-1]
        return [[[1 - p, p], [q, 1 - q]]]

    def py_merge(self, x, y):
        a, b = x[0], y[0]
        return [[[a[i][0] * b[0][j] + a[i][1] * b[1][j] for j in (0, 1)] for i in (0, 1)]]

    def py_outputs(self, x):
        return [x[0]]

    def py_feature(self, x):
        return x[0][0][1]


class Affine(Kind):
    """Composition of t -> a t + b: scalars that do not commute."""
    name, fields, commutes = "affine", (("a", ()), ("b", ())), False

    def identity(self, b):
        return [b.number(1), b.number(0)]

    def element(self, b, e):
        return [b.scalar("mulf", b.at(e, 0), b.number(0.5)), b.at(e, b.width - 1)]

    def merge(self, b, x, y):
        moved = b.scalar("addf", b.scalar("mulf", y[0], x[1]), y[1])
        return [b.scalar("mulf", y[0], x[0]), moved]

    def outputs(self, b, x):
        return [b.scalar("addf", x[0], b.number(1)), x[1]]

    def feature(self, b, x):
        return b.squashed(x[1])

    def py_identity(self, width):
        return [1.0, 0.0]

    def py_element(self, e):
        return [0.5 * e[0], e[-1]]

    def py_merge(self, x, y):
        return [y[0] * x[0], y[0] * x[1] + y[1]]

    def py_outputs(self, x):
        return [x[0] + 1, x[1]]

    def py_feature(self, x):
        return x[1] / (1 + x[1])


class Scalar(Kind):
    """One number."""
    name, fields = "scalar", (("s", ()),)

    def identity(self, b):
        return [b.number(0)]

    def element(self, b, e):
        return [b.scalar("mulf", b.at(e, 0), b.at(e, b.width - 1))]

    def merge(self, b, x, y):
        return [b.scalar("addf", x[0], y[0])]

    def outputs(self, b, x):
        return [b.squashed(x[0])]

    def feature(self, b, x):
        return b.squashed(x[0])

    def py_identity(self, width):
        return [0.0]

    def py_element(self, e):
        return [e[0] * e[-1]]

    def py_merge(self, x, y):
        return [x[0] + y[0]]

    def py_outputs(self, x):
        return [x[0] / (1 + x[0])]

    def py_feature(self, x):
        return x[0] / (1 + x[0])


KINDS = (Sum(), Soft(), Matrix(), Affine(), Scalar())

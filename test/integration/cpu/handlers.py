# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random handlers: MLIR text, workload, and expected outputs in float64.

A handler runs over the tiles of a range and carries sums, maxima, products with
matrices; what it does with a tile is a list of genes. A gene picks what it needs
from what is there, by numbers modulo how much there is, so any sublist of the
genes is a handler too: that is how a failing one is made smaller.

All numbers are positive and of moderate size. Nothing cancels, and no branch
depends on a rounded value, so paths that round differently agree.
"""

import math
import random

from tiles import Body, Tile, flat

ELEMENTS = ("f16", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "i32")
KINDS = ("unary", "unary", "binary", "binary", "spread", "narrow", "branch", "loop", "load", "cut")


class Genes:
    """What a handler is made from: sizes by name, and a list of small numbers."""

    def __init__(self, sizes, steps):
        self.sizes, self.steps = sizes, steps

    @staticmethod
    def random(seed):
        rng = random.Random(seed)
        odd = rng.random() < 0.3
        sizes = {
            "height": rng.choice((1, 3, 8, 24, 40) if odd else (16, 32, 64, 64, 128)),
            "width": rng.choice((8, 24, 40, 72) if odd else (16, 32, 64, 64, 128)),
            "matrix": rng.choice((0, 0, 5, 24) if odd else (0, 8, 16, 32, 64)),
            "element": rng.choice(ELEMENTS[:3] * 2 + ELEMENTS),
            "second": rng.choice((None, None) + ELEMENTS),
            "result": rng.choice(("f32", "f32", "f16", "bf16")),
            "padded": rng.random() < 0.5,
            "product": rng.random() < 0.6,
            "peak": rng.random() < 0.5,
            "points": rng.randrange(1 << 30)}
        steps = [(rng.choice(KINDS), *(rng.randrange(1 << 16) for _ in range(4)))
                 for _ in range(rng.randrange(1, 9))]
        return Genes(sizes, steps)

    def smaller(self):
        """Genes of which something is left out, most of it first."""
        count = len(self.steps)
        size = count
        while size:
            for first in range(0, count, size):
                yield Genes(self.sizes, self.steps[:first] + self.steps[first + size:])
            size //= 2
        simple = {"second": None, "peak": False, "product": False, "matrix": 0, "padded": False,
                  "result": "f32", "element": "f32", "height": 16, "width": 16}
        for name, value in simple.items():
            if self.sizes[name] != value:
                yield Genes({**self.sizes, name: value}, self.steps)

    def __repr__(self):
        return f"Genes({self.sizes!r}, {self.steps!r})"


class Handler:
    def __init__(self, name, genes):
        self.name, self.genes = name, genes
        s = genes.sizes
        self.height, self.width, self.rows = s["height"], s["width"], s["matrix"]
        if s["element"] in ("f32", "i32"):
            self.rows = 0  # no products on tensor cores
        self.product = bool(self.rows) and s["product"] and not s["element"].startswith("f8")
        self.narrowed = self.product
        self.streams = {"x": s["element"]}
        if s["second"]:
            self.streams["z"] = s["second"]
        self.body = self.write()

    def tolerance(self):
        return 2e-2 if self.narrowed else {"f32": 1e-4, "f16": 2e-3, "bf16": 8e-3}[
            self.genes.sizes["result"]]

    def fields(self):
        """Name, shape, identity and how parts are combined."""
        yield "sums", (self.width,), 0.0, "addf"
        if self.genes.sizes["peak"]:
            yield "peak", (), 0.0, "maximumf"
        if self.rows:
            yield "weights", (self.rows,), 0.0, "addf"
        if self.product:
            yield "products", (self.rows, self.width), 0.0, "addf"

    # The loop body.

    def load(self, b, name):
        element = self.streams[name]
        h, w = self.height, self.width
        text = f"tensor<?x?x{w}x{element}>"
        short, whole = f"tensor<?x{w}x{element}>", f"tensor<{h}x{w}x{element}>"
        if self.genes.sizes["padded"]:
            part = b.op(f"tensor.extract_slice %{name}[%row, %t, 0] [1, %valid, {w}] [1, 1, 1] : "
                        f"{text} to {short}")
            zero = b.constant("0" if element == "i32" else "0.0", element)
            v = b.name()
            b.lines += [f"{v} = tensor.pad {part} low[0, 0] high[%missing, 0] {{",
                        "^bb0(%pi: index, %pj: index):",
                        f"tensor.yield {zero} : {element}", f"}} : {short} to {whole}"]
        else:
            v = b.op(f"tensor.extract_slice %{name}[%row, %t, 0] [1, {h}, {w}] [1, 1, 1] : "
                     f"{text} to {whole}")
        stored = Tile(v, (h, w), lambda env: env[name], element)
        tile = b.widened(stored)
        # What padding is, or lies behind a row, must not matter; it must be positive, though.
        tile = b.masked(tile, 0.5)
        tile.stored = stored
        return tile

    def write(self):
        b = Body("w")
        pool = [self.load(b, "x")]
        vectors = []
        for kind, *g in self.genes.steps:
            x = pool[g[0] % len(pool)]
            if kind == "unary":
                pool.append(b.unary(x, g[1], g[2]))
            elif kind == "binary":
                pool.append(b.binary(x, pool[g[1] % len(pool)], g[2], g[3]))
            elif kind == "spread":
                same = [v for v in vectors if v.shape[0] == x.shape[v.dim]]
                if same:
                    pool.append(b.spread(x, same[g[1] % len(same)], g[2]))
            elif kind == "narrow":
                dim = g[1] % 2
                vector = b.reduced(b.masked(x, 0.0) if dim == 0 else x, dim, g[2])
                vector = b.unary(vector, g[3], g[2])
                vector.dim = 1 - dim
                vectors.append(vector)
            elif kind == "branch":
                pool.append(b.branch(x, g[1], g[2]))
            elif kind == "loop":
                pool.append(b.loop(x, g[1], g[2]))
            elif kind == "load" and len(self.streams) > 1:
                pool.append(self.load(b, "z"))
            elif kind == "cut":
                pool.append(b.unary(b.masked(x, 0.25), g[1], g[2]))
        last = b.masked(pool[-1], 0.0)
        self.updates = {"sums": b.reduced(last, 0, 0, "%sums", scale=False)}
        if self.genes.sizes["peak"]:
            self.updates["peak"] = b.peak(last, "%peak")
        if self.rows:
            self.matrix(b, pool[0])
        self.lines = b.lines
        return b

    def matrix(self, b, x):
        """Weights of the tokens for each row of a matrix, and their products with the tile."""
        element, m, h, w = self.streams["x"], self.rows, self.height, self.width
        stored = x.stored
        query = Tile("%query", (m, w), lambda env: env["q"], element)
        s = b.contract(query, stored, (1, 1), (m, h), None)
        s = b.unary(b.scaled(s, 1.0 / w), 5, 0)
        s = b.unary(s, self.genes.sizes["points"], 1)
        s = b.masked(s, 0.0, 1)
        self.updates["weights"] = b.reduced(s, 1, 0, "%weights", scale=False)
        if self.product:
            p = b.narrowed(s, element)
            self.updates["products"] = b.contract(p, stored, (1, 0), (m, w), "%products")

    # Text.

    def text(self):
        s = self.genes.sizes
        h, w, m = self.height, self.width, self.rows
        fields = list(self.fields())
        type_of = {n: "tensor<" + "".join(f"{d}x" for d in shape) + "f32>" if shape else "f32"
                   for n, shape, _, _ in fields}
        out_of = {n: "tensor<?x" + "".join(f"{d}x" for d in shape) + s["result"] + ">"
                  for n, shape, _, _ in fields}
        record = "!dataflow.record<" + ", ".join(f"{n}: {t}" for n, t in type_of.items()) + ">"
        operands = {n: f"tensor<?x?x{w}x{e}>" for n, e in self.streams.items()}
        if m:
            operands["q"] = f"tensor<?x{m}x{w}x{s['element']}>"
        arguments = ", ".join([f"%{n}: {t}" for n, t in operands.items()] +
                              ["%lengths: tensor<?xi32>"] +
                              [f"%{n}_out: {t}" for n, t in out_of.items()])
        typed = ", ".join(f"%{n}: {t}" for n, t in operands.items())
        results = ", ".join(type_of.values())
        outs = ", ".join(out_of.values())
        lines = [f"dataflow.program @{self.name}({arguments}) {{",
                 "%c0 = arith.constant 0 : index",
                 "%rows = tensor.dim %lengths, %c0 : tensor<?xi32>",
                 "dataflow.tasks @rows(row = %rows)",
                 f"dataflow.range @span of @rows length %lengths[row] tile {h} : tensor<?xi32>",
                 f"%parts = dataflow.map @step tasks @rows over @span operands("
                 f"{', '.join('%' + n for n in operands)} : {', '.join(operands.values())})",
                 f"  : () -> !dataflow.channel<{record}, pieces>",
                 f"%whole = dataflow.reduce @join(%parts) : (!dataflow.channel<{record}, pieces>) "
                 f"-> !dataflow.channel<{record}> identity {{"]
        b = Body()
        start = [b.filled(shape, value) for _, shape, value, _ in fields]
        lines += b.lines + [f"dataflow.yield {', '.join(start)} : {results}", "}",
                            f"dataflow.finalize @store(%whole) tasks @rows outs("
                            f"{', '.join('%' + n + '_out' for n in out_of)} : {outs})",
                            f"  : (!dataflow.channel<{record}>) -> ()"]

        b = Body()
        start = [b.filled(shape, value) for _, shape, value, _ in fields]
        lines += [f"dataflow.handler @step(%row: index, %begin: index, %end: index, {typed}) "
                  f"-> ({results}) {{", "%c0 = arith.constant 0 : index",
                  "%c1 = arith.constant 1 : index", "%c2 = arith.constant 2 : index",
                  f"%height = arith.constant {h} : index", *b.lines]
        if m:
            lines.append(f"%query = tensor.extract_slice %q[%row, 0, 0] [1, {m}, {w}] [1, 1, 1] : "
                         f"{operands['q']} to tensor<{m}x{w}x{s['element']}>")
        count = f":{len(fields)}" if len(fields) > 1 else ""
        carried = ", ".join(f"%{n} = {v}" for n, v in zip(type_of, start))
        lines += [f"%r{count} = scf.for %t = %begin to %end step %height iter_args({carried}) "
                  f"-> ({results}) {{", "%left = arith.subi %end, %t : index",
                  "%valid = arith.minui %left, %height : index",
                  "%missing = arith.subi %height, %valid : index",
                  "%number = arith.divui %t, %height : index", *self.lines,
                  "scf.yield " + ", ".join(self.updates[n].ssa for n in type_of) + " : " + results,
                  "}"]
        names = [f"%r#{i}" for i in range(len(fields))] if count else ["%r"]
        lines += [f"dataflow.yield {', '.join(names)} : {results}", "}"]

        b = Body()
        pair = ", ".join(f"%{n}_{side}: {t}" for side in "ab" for n, t in type_of.items())
        joined = [b.op(f"arith.{how} %{n}_a, %{n}_b : {type_of[n]}") for n, _, _, how in fields]
        lines += [f"dataflow.handler @join({pair}) -> ({results}) {{", *b.lines,
                  f"dataflow.yield {', '.join(joined)} : {results}", "}"]

        b = Body()
        written = [b.stored(n, shape, s["result"]) for n, shape, _, _ in fields]
        taken = ", ".join(f"%{n}: {t}" for n, t in type_of.items())
        given = ", ".join(f"%{n}_out: {t}" for n, t in out_of.items())
        lines += [f"dataflow.handler @store(%row: index, {taken}, {given}) -> ({outs}) {{",
                  *b.lines, f"dataflow.yield {', '.join(written)} : {outs}", "}", "}", ""]
        return "\n".join(lines)

    def workload(self):
        rng = random.Random(self.genes.sizes["points"])
        h = self.height
        lengths = [rng.choice((0, 1, h - 1, h, h + 1, 2 * h, 3 * h + h // 2, 5 * h))
                   for _ in range(rng.randrange(1, 6))]
        points = [{"name": "mixed", "lengths": lengths}, {"name": "none", "lengths": []},
                  {"name": "empty", "lengths": [0, 0]}]
        arguments = {}
        for seed, (name, element) in enumerate(self.streams.items()):
            fill = {"random_integers": {"seed": seed, "low": 1, "high": 15}} if element == "i32" \
                else {"uniform": {"seed": seed, "low": 0.25, "high": 1.25}}
            arguments[name] = {"shape": ["rows", "tokens", self.width], "fill": fill}
        if self.rows:
            # Hopper adds products of FP8 with 13 bits behind the leading one: multiples of 1/32
            # are exact there below 512, which is more than 128 products with 1 or 2 sum up to.
            fill = {"random_integers": {"seed": 7, "low": 1, "high": 2}} \
                if self.streams["x"].startswith("f8") \
                else {"uniform": {"seed": 7, "low": 0.25, "high": 1.25}}
            arguments["q"] = {"shape": ["rows", self.rows, self.width], "fill": fill}
        arguments["lengths"] = {"shape": ["rows"], "fill": {"values": "lengths"}}
        for name, shape, _, _ in self.fields():
            arguments[name + "_out"] = {"shape": ["rows", *shape]}
        # Where tiles are not padded, a whole one can be read from the last token.
        dimensions = {"rows": {"count": "lengths"},
                      "tokens": {"add": [{"max": "lengths"}, h]}}
        return {"program": self.name, "points": points, "dimensions": dimensions,
                "arguments": arguments}

    # Expected outputs.

    def expected(self, tensors):
        h, w = self.height, self.width
        rows = tensors["lengths"][1]
        outputs = {n: [] for n, _, _, _ in self.fields()}
        for row, length in enumerate(rows):
            state = {n: [v] * math.prod(shape) for n, shape, v, _ in self.fields()}
            for t in range(0, length, h):
                env = {"%" + n: v for n, v in state.items()}
                env.update(valid=min(h, length - t), number=t // h)
                for name in self.streams:
                    tokens = tensors[name][0][1]
                    first = (row * tokens + t) * w
                    env[name] = tensors[name][1][first:first + h * w]
                if self.rows:
                    env["q"] = flat(tensors["q"], row)
                state = {n: u.value(env) for n, u in self.updates.items()}
            for n in outputs:
                outputs[n] += state[n]
        return {n + "_out": v for n, v in outputs.items()}

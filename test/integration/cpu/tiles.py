# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on tiles for random handlers: each as MLIR, in one of several forms,
and as a function of Python lists."""

import math

# Text on scalars, from %a; and its value. Positive numbers stay positive.
UNARY = (
    (["%u = math.tanh %a : f32"], math.tanh),
    (["%u = math.sqrt %a : f32"], math.sqrt),
    (["%n = arith.negf %a : f32", "%u = math.exp2 %n : f32"], lambda a: 2.0 ** -a),
    (["%one = arith.constant 1.0 : f32", "%d = arith.addf %a, %one : f32",
      "%u = arith.divf %one, %d : f32"], lambda a: 1 / (1 + a)),
    (["%h = arith.constant 0.5 : f32", "%m = arith.mulf %a, %h : f32",
      "%u = arith.addf %m, %h : f32"], lambda a: 0.5 * a + 0.5),
    (["%u = math.absf %a : f32"], abs),
)
BINARY = (
    (["%s = arith.addf %a, %b : f32", "%h = arith.constant 0.5 : f32",
      "%u = arith.mulf %s, %h : f32"], lambda a, b: 0.5 * (a + b)),
    (["%u = arith.mulf %a, %b : f32"], lambda a, b: a * b),
    (["%u = arith.maximumf %a, %b : f32"], max),
    (["%u = arith.minimumf %a, %b : f32"], min),
)
REDUCTIONS = (("addf", math.fsum, 0.0), ("maximumf", max, 0.0), ("minimumf", min, 4.0))


def flat(tensor, row):
    """Row `row` of the first dimension."""
    shape, data = tensor
    count = math.prod(shape[1:])
    return data[row * count:(row + 1) * count]


class Tile:
    """`value(env)` is a list in row-major order, computed once for each env."""

    def __init__(self, ssa, shape, function, element="f32"):
        self.ssa, self.shape, self.element = ssa, shape, element
        self.function, self.memo = function, (None, None)
        self.dim, self.stored = None, None

    def type(self, element=None):
        return "tensor<" + "".join(f"{d}x" for d in self.shape) + (element or self.element) + ">"

    def value(self, env):
        if self.memo[0] is not env:
            self.memo = (env, self.function(env))
        return self.memo[1]


class Body:
    """Lines of a handler; its values are called %<prefix><number>."""

    def __init__(self, prefix="v"):
        self.prefix, self.lines, self.count = prefix, [], 0

    def name(self):
        self.count += 1
        return f"%{self.prefix}{self.count}"

    def op(self, text):
        result = self.name()
        self.lines.append(f"{result} = {text}")
        return result

    def constant(self, text, element="f32"):
        return self.op(f"arith.constant {text} : {element}")

    def filled(self, shape, value):
        scalar = self.constant(repr(value))
        if not shape:
            return scalar
        return self.op(f"tensor.splat {scalar} : {Tile('', shape, None).type()}")

    def empty(self, shape, element="f32"):
        return self.op(f"tensor.empty() : {Tile('', shape, None, element).type()}")

    # Structured operations.

    def generic(self, inputs, maps, shape, lines, result="%u"):
        """One output of `shape`; inputs are %a, %b, ... of the lines."""
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        every = [*maps, range(len(shape))]
        texts = ", ".join(f"affine_map<({dims}) -> ({', '.join(f'd{d}' for d in m)})>"
                          for m in every)
        kinds = ", ".join(['"parallel"'] * len(shape))
        init = self.empty(shape)
        names = ", ".join(f"%{chr(97 + i)}: {x.element}" for i, x in enumerate(inputs))
        out = self.name()
        ins = f"ins({', '.join(x.ssa for x in inputs)} : {', '.join(x.type() for x in inputs)}) " \
            if inputs else ""
        whole = Tile(out, shape, None).type()
        self.lines += [f"{out} = linalg.generic {{indexing_maps = [{texts}], "
                       f"iterator_types = [{kinds}]}} {ins}outs({init} : {whole}) {{",
                       f"^bb0({names}{', ' if names else ''}%o: f32):", *lines,
                       f"linalg.yield {result} : f32", f"}} -> {whole}"]
        return out

    def tensor_lines(self, lines, names, shape):
        """Scalar lines as operations on whole tiles."""
        kind = Tile("", shape, None).type()
        scope = dict(names)
        for line in lines:
            target, text = line.split(" = ", 1)
            if text.startswith("arith.constant"):
                scope[target] = self.op(f"tensor.splat {self.op(text)} : {kind}")
                continue
            head, operands = text.rsplit(" : ", 1)[0].split(" ", 1)
            values = ", ".join(scope[v] for v in operands.split(", "))
            scope[target] = self.op(f"{head} {values} : {kind}")
        return scope["%u"]

    def apply(self, choice, inputs, form):
        lines, function = choice
        shape = inputs[0].shape
        if form % 2:
            ssa = self.generic(inputs, [range(len(shape))] * len(inputs), shape, lines)
        else:
            ssa = self.tensor_lines(lines, {f"%{chr(97 + i)}": x.ssa
                                            for i, x in enumerate(inputs)}, shape)
        return Tile(ssa, shape, lambda env: [function(*v) for v in
                                             zip(*(x.value(env) for x in inputs))])

    def unary(self, x, which, form):
        return self.apply(UNARY[which % len(UNARY)], [x], form)

    def binary(self, x, y, which, form):
        return self.apply(BINARY[which % len(BINARY)], [x, y], form)

    def spread(self, x, vector, which):
        """A tile and a vector along one of its dimensions."""
        lines, function = BINARY[which % len(BINARY)]
        ssa = self.generic([x, vector], [(0, 1), (vector.dim,)], x.shape, lines)
        columns = x.shape[1]

        def value(env):
            v = vector.value(env)
            return [function(a, v[i // columns if vector.dim == 0 else i % columns])
                    for i, a in enumerate(x.value(env))]
        return Tile(ssa, x.shape, value)

    def scaled(self, x, by):
        return self.apply(([f"%s = arith.constant {by!r} : f32", "%u = arith.mulf %a, %s : f32"],
                           lambda a: a * by), [x], 0)

    def widened(self, x):
        """As f32; integers as sixteenths."""
        if x.element == "f32":
            return x
        kind = x.type("f32")
        if x.element == "i32":
            whole = Tile(self.op(f"arith.sitofp {x.ssa} : {x.type()} to {kind}"), x.shape, x.value)
            return self.scaled(whole, 0.0625)
        return Tile(self.op(f"arith.extf {x.ssa} : {x.type()} to {kind}"), x.shape, x.value)

    def narrowed(self, x, element):
        return Tile(self.op(f"arith.truncf {x.ssa} : {x.type()} to {x.type(element)}"), x.shape,
                    x.value, element)

    def masked(self, x, other, dim=0):
        """`other` at tokens that are behind the end; `dim` goes along tokens."""
        lines = [f"%i = linalg.index {dim} : index",
                 "%live = arith.cmpi ult, %i, %left : index",
                 f"%none = arith.constant {other!r} : f32",
                 "%u = arith.select %live, %a, %none : f32"]
        ssa = self.generic([x], [(0, 1)], x.shape, lines)
        columns = x.shape[1]
        return Tile(ssa, x.shape, lambda env: [
            a if (i // columns if dim == 0 else i % columns) < env["valid"] else other
            for i, a in enumerate(x.value(env))])

    def reduced(self, x, dim, which, into=None, scale=True):
        """Along one of two dimensions; sums are scaled unless they are carried."""
        how, function, neutral = REDUCTIONS[which % len(REDUCTIONS)]
        rows, columns = x.shape
        shape = (x.shape[1 - dim],)
        kind = Tile("", shape, None).type()
        init = into or self.filled(shape, neutral)
        ssa = self.op(f"linalg.reduce {{ arith.{how} }} ins({x.ssa} : {x.type()}) "
                      f"outs({init} : {kind}) dimensions = [{dim}]")

        def value(env):
            data = x.value(env)
            lists = [data[j::columns] for j in range(columns)] if dim == 0 else \
                [data[i * columns:(i + 1) * columns] for i in range(rows)]
            start = env[into] if into else [neutral] * shape[0]
            return [function([s, *v]) for s, v in zip(start, lists)]
        result = Tile(ssa, shape, value)
        if scale and how == "addf":
            result = self.scaled(result, 1.0 / x.shape[dim])
        return result

    def peak(self, x, into):
        """The largest element, and of the scalar that is carried."""
        start = self.op(f"tensor.from_elements {into} : tensor<f32>")
        most = self.op(f"linalg.reduce {{ arith.maximumf }} ins({x.ssa} : {x.type()}) "
                       f"outs({start} : tensor<f32>) dimensions = [0, 1]")
        ssa = self.op(f"tensor.extract {most}[] : tensor<f32>")
        return Tile(ssa, (), lambda env: [max([*env[into], *x.value(env)])])

    def contract(self, a, b, dims, shape, into):
        """a and b are multiplied along `dims`; added to what is carried."""
        names = ("i", "j")
        maps = []
        for name, dim in zip(names, dims):
            pair = ["k", "k"]
            pair[1 - dim] = name
            maps.append(f"affine_map<(i, j, k) -> ({', '.join(pair)})>")
        maps.append("affine_map<(i, j, k) -> (i, j)>")
        kind = Tile("", shape, None).type()
        init = into or self.filled(shape, 0.0)
        ssa = self.op(f"linalg.contract indexing_maps = [{', '.join(maps)}] "
                      f"ins({a.ssa}, {b.ssa} : {a.type()}, {b.type()}) outs({init} : {kind}) "
                      f"-> {kind}")

        def vectors(tile, dim, env):
            data, columns = tile.value(env), tile.shape[1]
            return [data[i * columns:(i + 1) * columns] for i in range(tile.shape[0])] \
                if dim == 1 else [data[j::columns] for j in range(columns)]

        def value(env):
            right = vectors(b, dims[1], env)
            start = env[into] if into else [0.0] * math.prod(shape)
            sums = [math.fsum(p * q for p, q in zip(u, v) if p)
                    for u in vectors(a, dims[0], env) for v in right]
            return [s + t for s, t in zip(start, sums)]
        return Tile(ssa, shape, value)

    # Control flow.

    def branch(self, x, which, form):
        """Something else is done with every other tile."""
        odd = self.op("arith.remui %number, %c2 : index")
        condition = self.op(f"arith.cmpi eq, {odd}, %c1 : index")
        result, outer = self.name(), self.lines
        sides = []
        for i in range(2):
            self.lines = []
            side = self.unary(x, which + i, form)
            sides.append((side, [*self.lines, f"scf.yield {side.ssa} : {x.type()}"]))
        self.lines = outer + [f"{result} = scf.if {condition} -> ({x.type()}) {{", *sides[0][1],
                              "} else {", *sides[1][1], "}"]
        return Tile(result, x.shape, lambda env: sides[1 - env["number"] % 2][0].value(env))

    def loop(self, x, which, form):
        """The same twice, in a loop."""
        result, carried, i, outer = self.name(), self.name(), self.name(), self.lines
        self.lines = []
        before = Tile(carried, x.shape, lambda env: env["carried"])
        after = self.unary(before, which, form)
        self.lines = outer + [f"{result} = scf.for {i} = %c0 to %c2 step %c1 "
                              f"iter_args({carried} = {x.ssa}) -> ({x.type()}) {{", *self.lines,
                              f"scf.yield {after.ssa} : {x.type()}", "}"]

        def value(env):
            once = after.function({**env, "carried": x.value(env)})
            return after.function({**env, "carried": once})
        return Tile(result, x.shape, value)

    def stored(self, name, shape, element):
        """Writes a field to the row of its output."""
        out, field = f"%{name}_out", f"%{name}"
        kind = "tensor<?x" + "".join(f"{d}x" for d in shape) + element + ">"
        if not shape:
            if element != "f32":
                field = self.op(f"arith.truncf {field} : f32 to {element}")
            return self.op(f"tensor.insert {field} into {out}[%row] : {kind}")
        tile = Tile(field, shape, None)
        if element != "f32":
            tile = Tile(self.op(f"arith.truncf {field} : {tile.type()} to {tile.type(element)}"),
                        shape, None, element)
        at = ", ".join(["%row"] + ["0"] * len(shape))
        sizes = ", ".join(["1"] + [str(d) for d in shape])
        ones = ", ".join(["1"] * (len(shape) + 1))
        return self.op(f"tensor.insert_slice {tile.ssa} into {out}[{at}] [{sizes}] [{ones}] : "
                       f"{tile.type()} into {kind}")

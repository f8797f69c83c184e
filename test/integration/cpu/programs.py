# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: MLIR text, workload, and expected outputs in float64.

A program is grown step by step from a pool of channels: maps over and for each
tile of a range, reduces, collects, moves, re-keying by records and by rows,
broadcasts over larger domains, several consumers of a channel; whatever nobody
reads is finalized. Every stage keeps a closure that computes its records.
"""

import itertools
import math
import random

from records import KINDS, Body

AXES = ("a", "b", "c")
LISTED = ("c", "b")  # the domain whose tasks are given by a coordinate list
NAN = math.nan


class Range:
    def __init__(self, name, domain, tile, packed):
        self.name, self.domain, self.tile, self.packed = name, domain, tile, packed


class Channel:
    """`values(env)` is {task: record} for arity one, {task: [record]} else."""

    def __init__(self, ssa, kind, domain, arity, values, span=None, rows=None):
        self.ssa, self.kind, self.domain, self.arity = ssa, kind, domain, arity
        self.values, self.span, self.rows = values, span, rows
        self.used = False


class Env:
    """Tensors of one run, and the records computed so far."""

    def __init__(self, sizes, tensors):
        self.sizes, self.tensors, self.memo = sizes, tensors, {}

    def tasks(self, domain):
        if domain == LISTED:
            shape, data = self.tensors["coordinates"]
            return [tuple(data[2 * i:2 * i + 2]) for i in range(shape[0])]
        return itertools.product(*(range(self.sizes[axis]) for axis in domain))

    def at(self, name, *index):
        shape, data = self.tensors[name]
        flat = 0
        for extent, i in zip(shape, index):
            flat = flat * extent + i
        return data[flat]

    def vector(self, name, *index):
        shape, data = self.tensors[name]
        flat = 0
        for extent, i in zip(shape, index):
            flat = flat * extent + i
        return data[flat * shape[-1]:(flat + 1) * shape[-1]]


def project(task, domain, onto):
    place = dict(zip(domain, task))
    return tuple(place[axis] for axis in onto)


class Program:
    def __init__(self, seed, long=False, width=None):
        self.seed, self.long = seed, long
        self.rng = random.Random(seed)
        self.name = f"random_{seed}"
        self.width = self.rng.choice((1, 2, 4, 4, 8, 16))
        if long:
            self.width = min(self.width, 4)
        if width is not None:
            self.width = width
        self.element = self.rng.choice(("f32", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"))
        self.result = self.rng.choice(("f32", "f32", "f16", "bf16"))
        self.arguments = {"axes": ("tensor<?x?x?xi8>", ["na", "nb", "nc"], "zeros")}
        self.stages, self.handlers, self.ranges = [], [], []
        self.indices = {}   # name -> (axes, rows, key axis)
        self.outputs = []   # (name, closure)
        self.features = set()
        self.pool = []
        self.counter = 0
        self.domains = [("a",)]
        if not long:
            for domain in ((), ("b",), ("a", "b"), ("b", "a"), ("c",), ("a", "c"), ("a", "b", "c")):
                if self.rng.random() < 0.35:
                    self.domains.append(domain)
            if self.rng.random() < 0.2:
                self.domains.append(LISTED)
                self.argument("coordinates", ["?", 2], "i32", ["listed", 2],
                              {"values": "coordinates"})
        self.weighted = self.rng.choice(self.domains) if self.rng.random() < 0.3 else None
        if self.weighted is not None:
            self.argument("weights", ["?"], "i32", ["weighted"], {"values": "weights"})
        self.grow()
        self.finish()

    # Names and small pieces of text.

    def fresh(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def chance(self, probability):
        return self.rng.random() < probability

    def tasks_name(self, domain):
        if domain not in self.domains:
            self.domains.append(domain)
        return "@t_" + "".join(domain)

    def argument(self, name, dims, element, sizes, fill):
        text = "tensor<" + "".join(f"{d}x" for d in dims) + element + ">"
        self.arguments[name] = (text, sizes, fill)
        return text

    def data_argument(self, domain):
        """One vector for each task."""
        name = "y_" + "".join(domain)
        sizes = ["n" + axis for axis in domain] + [self.width]
        fill = {"uniform": {"seed": len(self.arguments), "low": 0.25, "high": 1.25}}
        text = self.argument(name, ["?"] * len(domain) + [self.width], self.element, sizes, fill)
        return name, text

    def range_argument(self, span):
        """One vector for each element of a range."""
        name = "x_" + span.name
        lead = [span.name + "_tokens"] if span.packed else \
            ["n" + axis for axis in span.domain] + [span.name + "_columns"]
        fill = {"uniform": {"seed": len(self.arguments), "low": 0.25, "high": 1.25}}
        text = self.argument(name, ["?"] * len(lead) + [self.width], self.element,
                             lead + [self.width], fill)
        return name, text

    def new_range(self, domain):
        tile = self.rng.choice((256, 1000)) if self.long else self.rng.choice((1, 2, 3, 4, 8, 16))
        span = Range(self.fresh("r"), domain, tile, self.long or self.chance(0.4))
        sizes = ["n" + axis for axis in domain]
        for part in ("len", "off") if span.packed else ("len",):
            self.argument(f"{part}_{span.name}", ["?"] * len(domain), "i32", sizes,
                          {"values": f"{part}_{span.name}"})
        self.ranges.append(span)
        return span

    def pick_range(self, domain):
        known = [span for span in self.ranges if span.domain == domain]
        if known and self.chance(0.6):
            return self.rng.choice(known)
        return self.new_range(domain)

    def channel_type(self, kind, arity, rows=None):
        suffix = "" if arity == "one" else f", {arity}"
        return f"!dataflow.channel<{kind.record(self.width, rows)}{suffix}>"

    def type_of(self, channel):
        return self.channel_type(channel.kind, channel.arity, channel.rows)

    # Handler bodies.

    def load(self, b, tensor, text, index):
        """The vector at `index` as f32."""
        short = f"tensor<{self.width}x{self.element}>"
        ones = ", ".join(["1"] * (len(index) + 1))
        sizes = ", ".join(["1"] * len(index) + [str(self.width)])
        place = ", ".join(list(index) + ["0"])
        v = b.op(f"tensor.extract_slice %{tensor}[{place}] [{sizes}] [{ones}] : {text} to {short}")
        if self.element != "f32":
            v = b.op(f"arith.extf {v} : {short} to {b.vector}")
        return v

    def mix(self, b, e, features, row=0):
        """Half the element and a quarter of each feature, plus an eighth a row."""
        result = b.scaled(b.number(0.5), e)
        for f in features:
            quarter = b.scalar("mulf", f, b.number(0.25))
            result = b.elementwise("addf", result, b.splat(quarter))
        if row:
            result = b.elementwise("addf", result, b.splat(b.number(0.125 * row)))
        return result

    @staticmethod
    def py_mix(e, features, row=0):
        more = 0.25 * sum(features) + 0.125 * row
        return [0.5 * x + more for x in e]

    def loop(self, b, begin, end, kind, body):
        """Folds body(inner, i) over [begin, end), from the identity."""
        start = kind.identity(b)
        types = kind.types(self.width)
        one = b.index(1)
        inner = b.nested()
        state = [f"%s{inner.counter[0]}_{i}" for i in range(len(start))]
        loop = f"%l{inner.counter[0]}"
        i = f"%i{inner.counter[0]}"
        merged = kind.merge(inner, state, body(inner, i))
        inner.line(f"scf.yield {', '.join(merged)} : {', '.join(types)}")
        count = f":{len(start)}" if len(start) > 1 else ""
        initial = ", ".join(f"{s} = {v}" for s, v in zip(state, start))
        b.line(f"{loop}{count} = scf.for {i} = {begin} to {end} step {one} "
               f"iter_args({initial}) -> ({', '.join(types)}) {{")
        b.lines += inner.lines
        b.line("}")
        return [f"{loop}#{k}" for k in range(len(start))] if count else [loop]

    def input_arguments(self, inputs):
        """Handler arguments of the input channels, and their names."""
        arguments, names = [], []
        for n, channel in enumerate(inputs):
            types = channel.kind.types(self.width, dynamic=channel.arity == "collected")
            fields = [f"%c{n}_{name}" for name, _ in channel.kind.fields]
            arguments += [f"{f}: {t}" for f, t in zip(fields, types)]
            names.append(fields)
        return arguments, names

    def whole(self, b, channel, fields):
        """The record that a consumer sees: collected ones are folded."""
        if channel.arity != "collected":
            return fields
        kind, width = channel.kind, self.width
        dynamic, static = kind.types(width, dynamic=True), kind.types(width)
        zero = b.index(0)
        count = b.op(f"tensor.dim {fields[0]}, {zero} : {dynamic[0]}")

        def part(inner, i):
            values = []
            for (_, shape), field, long, short in zip(kind.fields, fields, dynamic, static):
                if not shape:
                    values.append(inner.op(f"tensor.extract {field}[{i}] : {long}"))
                    continue
                dims = [str(d or width) for d in shape]
                values.append(inner.op(
                    f"tensor.extract_slice {field}[{', '.join([i] + ['0'] * len(dims))}] "
                    f"[{', '.join(['1'] + dims)}] [{', '.join(['1'] * (len(dims) + 1))}] "
                    f": {long} to {short}"))
            return values

        return self.loop(b, zero, count, kind, part)

    def py_whole(self, channel, env, task, domain, tile=None):
        """The same in Python: the record that `task` of `domain` reads."""
        value = channel.values(env)[project(task, domain, channel.domain)]
        if channel.arity == "collected":
            total = channel.kind.py_identity(self.width)
            for part in value:
                total = channel.kind.py_merge(total, part)
            return total
        return value[tile] if channel.arity == "tiles" else value

    # Stages.

    def handler(self, stem, arguments, results, body, returned):
        name = self.fresh(stem)
        types = ", ".join(results)
        body.line(f"dataflow.yield {', '.join(returned)} : {types}")
        self.handlers.append(f"  dataflow.handler @{name}({', '.join(arguments)}) -> ({types}) {{\n"
                             + "\n".join(body.lines) + "\n  }")
        return name

    def memoised(self, compute):
        key = self.fresh("memo")

        def values(env):
            if key not in env.memo:
                env.memo[key] = compute(env)
            return env.memo[key]
        return values

    def use(self, inputs):
        for channel in inputs:
            if channel.used:
                self.features.add("fan-out")
            channel.used = True

    def map(self, domain, inputs, mode, kind=None, rows=None, span=None):
        # What is collected or re-keyed should show its order.
        kind = kind or self.rng.choice(
            KINDS if mode == "over" else KINDS + tuple(k for k in KINDS if not k.commutes))
        self.use(inputs)
        if mode != "plain" and span is None:
            span = self.pick_range(domain)
        tensor, text = self.data_argument(domain) if mode == "plain" else self.range_argument(span)
        coords = [f"%{axis}" for axis in domain]
        arguments = [f"{c}: index" for c in coords]
        if mode != "plain":
            arguments += ["%begin: index", "%end: index"]
        arguments.append(f"%{tensor}: {text}")
        fields, names = self.input_arguments(inputs)
        b = Body(self.rng, self.width)
        features = [c.kind.feature(b, self.whole(b, c, f)) for c, f in zip(inputs, names)]
        lead = [] if span and span.packed else coords

        def element(inner, i, row=0):
            index = coords if mode == "plain" else lead + [i]
            return kind.element(inner, self.mix(inner, self.load(inner, tensor, text, index),
                                                features, row))

        if rows is not None:
            parts = [element(b, "%begin", row) for row in range(rows)]
            returned = [self.stack(b, [p[f] for p in parts], shape, rows)
                        for f, (_, shape) in enumerate(kind.fields)]
        elif mode == "plain":
            returned = element(b, None)
        else:
            returned = self.loop(b, "%begin", "%end", kind, element)
        name = self.handler("map", arguments + fields, kind.types(self.width, rows), b, returned)
        arity = {"plain": "one", "over": "pieces", "each": "tiles"}[mode]
        result = self.fresh("%ch")
        where = "" if mode == "plain" else f" {mode} @{span.name}"
        channels = f"({', '.join(c.ssa for c in inputs)})" if inputs else ""
        self.stages.append(
            f"  {result} = dataflow.map @{name}{channels} tasks {self.tasks_name(domain)}{where} "
            f"operands(%{tensor} : {text})\n"
            f"      : ({', '.join(self.type_of(c) for c in inputs)}) -> "
            f"{self.channel_type(kind, arity, rows)}")

        def compute(env):
            result = {}
            for task in env.tasks(domain):
                def record(begin, end, tile):
                    features = [c.kind.py_feature(self.py_whole(c, env, task, domain, tile))
                                for c in inputs]
                    front = () if span and span.packed else task
                    at = (lambda i: task) if mode == "plain" else (lambda i: front + (i,))

                    def one(i, row=0):
                        return kind.py_element(
                            self.py_mix(env.vector(tensor, *at(i)), features, row))
                    if rows is not None:
                        return [one(begin, row) for row in range(rows)]
                    if mode == "plain":
                        return one(None)
                    total = kind.py_identity(self.width)
                    for i in range(begin, end):
                        total = kind.py_merge(total, one(i))
                    return total
                if mode == "plain":
                    result[task] = record(None, None, None)
                    continue
                length = int(env.at("len_" + span.name, *task))
                start = int(env.at("off_" + span.name, *task)) if span.packed else 0
                if mode == "over":
                    result[task] = [record(start, start + length, None)]
                else:
                    tiles = range(-(-length // span.tile))
                    result[task] = [record(start + t * span.tile,
                                           start + min((t + 1) * span.tile, length), t)
                                    for t in tiles]
            return result

        if inputs and any(c.domain != domain for c in inputs):
            self.features.add("broadcast")
        if len(inputs) > 1:
            self.features.add("two inputs")
        return Channel(result, kind, domain, arity, self.memoised(compute), span, rows)

    def stack(self, b, parts, shape, rows):
        if not shape:
            return b.op(f"tensor.from_elements {', '.join(parts)} : tensor<{rows}xf32>")
        dims = [str(d or self.width) for d in shape]
        short = f"tensor<{'x'.join(dims)}xf32>"
        long = f"tensor<{rows}x{'x'.join(dims)}xf32>"
        total = b.op(f"tensor.empty() : {long}")
        for row, part in enumerate(parts):
            total = b.op(f"tensor.insert_slice {part} into "
                         f"{total}[{', '.join([str(row)] + ['0'] * len(dims))}] "
                         f"[{', '.join(['1'] + dims)}] [{', '.join(['1'] * (len(dims) + 1))}] "
                         f": {short} into {long}")
        return total

    def reduce(self, channel):
        self.use([channel])
        kind = channel.kind
        types = kind.types(self.width)
        b = Body(self.rng, self.width)
        left = [f"%l_{name}" for name, _ in kind.fields]
        right = [f"%r_{name}" for name, _ in kind.fields]
        arguments = [f"{n}: {t}" for n, t in zip(left + right, types + types)]
        name = self.handler("merge", arguments, types, b, kind.merge(b, left, right))
        identity = Body(self.rng, self.width)
        returned = kind.identity(identity)
        identity.line(f"dataflow.yield {', '.join(returned)} : {', '.join(types)}")
        result = self.fresh("%ch")
        self.stages.append(
            f"  {result} = dataflow.reduce @{name}({channel.ssa}) : ({self.type_of(channel)}) -> "
            f"{self.channel_type(kind, 'one')} identity {{\n" + "\n".join(identity.lines) + "\n  }")

        def compute(env):
            result = {}
            for task, parts in channel.values(env).items():
                total = kind.py_identity(self.width)
                for n, part in enumerate(parts):
                    total = kind.py_merge(total, part) if n else part
                result[task] = total
            return result
        return Channel(result, kind, channel.domain, "one", self.memoised(compute))

    def reshard(self, how, channel):
        """move or collect"""
        self.use([channel])
        arity = "collected" if how == "collect" else channel.arity
        result = self.fresh("%ch")
        name = self.fresh(how)
        self.stages.append(
            f'  {result} = dataflow.reshard "{name}" {how} ({channel.ssa})\n'
            f"      : ({self.type_of(channel)}) -> "
            f"{self.channel_type(channel.kind, arity, channel.rows)}")
        self.features.add(how)
        return Channel(result, channel.kind, channel.domain, arity, channel.values,
                       channel.span, channel.rows)

    def rekey(self, channel):
        self.use([channel])
        source, rows = channel.domain, channel.rows
        key = self.rng.choice(AXES[:1] if self.long else AXES)
        others = [axis for axis in source if axis != key and self.chance(0.4)]
        target = tuple(others + [key]) if self.chance(0.5) else tuple([key] + others)
        if target == LISTED:
            target = target[::-1]
        axes = [axis for axis in source if self.chance(0.8)]
        self.rng.shuffle(axes)
        index = self.fresh("index")
        dims = ["?"] * len(axes) + ([rows] if rows else [])
        sizes = ["n" + axis for axis in axes] + ([rows] if rows else [])
        text = self.argument(index, dims, self.rng.choice(("i32", "i64")), sizes, {"values": index})
        self.indices[index] = (axes, rows, key)
        result, name = self.fresh("%ch"), self.fresh("rekey")
        tail = " rows" if rows else ""
        self.stages.append(
            f'  {result} = dataflow.reshard "{name}" rekey ({channel.ssa}) to '
            f"{self.tasks_name(target)} by %{index}[{', '.join(axes)}] key {key}{tail}\n"
            f"      : ({self.type_of(channel)}, {text}) -> "
            f"{self.channel_type(channel.kind, 'keyed')}")
        self.features.add("rekey rows" if rows else "rekey")

        def compute(env):
            result = {task: [] for task in env.tasks(target)}
            for task, value in channel.values(env).items():
                for record in value if channel.arity == "tiles" else [value]:
                    for row in range(rows) if rows else [None]:
                        place = list(project(task, source, axes)) + ([row] if rows else [])
                        to = int(env.at(index, *place))
                        if to >= 0:
                            at = dict(zip(source, task))
                            at[key] = to
                            result[tuple(at[axis] for axis in target)].append(
                                record[row] if rows else record)
            return result
        return Channel(result, channel.kind, target, "keyed", self.memoised(compute))

    def finalize(self, channel, domain):
        self.use([channel])
        span = channel.span if channel.arity == "tiles" else None
        if domain != channel.domain:
            self.features.add("broadcast")
        coords = [f"%{axis}" for axis in domain]
        arguments = [f"{c}: index" for c in coords] + (
            ["%begin: index", "%end: index"] if span else [])
        fields, names = self.input_arguments([channel])
        b = Body(self.rng, self.width)
        lead = [] if span and span.packed else coords
        sizes = [] if span and span.packed else ["n" + axis for axis in domain]
        if span:
            lead = lead + ["%begin"]
            sizes.append(span.name + ("_tokens" if span.packed else "_columns"))
        record = self.whole(b, channel, names[0])
        outs, types, returned = [], [], []
        for (field, shape), value in zip(channel.kind.fields, channel.kind.outputs(b, record)):
            name = self.fresh("o_" + field)
            dims = [d or self.width for d in shape]
            full = self.argument(name, ["?"] * len(sizes) + dims, self.result, sizes + dims, None)
            short = "x".join(str(d) for d in dims)
            wide = f"tensor<{short}xf32>" if dims else "f32"
            narrow = f"tensor<{short}x{self.result}>" if dims else self.result
            if self.result != "f32":
                value = b.op(f"arith.truncf {value} : {wide} to {narrow}")
            if dims:
                zeros = ", ".join(lead + ["0"] * len(dims))
                extent = ", ".join(["1"] * len(lead) + [str(d) for d in dims])
                ones = ", ".join(["1"] * (len(lead) + len(dims)))
                value = b.op(f"tensor.insert_slice {value} into %{name}[{zeros}] [{extent}] "
                             f"[{ones}] : {narrow} into {full}")
            else:
                value = b.op(f"tensor.insert {value} into %{name}[{', '.join(lead)}] : {full}")
            outs.append(name)
            types.append(full)
            returned.append(value)
        arguments += fields + [f"%{o}: {t}" for o, t in zip(outs, types)]
        handler = self.handler("store", arguments, types, b, returned)
        where = f" each @{span.name}" if span else ""
        self.stages.append(
            f"  dataflow.finalize @{handler}({channel.ssa}) tasks {self.tasks_name(domain)}{where} "
            f"outs({', '.join('%' + o for o in outs)} : {', '.join(types)})\n"
            f"      : ({self.type_of(channel)}) -> ()")

        def compute(env, n, name):
            shape, _ = env.tensors[name]
            result = [NAN] * math.prod(shape)
            row = math.prod(shape[len(sizes):])
            def put(index, value):
                flat = 0
                for extent, i in zip(shape, index):
                    flat = flat * extent + i
                while isinstance(value, list) and value and isinstance(value[0], list):
                    value = [x for part in value for x in part]
                result[flat * row:(flat + 1) * row] = value if isinstance(value, list) else [value]
            for task in env.tasks(domain):
                if not span:
                    put(task, channel.kind.py_outputs(
                        self.py_whole(channel, env, task, domain))[n])
                    continue
                records = channel.values(env)[project(task, domain, channel.domain)]
                start = int(env.at("off_" + span.name, *task)) if span.packed else 0
                for tile, record in enumerate(records):
                    front = () if span.packed else task
                    put(front + (start + tile * span.tile,), channel.kind.py_outputs(record)[n])
            return result
        for n, name in enumerate(outs):
            self.outputs.append((name, lambda env, n=n, name=name: compute(env, n, name)))

    # Growth.

    def source(self):
        domain = self.rng.choice([d for d in self.domains])
        mode = "over" if self.long else self.rng.choice(("over", "over", "each", "each", "plain"))
        self.add_map(domain, [], mode)

    def add_map(self, domain, inputs, mode, span=None):
        channel = self.map(domain, inputs, mode, span=span)
        if mode != "over":
            self.pool.append(channel)
            return
        if self.chance(0.1):
            self.features.add("two reduces")
            self.pool.append(self.reduce(channel))
        self.pool.append(self.reduce(channel))

    def larger(self, domains):
        """A domain that has all axes of `domains`."""
        axes = {axis for domain in domains for axis in domain}
        if LISTED in domains:  # another domain may have tasks that this one lacks
            return LISTED if axes <= set(LISTED) else None
        fits = [d for d in self.domains if axes <= set(d)]
        return self.rng.choice(fits) if fits else tuple(sorted(axes))

    def step(self):
        singles = [c for c in self.pool if c.arity == "one"]
        tiled = [c for c in self.pool if c.arity == "tiles"]
        collected = [c for c in self.pool if c.arity == "collected"]
        what = self.rng.choice(("source", "map", "map", "reduce", "collect", "collect", "move",
                                "rekey", "rekey rows", "tiles"))
        if what == "map" and singles + collected:
            inputs = self.rng.sample(singles + collected,
                                     min(len(singles + collected), self.rng.choice((1, 1, 2))))
            mode = self.rng.choice(("plain", "plain", "over", "each"))
            domain = self.larger([c.domain for c in inputs])
            if domain is not None:
                self.add_map(domain, inputs, "plain" if self.long else mode)
        elif what == "reduce" and tiled:
            channel = self.rng.choice(tiled)
            self.features.add("reduce of tiles")
            self.pool.append(self.reduce(channel))
        elif what == "collect" and tiled:
            self.pool.append(self.reshard("collect", self.rng.choice(tiled)))
        elif what == "move" and singles + tiled:
            self.pool.append(self.reshard("move", self.rng.choice(singles + tiled)))
        elif what == "rekey" and singles + tiled:
            keyed = self.rekey(self.rng.choice(singles + tiled))
            if self.chance(0.3):
                keyed = self.reshard("move", keyed)
            self.pool.append(self.reduce(keyed))
        elif what == "rekey rows" and not self.long:
            domain = self.rng.choice(self.domains)
            mode = self.rng.choice(("plain", "each"))
            inputs = [c for c in singles if set(c.domain) <= set(domain) and
                      (c.domain != LISTED or domain == LISTED)][:1]
            rows = self.map(domain, inputs, mode, rows=self.rng.choice((1, 2, 3)))
            self.pool.append(self.reduce(self.rekey(rows)))
        elif what == "tiles" and tiled:
            channel = self.rng.choice(tiled)
            self.features.add("map of tiles")
            self.pool.append(self.map(channel.domain, [channel], "each", span=channel.span))
        else:
            self.source()

    def grow(self):
        self.source()
        for _ in range(self.rng.choice((0, 1, 2, 3, 4, 5, 6))):
            self.step()

    def finish(self):
        for channel in self.pool:
            if channel.used and not self.chance(0.15):
                continue
            domain = channel.domain
            if channel.arity == "one" and self.chance(0.2):
                domain = self.larger([channel.domain]) or domain
            self.finalize(channel, domain)

    # What comes out.

    def is_compound(self):
        """Two maps, fan-out, re-keying or two reshards."""
        maps = sum("dataflow.map" in s for s in self.stages)
        reshards = sum("dataflow.reshard" in s for s in self.stages)
        return maps >= 2 or reshards >= 2 or "fan-out" in self.features or \
            any(f.startswith("rekey") for f in self.features)

    def text(self):
        arguments = ", ".join(f"%{n}: {t}" for n, (t, _, _) in self.arguments.items())
        lines = [f"// Random program, seed {self.seed}.",
                 f"dataflow.program @{self.name}({arguments}) {{"]
        for place, axis in enumerate(AXES):
            lines += [f"  %p{axis} = arith.constant {place} : index",
                      f"  %n{axis} = tensor.dim %axes, %p{axis} : tensor<?x?x?xi8>"]
        for domain in self.domains:
            axes = ", ".join(f"{axis} = %n{axis}" for axis in domain)
            more = " coordinates %coordinates : tensor<?x2xi32>" if domain == LISTED else ""
            more += " weights %weights : tensor<?xi32>" if domain == self.weighted else ""
            lines.append(f"  dataflow.tasks {self.tasks_name(domain)}({axes}){more}")
        for span in self.ranges:
            index = f"[{', '.join(span.domain)}]"
            text = self.arguments["len_" + span.name][0]
            offset = f" offset %off_{span.name}{index}" if span.packed else ""
            types = f"{text}, {text}" if span.packed else text
            lines.append(f"  dataflow.range @{span.name} of {self.tasks_name(span.domain)} length "
                         f"%len_{span.name}{index}{offset} tile {span.tile} : {types}")
        return "\n".join(lines + self.stages + self.handlers + ["}", ""])

    def point(self, name, sizes, length):
        """`length(task number)` gives the length of each task."""
        point = {"name": name}
        point.update({"n" + axis: sizes[axis] for axis in AXES})
        for span in self.ranges:
            count = math.prod(sizes[axis] for axis in span.domain)
            lengths = [length(i) for i in range(count)]
            point["len_" + span.name] = lengths
            point[span.name + "_columns"] = max(lengths, default=0) + 1
            if span.packed:
                sums = list(itertools.accumulate(lengths, initial=0))
                point["off_" + span.name] = sums[:-1]
                point[span.name + "_tokens"] = sums[-1] + 1
        places = list(itertools.product(*(range(sizes[axis]) for axis in LISTED)))
        chosen = self.rng.sample(places, self.rng.randint(0, min(len(places), 40)))
        point["listed"] = len(chosen)
        point["coordinates"] = [i for place in chosen for i in place]
        if self.weighted is not None:
            point["weighted"] = len(chosen) if self.weighted == LISTED else \
                math.prod(sizes[axis] for axis in self.weighted)
            point["weights"] = [self.rng.randint(0, 3) for _ in range(point["weighted"])]
        for index, (axes, rows, key) in self.indices.items():
            count = math.prod(sizes[axis] for axis in axes) * (rows or 1)
            point[index] = [self.rng.randint(-1, sizes[key] - 1) for _ in range(count)]
        return point

    def workload(self):
        rng = self.rng
        small = {axis: rng.randint(2, 5) for axis in AXES}
        if self.long:
            points = [self.point("long", {"a": 128, "b": 1, "c": 1},
                                 lambda i: 131072 if i == 77 else rng.randint(0, 9))]
        else:
            points = [
                self.point("mixed", small, lambda i: rng.choice((0, 0, 1, 2, 7, 16, 40))),
                self.point("one", {axis: 1 for axis in AXES}, lambda i: 1),
                self.point("zero", small, lambda i: 0),
                self.point("empty", {"a": 0, "b": rng.randint(0, 2), "c": 2}, lambda i: 3)]
            if self.seed % 8 == 0 and ("a", "b", "c") not in self.domains:
                points.append(self.point("thousand", {"a": 1000, "b": 1, "c": 2},
                                         lambda i: rng.randint(0, 5)))
        arguments = {}
        for name, (_, sizes, fill) in self.arguments.items():
            arguments[name] = {"shape": sizes}
            if fill is not None:
                arguments[name]["fill"] = fill
        return {"program": self.name, "points": points, "arguments": arguments}

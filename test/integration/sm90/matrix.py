# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the GPU tests run: programs, workloads, and how they are planned.

`programs()` says which artifacts there are, `runs()` which plans of them. A run
is one call of df-run; its members are those of an entry of tests.json:

  name        unique; group/program/what is special
  group       what it is for, see GROUPS
  program     the artifact; `workload`: file; `points`: names, "all" for every one
  set         dimensions of the workload that the program fixes
  solver, combine, transport, ctas, cluster_size, reserved_bytes
              as df-run takes them; null: its default
  tolerance   largest relative L2 error of an output; null: df-run's, by type
  seconds     limit
  may_refuse  a plan that does not fit the kernel's shared memory is no failure
  compare     the CPU device's outputs are compared too
  small       part of the quick subset that sanitizers and scripts/test run
  large       data or reference take long: not rehearsed on the CPU
  measure     timed by `gpu-tests --measure`
  streams     operands that are loaded ahead; added by prepare-tests
  fragments   handlers that are laid out over threads; added by prepare-tests
"""

import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../.."))
sys.path[:0] = [os.path.join(HERE, "../cpu"), os.path.join(HERE, "programs")]

from handlers import Genes, Handler  # noqa: E402  (test/integration/cpu)
from operators import CASES as OPERATORS  # noqa: E402
from programs import Program  # noqa: E402
import rounds  # noqa: E402

GROUPS = {
    "hello": "the first example under every topology",
    "forms": "every form of instruction under every transport, combination and discipline",
    "streams": "a handler unknown to the examples: two streams, an integer field, 12 bytes",
    "multicast": "hundreds of multicasts, one after the other through the same memory",
    "random": "the random programs of the CPU tests, and some whose tiles are loaded ahead",
    "handlers": "random handlers, with their tiles in registers and in memory",
    "operators": "the other examples at the edge sizes of the CPU tests",
    "operators-large": "the same at full size; only if named",
    "edges": "empty, tiny, huge and many requests; heads, page sizes and formats",
    "experts": "examples/fused-moe: hot and empty experts, one row, none",
    "traces": "the measured batches; the large ones with 32 heads only",
    "traces-all": "the large ones with other numbers of heads; only if named",
    "consume": "handlers that only read, for what the kernel itself costs",
    "sanitize": "small plans, each transport and discipline once; only if named",
}
ROUNDS = 16
RANDOM_HANDLERS = 16
RANDOM_PROGRAMS = 32
WIDE_PROGRAMS = 12
# Whole devices of 132 SMs: CTAs that are resident in clusters of each size.
DEVICE = ((132, 1), (132, 2), (120, 4), (120, 8), (112, 16))
EXAMPLES = os.path.join(ROOT, "examples")
MLA = os.path.join(EXAMPLES, "mla-decode")
MOE = os.path.join(EXAMPLES, "fused-moe")
# What is timed at full size: (example, program, parameters, points of the example's workload).
LARGE_OPERATORS = (
    ("gqa-decode", "gqa_decode", {"group": 8, "draft": 1, "dim": 128, "page": 64}, "64x8k,ragged"),
    ("ragged-softmax", "ragged_softmax", {"element": "f16"}, "million,ragged"),
    ("grouped-gemm", "grouped_gemm", {"columns": 4096, "depth": 4096, "column_tile": 256,
                                      "element": "bf16"},
     "8-even,8-ragged,64-even"),
    ("grouped-gemm", "grouped_gemm", {"columns": 4096, "depth": 4096, "column_tile": 256,
                                      "step": 128, "element": "f8E4M3FN"},
     "8-even,8-ragged,64-even,64-ragged"),
    ("grouped-gemm", "grouped_gemm", {"columns": 4096, "depth": 4096, "row_tile": 64,
                                      "column_tile": 256, "step": 128, "element": "f8E4M3FN"},
     "64-few"),
    ("dense-gemm", "dense_gemm", {"element": "bf16"}, "4096"),
    ("dense-gemm", "split_gemm", {"element": "bf16"}, "64"),
    ("prefix-sum", "prefix_sum", {"element": "f16"}, "ragged"),
    ("three-maps", "three_maps", {"element": "f16"}, "million,ragged"),
)


def read_json(*path):
    with open(os.path.join(*path)) as file:
        return json.load(file)


class Source:
    """MLIR text, what its parameters are bound to, whether its tiles are
    loaded ahead by a role of their own, the handlers that have to be laid out
    over threads where tiles are, and whether none is to be."""

    def __init__(self, text, params="", streams=False, fragments=(), portable=False):
        self.text, self.params = text, params
        self.streams, self.fragments, self.portable = streams, fragments, portable

    def has_kernel(self):
        """Whether the kernel is written by hand, streams and parts and all."""
        return "dataflow.kernel @" in self.text

    def with_handler(self, name, path):
        """The handler of this name replaced by what the file holds."""
        begin = self.text.index(f"dataflow.handler @{name}(")
        end = self.text.index("\n  }\n", begin) + len("\n  }\n")
        with open(path) as file:
            self.text = self.text[:begin] + file.read() + self.text[end:]
        return self

    @staticmethod
    def file(path, params="", **more):
        with open(path) as file:
            return Source(file.read(), params, **more)


def large_name(program, params):
    return "_".join([program, "large", *map(str, params.values())])


def mla_name(form, heads, page, element):
    return f"mla_{form}_{heads}_{page}_{element}"


MOE_CHOICES = 8


def moe_name(*sizes):
    """Those of MOE_CORE have an element more."""
    form = "core" if len(sizes) == 5 else "full"
    return "_".join(map(str, ("moe", form, *sizes)))


def moe_sizes(program):
    """Dimensions of its workload; the full form takes up to MOE_CHOICES experts a token."""
    sizes = dict(zip(("hidden", "expert_width", "rows"), program))
    if len(program) == 4:
        sizes.update(group=program[3], choices=MOE_CHOICES)
    return sizes


# Heads 16 to 128 in both formats and both forms; the others are for their page sizes.
MLA_PROGRAMS = tuple((form, heads, 64, element) for form in ("paged", "dense")
                     for heads in (16, 32, 64, 128) for element in ("f16", "bf16")) + (
    ("paged", 32, 16, "f16"), ("paged", 32, 32, "bf16"), ("paged", 32, 128, "f16"),
    ("dense", 16, 16, "bf16"))
# Other bodies for the paged form's handler: heads and formats.
ATTENTION_PROGRAMS = tuple((body, heads, element) for body in ("pad", "stale")
                           for heads, element in ((16, "bf16"), (32, "f16"), (64, "bf16")))
# Hidden size, expert width, rows of a block, columns of a tile, element.
MOE_CORE = ((512, 256, 64, 128, "f8E4M3FN"), (512, 256, 64, 128, "bf16"),
                (256, 128, 16, 64, "f8E4M3FN"))
# Hidden size, expert width, rows of a block, columns that have one scale.
MOE_FULL = ((256, 192, 16, 64), (256, 256, 64, 128))
# What is rounded between the products, the reference is not.
MOE_TOLERANCE = {"f8E4M3FN": 0.04, "bf16": 8e-3}
# Traces by cost of the reference: up to 260,000 tokens, more, about a million.
BATCHES = ("0,5,6,12", "1,2,4", "7,8,9,13")
LARGE_BATCHES = ("3,14", "10", "11", "15")


def random_programs():
    # Long ranges are those of seeds 1, 17, ... (see random_programs.py).
    result = {f"random_{seed}": Program(seed, long=seed % 16 == 1)
              for seed in range(RANDOM_PROGRAMS)}
    # Vectors that are worth loading ahead.
    for seed in range(100, 100 + WIDE_PROGRAMS):
        result[f"wide_{seed}"] = Program(seed, width=1024 if seed % 2 else 512)
    return result


def random_handlers():
    return {f"handler_{seed}": Handler(f"handler_{seed}", Genes.random(seed))
            for seed in range(RANDOM_HANDLERS)}


def programs(generated):
    """{name: Source}"""
    result = {"ragged_sum": Source.file(f"{ROOT}/examples/hello/ragged_sum.mlir")}
    for form, heads, page, element in MLA_PROGRAMS:
        suffix, tile = ("", "page") if form == "paged" else ("_dense", "tile")
        result[mla_name(form, heads, page, element)] = Source.file(
            f"{MLA}/mla_decode{suffix}.mlir", f"heads={heads},{tile}={page},element={element}",
            fragments=("attend",) if page >= 64 and (heads <= 64 or form == "paged") else ())
    for hidden, width, rows, columns, element in MOE_CORE:
        result[moe_name(hidden, width, rows, columns, element)] = Source.file(
            f"{MOE}/fused_moe_core.mlir",
            f"hidden={hidden},width={width},rows={rows},columns={columns},outputs={2 * columns},"
            f"depth={columns},element={element}",
            fragments=("up", "down"))
    for hidden, width, rows, group in MOE_FULL:
        result[moe_name(hidden, width, rows, group)] = Source.file(
            f"{MOE}/fused_moe.mlir",
            f"hidden={hidden},width={width},rows={rows},group={group},choices={MOE_CHOICES}",
            fragments=("up", "down", "sum"))
    for body, heads, element in ATTENTION_PROGRAMS:
        result[f"attention_{body}_{heads}_{element}"] = Source.file(
            f"{MLA}/mla_decode.mlir", f"heads={heads},page=64,element={element}",
            fragments=("attend",)).with_handler("attend", f"{HERE}/programs/attention_{body}.mlir")
    for name in ("consume_pages", "consume_pages_each", "consume_blocks", "consume_blocks_each"):
        result[name] = Source.file(f"{HERE}/programs/{name}.mlir", streams=True)
    for name in ("consume_maps", "read_maps"):
        result[name] = Source.file(f"{HERE}/programs/{name}.mlir")
    for case in OPERATORS:
        # Requests for rings are obeyed where roles are split.
        result[case.name()] = Source.file(case.source(EXAMPLES), case.bindings(), streams=True,
                                          fragments=case.fragments)
    for name, handler in random_handlers().items():
        result[name] = Source(handler.text(), streams=True)
        result[name + "_portable"] = Source(handler.text(), streams=True, portable=True)
    for example, program, params, _ in LARGE_OPERATORS:
        result[large_name(program, params)] = Source.file(
            os.path.join(EXAMPLES, example, program + ".mlir"),
            ",".join(f"{k}={v}" for k, v in params.items()))
    for name in ("two_streams", "exchange"):
        for element in ("f16", "bf16"):
            result[f"{name}_{element}"] = Source.file(f"{HERE}/programs/{name}.mlir",
                                                      f"element={element}")
    result["rounds"] = Source(rounds.text(ROUNDS))
    for name, program in generated.items():
        result[name] = Source(program.text(), streams=name.startswith("wide"))
    return result


def edge_points():
    rng = random.Random(1)
    return [
        {"name": "short", "lengths": [0, 1, 37, 64, 65, 0, 130]},
        {"name": "one", "lengths": [1]},
        {"name": "zero", "lengths": [0, 0, 0]},
        {"name": "empty", "lengths": []},
        {"name": "several", "lengths": [700, 3, 1500, 64, 0, 129]},
        {"name": "long", "lengths": [131072]},
        {"name": "thousand", "lengths": [rng.choice((0, 1, 3, 17, 64, 65)) for _ in range(1000)]},
    ]


def routings():
    """Rows of each expert; 71 and 130 rows need several blocks, tokens have 2
    experts, 8, or none."""
    return [{"name": name, "rows_per_expert": rows, "tokens": tokens}
            for name, rows, tokens in (
                ("mixed", [29, 71, 1, 0, 64, 5], 85), ("one", [0, 1, 0], 1), ("none", [0, 0], 3),
                ("hot", [0, 0, 130, 0], 130), ("eight", [9, 5, 9, 9, 9, 9, 9, 9, 0, 4], 9),
                ("idle", [3, 0], 7))]


def workloads(generated):
    """{name: JSON}; points of other files are copied in."""
    result = {"ragged_sum": read_json(ROOT, "examples/hello/workload.json"),
              "mla_paged": read_json(MLA, "workload.json"),
              "mla_dense": read_json(MLA, "workload_dense.json")}
    for name in ("consume_pages", "consume_pages_each", "consume_blocks", "consume_blocks_each",
                 "consume_maps", "read_maps", "two_streams", "exchange", "rounds"):
        result[name] = read_json(HERE, "programs", f"{name}.json")
    for case in OPERATORS:
        result[case.name()] = case.workload(EXAMPLES)
    for example, _, _, _ in LARGE_OPERATORS:
        result[example] = read_json(EXAMPLES, example, "workload.json")
    traces = read_json(ROOT, "workloads/mla_decode.json")["traces"]
    for workload in result.values():
        if isinstance(workload["points"], dict):  # these refer to the traces
            workload["points"] = [{"name": str(t["id"]), "lengths": t["lengths"]} for t in traces]
    for form, suffix in (("moe_core", "_core"), ("moe_full", "")):
        result[form] = read_json(MOE, f"workload{suffix}.json")
        result[form]["points"] = routings()
        result[form]["dimensions"].update(hidden=256, expert_width=256)
    for form in ("paged", "dense"):
        edges = dict(result[f"mla_{form}"], points=edge_points())
        edges["description"] = "Empty, tiny, huge and many requests."
        result[f"edges_{form}"] = edges
    # Scores of all sizes: a maximum is not soon the largest one.
    edges = json.loads(json.dumps(result["edges_paged"]))
    edges["description"] = "Scores whose maximum often grows."
    edges["arguments"]["q"]["fill"]["normal"]["scale"] = 8
    result["attention"] = edges
    for name in ("consume_pages", "consume_pages_each", "consume_maps"):
        result[name]["points"] += edge_points()[:5]
    for name, program in {**generated, **random_handlers()}.items():
        result[name] = program.workload()
    return result


class Runs:
    def __init__(self):
        self.entries = []

    def add(self, group, program, workload, points, what="", **more):
        entry = {"name": None, "group": group, "program": program, "workload": workload,
                 "points": points, "set": {}, "solver": None, "combine": None, "transport": None,
                 "ctas": None, "cluster_size": None, "reserved_bytes": None, "tolerance": None,
                 "seconds": 60, "may_refuse": False, "compare": False, "small": False,
                 "large": False, "measure": False}
        entry.update(more)
        words = [f"{entry['ctas']}x{entry['cluster_size'] or 1}" if entry["ctas"] else ""]
        words += [entry[key] or "" for key in ("solver", "combine", "transport")]
        plan = "-".join(word for word in [what] + words if word)
        entry["name"] = "/".join((group, program, plan or "default"))
        self.entries.append(entry)


def forced(combines):
    """Plans that force one choice at a time, at sizes that take it."""
    for ctas, cluster in DEVICE + ((1, 1),):
        yield {"ctas": ctas, "cluster_size": cluster}
    for size in (2, 4, 8, 16):
        for transport in ("cluster_shared", "multicast"):
            yield {"ctas": size, "cluster_size": size, "transport": transport}
        yield {"ctas": 2 * size, "cluster_size": size, "transport": "global"}
    yield {"ctas": 7, "cluster_size": 1, "transport": "global"}
    yield {"ctas": 1, "cluster_size": 1, "transport": "local"}
    for combine in combines:
        yield {"ctas": 12, "cluster_size": 1, "combine": combine}
        yield {"ctas": 12, "cluster_size": 4, "combine": combine}
        yield {"ctas": 8, "cluster_size": 8, "combine": combine, "transport": "cluster_shared"}
        yield {"ctas": 8, "cluster_size": 8, "combine": combine, "transport": "multicast"}
        yield {"ctas": 16, "cluster_size": 1, "combine": combine, "solver": "tickets"}
    for solver in ("longest-first", "tickets"):
        yield {"ctas": 132, "cluster_size": 1, "solver": solver}
        yield {"ctas": 5, "cluster_size": 1, "solver": solver}
    yield {"ctas": 8, "cluster_size": 2, "solver": "longest-first"}


def is_small(choice):
    """A few CTAs, each transport and discipline once."""
    return choice["ctas"] <= 8 and (choice.get("transport") in ("cluster_shared", "multicast")
                                    and choice["cluster_size"] == 4
                                    or choice.get("solver") == "tickets"
                                    or choice.get("transport") in ("local",)
                                    or choice["ctas"] == 7)


def runs(generated):
    """The entries of tests.json."""
    result = Runs()
    for choice in forced(("fold", "tree")):
        small = is_small(choice)
        result.add("hello", "ragged_sum", "ragged_sum", "all", small=small, **choice)
        result.add("streams", "two_streams_f16", "two_streams", "all", small=small,
                   compare=small, **choice)
        result.add("forms", "exchange_f16", "exchange", "all", small=small, compare=small, **choice)
    for choice in forced(("scatter", "fold", "tree")):
        # The one program whose reduce can be combined in all three ways.
        result.add("forms", "consume_pages", "consume_pages", "short,several,one,zero,empty",
                   small=is_small(choice), **choice)
    for name in ("two_streams", "exchange"):
        group = "streams" if name == "two_streams" else "forms"
        for ctas, cluster in ((132, 2), (16, 16)):
            result.add(group, f"{name}_bf16", name, "all", ctas=ctas, cluster_size=cluster)

    for size, points in ((2, "23"), (4, "8,23"), (8, "16"), (16, "16")):
        for transport in ("multicast", "cluster_shared", "global"):
            result.add("multicast", "rounds", "rounds", points, ctas=size, cluster_size=size,
                       transport=transport, small=size == 2)
    result.add("multicast", "rounds", "rounds", "all", ctas=132, cluster_size=2)
    result.add("multicast", "rounds", "rounds", "all", ctas=9, cluster_size=1, solver="tickets")

    configurations = (
        {"ctas": 1, "cluster_size": 1}, {"ctas": 3, "cluster_size": 1},
        {"ctas": 2, "cluster_size": 2}, {"ctas": 8, "cluster_size": 8},
        {"ctas": 16, "cluster_size": 4}, {"ctas": 16, "cluster_size": 16},
        {"ctas": 7, "cluster_size": 1, "combine": "fold"},
        {"ctas": 12, "cluster_size": 4, "combine": "tree"},
        {"ctas": 6, "cluster_size": 2, "transport": "global"},
        {"ctas": 132, "cluster_size": 1}, {"ctas": 132, "cluster_size": 2},
        {"ctas": 112, "cluster_size": 16},
        {"ctas": 8, "cluster_size": 8, "transport": "cluster_shared"},
        {"ctas": 4, "cluster_size": 4, "transport": "multicast"},
        {"ctas": 5, "cluster_size": 1, "solver": "longest-first"},
        {"ctas": 8, "cluster_size": 2, "solver": "longest-first"},
        {"ctas": 4, "cluster_size": 1, "solver": "tickets"},
        {"ctas": 132, "cluster_size": 1, "solver": "tickets"})
    for seed, name in enumerate(generated):
        chosen = random.Random(seed).sample(configurations, 2)
        for choice in chosen:
            result.add("random", name, name, "all", small=seed < 4 and choice["ctas"] <= 16,
                       compare=seed % 8 == 0, **choice)

    for form, heads, page, element in MLA_PROGRAMS:
        name = mla_name(form, heads, page, element)
        sizes = {"heads": heads, "page": page} if form == "paged" else {"heads": heads}
        # (choice, is part of the quick subset)
        choices = [({"ctas": 132, "cluster_size": 1}, False)]
        if (heads, page) == (32, 64):
            choices += [({"ctas": c, "cluster_size": s}, False) for c, s in DEVICE[1:]]
            choices += [({"ctas": 132, "cluster_size": 1, "solver": "tickets"}, False),
                        ({"ctas": 8, "cluster_size": 4, "combine": "fold"}, element == "f16"),
                        ({"ctas": 12, "cluster_size": 2, "combine": "tree"}, False)]
        # Records of 33 and 66 KB: few of them fit a CTA's shared memory.
        for size, transport in ((2, "multicast"), (2, "cluster_shared"), (4, "multicast"),
                                (4, "cluster_shared"), (8, "cluster_shared")):
            if heads == 16 or heads == 32 and size == 2:
                choices.append(({"ctas": size, "cluster_size": size, "combine": "scatter",
                                 "transport": transport, "may_refuse": True}, False))
        for choice, small in choices:
            result.add("edges", name, f"edges_{form}", "short,one,zero,empty,several", set=sizes,
                       small=small, **choice)
        if (heads, page) == (32, 64):
            for ctas, cluster in ((132, 1), (120, 4)):
                result.add("edges", name, f"edges_{form}", "long,thousand", "many", set=sizes,
                           large=True, seconds=240, ctas=ctas, cluster_size=cluster)
        if page == 64:
            for points in BATCHES + LARGE_BATCHES:
                group = "traces" if heads == 32 or points in BATCHES else "traces-all"
                result.add(group, name, f"mla_{form}", points, "points-" + points, set=sizes,
                           large=True, seconds=400, ctas=132, cluster_size=1,
                           measure=heads == 32)

    for body, heads, element in ATTENTION_PROGRAMS:
        name = f"attention_{body}_{heads}_{element}"
        for choice in ({"ctas": 132, "cluster_size": 1}, {"ctas": 120, "cluster_size": 4},
                       {"ctas": 132, "cluster_size": 1, "solver": "tickets"},
                       {"ctas": 8, "cluster_size": 4, "combine": "fold"}):
            result.add("edges", name, "attention", "short,one,zero,empty,several",
                       set={"heads": heads}, small=heads == 32 and choice["ctas"] == 8, **choice)
        for points in BATCHES:
            result.add("traces", name, "mla_paged", points, "points-" + points,
                       set={"heads": heads}, large=True, seconds=400, ctas=132, cluster_size=1,
                       measure=heads == 32)

    for program in MOE_CORE + MOE_FULL:
        name, core, sizes = moe_name(*program), program in MOE_CORE, moe_sizes(program)
        element = program[4] if core else "f8E4M3FN"
        for choice in ({"ctas": 132, "cluster_size": 1}, {"ctas": 7, "cluster_size": 1},
                       {"ctas": 120, "cluster_size": 8}, {"ctas": 112, "cluster_size": 16},
                       {"ctas": 4, "cluster_size": 4, "transport": "cluster_shared"},
                       {"ctas": 4, "cluster_size": 4, "transport": "multicast"},
                       {"ctas": 132, "cluster_size": 1, "solver": "tickets"},
                       {"ctas": 5, "cluster_size": 1, "solver": "longest-first"}):
            # Records of many tasks at once may not fit a CTA's shared memory.
            workload = "moe_core" if core else "moe_full"
            result.add("experts", name, workload, "all", set=sizes, compare=True,
                       tolerance=MOE_TOLERANCE[element], may_refuse=choice["ctas"] == 4,
                       small=choice["ctas"] in (4, 7), **choice)
    for seed, (name, handler) in enumerate(random_handlers().items()):
        for program in (name, name + "_portable"):
            for choice in ({"ctas": 132, "cluster_size": 1}, {"ctas": 4, "cluster_size": 2},
                           {"ctas": 3, "cluster_size": 1, "solver": "tickets"}):
                result.add("handlers", program, name, "all", tolerance=handler.tolerance(),
                           small=seed < 2 and choice["ctas"] < 8, **choice)

    seen = set()
    for case in OPERATORS:
        is_first = case.example not in seen
        seen.add(case.example)
        for choice in ({"ctas": 132, "cluster_size": 1}, {"ctas": 8, "cluster_size": 4},
                       {"ctas": 7, "cluster_size": 1, "solver": "tickets"}):
            result.add("operators", case.name(), case.name(), "all", set=case.dimensions(EXAMPLES),
                       small=is_first and choice["ctas"] <= 8, **choice)
    for example, program, params, points in LARGE_OPERATORS:
        known = read_json(EXAMPLES, example, "workload.json")["dimensions"]
        sizes = {k: v for k, v in params.items() if k in known}
        for solver in (None, "tickets"):
            result.add("operators-large", large_name(program, params), example, points,
                       "points-" + points, set=sizes, large=True, measure=True, seconds=300,
                       ctas=132, cluster_size=1, solver=solver)

    traces = ",".join(str(i) for i in range(16))
    blocks = ",".join(f"{model}-{n}" for model in ("deepseek", "qwen")
                      for n in (128, 256, 512, 1024))
    for ctas in (1, 7, 132):
        result.add("streams", "read_maps", "read_maps", "all", small=ctas < 132, ctas=ctas,
                   cluster_size=1)
    result.add("streams", "read_maps", "read_maps", "all", ctas=16, cluster_size=4,
               solver="longest-first")
    result.add("streams", "consume_maps", "consume_maps", "short,several,one,zero,empty", small=True,
               ctas=8, cluster_size=1)
    for name in ("consume_pages", "consume_pages_each", "consume_maps"):
        for ctas, cluster in DEVICE:
            result.add("consume", name, name, traces, "traces", large=True, measure=True,
                       seconds=300, ctas=ctas, cluster_size=cluster)
    for name in ("consume_blocks", "consume_blocks_each"):
        result.add("consume", name, name, "small,one,zero,empty", "small", ctas=132,
                   cluster_size=1, solver="tickets")
        for solver in ("tickets", "stream"):
            result.add("consume", name, name, blocks, "weights", large=True, measure=True,
                       seconds=300, ctas=132, cluster_size=1, solver=solver)

    for choice in ({"ctas": 1, "cluster_size": 1, "transport": "local"},
                   {"ctas": 3, "cluster_size": 1, "transport": "global"},
                   {"ctas": 4, "cluster_size": 4, "transport": "cluster_shared"},
                   {"ctas": 4, "cluster_size": 4, "transport": "multicast"},
                   {"ctas": 4, "cluster_size": 2},
                   {"ctas": 3, "cluster_size": 1, "solver": "tickets"}):
        for program, workload, points, sizes in (
                ("ragged_sum", "ragged_sum", "one,empty", {}),
                ("two_streams_f16", "two_streams", "mixed", {}),
                ("exchange_f16", "exchange", "mixed,zero", {}),
                ("consume_pages", "consume_pages", "short", {}),
                ("rounds", "rounds", "4", {}),
                (mla_name("paged", 16, 64, "f16"), "edges_paged", "short", {"heads": 16})):
            # Records of 33 KB beside the rings of a watchdog build.
            result.add("sanitize", program, workload, points, set=sizes, small=True,
                       may_refuse=program.startswith("mla"), **choice)
    # Every example, its tiles in registers; those that the quick subset has anyway are in it.
    for choice in ({"ctas": 4, "cluster_size": 4}, {"ctas": 3, "cluster_size": 1},
                   {"ctas": 3, "cluster_size": 1, "solver": "tickets"}):
        for form, heads, small in (("paged", 32, True), ("paged", 64, False),
                                   ("paged", 128, False), ("dense", 32, True)):
            sizes = {"heads": heads, "page": 64} if form == "paged" else {"heads": heads}
            result.add("sanitize", mla_name(form, heads, 64, "f16"), f"edges_{form}", "short",
                       set=sizes, small=small, may_refuse=True, **choice)
        result.add("sanitize", "attention_stale_32_f16", "attention", "short", set={"heads": 32},
                   small=True, may_refuse=True, **choice)
        for program in MOE_CORE[:2] + MOE_FULL[:1]:
            result.add("sanitize", moe_name(*program), "moe_core" if program in MOE_CORE else
                       "moe_full", "mixed", set=moe_sizes(program), may_refuse=True, small=True,
                       tolerance=MOE_TOLERANCE[program[4] if program in MOE_CORE else "f8E4M3FN"],
                       **choice)
        seen = set()
        for case in OPERATORS:
            if case.program not in seen:
                result.add("sanitize", case.name(), case.name(), "0", may_refuse=True,
                           set=case.dimensions(EXAMPLES), small=case.example not in seen, **choice)
            seen.update((case.program, case.example))
    return result.entries

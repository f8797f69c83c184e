#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans all measured batches for several topologies.

Every plan is verified when it is made. At 132 CTAs the predicted time must be
close to that of a kernel at full bandwidth with the fixed costs of an H200, and
df-opt must make the very bytes that the runtime makes.
"""

import json
import os

from harness import Failed, Tools, arguments, main

TOPOLOGIES = ((132, 1), (132, 2), (120, 4), (120, 8), (112, 16), (78, 1), (16, 1))
HEADS, PAGE = 32, 64


def bound_us(size):
    """Launch, all bytes at full bandwidth, start and end of a CTA."""
    return 4.9 + size / 4.60e6 + 9


def plan_values(lengths):
    """The plan-time inputs of a batch, for df-opt."""
    batch = len(lengths)
    pages = [-(-length // PAGE) for length in lengths]
    return ";".join((
        f"lengths={','.join(map(str, lengths))}",
        f"q[{batch}x{HEADS}x576]", f"pages[{sum(pages)}x{PAGE}x576]",
        f"table[{batch}x{max(pages)}]", f"out[{batch}x{HEADS}x512]", f"lse[{batch}x{HEADS}]"))


def test():
    parser = arguments(__doc__)
    parser.add_argument("--source", required=True, help="root of the repository")
    parser.add_argument("--artifact", required=True, help="the compiled example, f16")
    options = parser.parse_args()
    tools = Tools(options)
    example = os.path.join(options.source, "examples/mla-decode")
    with open(os.path.join(options.source, "workloads/mla_decode.json")) as file:
        traces = {str(t["id"]): t["lengths"] for t in json.load(file)["traces"]}
    worst = 0.0
    for ctas, cluster in TOPOLOGIES:
        topology = ["--ctas", ctas, "--cluster-size", cluster]
        text = tools.call("df-run", options.artifact, "--input", f"{example}/workload.json",
                          "--point", "all", "--plan-only", "--json", *topology,
                          "--save-plan", tools.path(f"{ctas}x{cluster}.%.plan"))
        reports = json.loads(text)
        if [r["point"] for r in reports] != list(traces):
            raise Failed(f"{ctas}x{cluster}: planned {[r['point'] for r in reports]}")
        if (ctas, cluster) == (132, 1):
            for report in reports:
                predicted = report["prediction"]["total_us"]
                bound = bound_us(report["problem"]["bytes"])
                worst = max(worst, predicted / bound - 1)
                if predicted > 1.05 * bound + 2:
                    raise Failed(f"trace {report['point']}: predicted {predicted:.1f} us, "
                                 f"limit 1.05 * {bound:.1f} + 2 us")
                if predicted < bound * 0.95 - 2:
                    raise Failed(f"trace {report['point']}: predicted {predicted:.1f} us, less "
                                 f"than a kernel at full bandwidth needs, {bound:.1f} us")
    print(f"{len(traces)} traces, {len(TOPOLOGIES)} topologies; predicted at most "
          f"{100 * worst:.1f} % above the bound at 132x1")

    pairs = [(name, ctas, cluster) for ctas, cluster in TOPOLOGIES for name in traces]
    for name, ctas, cluster in pairs:
        planned, foreign = tools.path("planned.mlir"), tools.path("planned.plan")
        tools.call("df-opt", f"{example}/mla_decode.mlir", "-o", planned,
                   f"--dataflow-plan=params=heads={HEADS},page={PAGE},element=f16 "
                   f"values={plan_values(traces[name])} ctas={ctas} cluster-size={cluster}")
        tools.call("df-translate", "--dataflow-to-plan", planned, "-o", foreign)
        with open(foreign, "rb") as one, open(tools.path(f"{ctas}x{cluster}.{name}.plan"),
                                              "rb") as other:
            left, right = one.read(), other.read()
        if left != right:
            place = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b),
                         min(len(left), len(right)))
            raise Failed(f"trace {name} on {ctas}x{cluster}: the plan of df-opt ({len(left)} "
                         f"bytes) and that of the runtime ({len(right)} bytes) differ at byte "
                         f"{place}")
    print(f"{len(pairs)} plans are the same bytes from df-opt and from the runtime")


if __name__ == "__main__":
    main(test)

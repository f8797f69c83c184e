#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random handlers on the CPU device, and compiled for a GPU on both paths.

Each handler is run under several plans and compared twice: by df-run with the
artifact's float64 reference, and here with the Python evaluation. It is compiled
for a GPU with its tiles in registers and in memory, both verified and assembled.
A handler that fails is made smaller while it fails, and the smallest is kept.

    random_handlers.py --tools BIN --scratch DIR --first SEED --count 1
repeats one seed.
"""

import concurrent.futures
import json
import os
import re
import sys

from handlers import Genes, Handler
from harness import Failed, Tools, arguments, main, read_tensors, relative_l2

TOPOLOGIES = (["--ctas", "1"], ["--ctas", "7"], ["--ctas", "3", "--solver", "tickets"])
LAID_OUT = re.compile(r"dataflow\.part @step_compute of @step compute.* attributes \{[^}]*fragments")
STREAMS = ("--dataflow-split-roles", "--dataflow-verify-kernel")
FRAGMENTS = ("--dataflow-split-roles", "--dataflow-assign-layouts", "--dataflow-verify-kernel")


def check(tools, name, genes, device):
    """Whether the handler's tiles lie in registers; raises Failed."""
    handler = Handler("random_handler", genes)
    stem = tools.path(name)
    with open(stem + ".mlir", "w") as file:
        file.write(handler.text())
    with open(stem + ".json", "w") as file:
        json.dump(handler.workload(), file)
    # The CPU first: a wrong handler need not be compiled.
    tools.compile(stem + ".mlir", stem + ".dfa", targets="cpu")
    points = [point["name"] for point in handler.workload()["points"]]
    truth = {}
    for topology in TOPOLOGIES:
        tools.call("df-run", stem + ".dfa", "--input", stem + ".json", "--point", "all", "--quiet",
                   "--check", "--tolerance", handler.tolerance(), "--save-tensors", stem + ".%",
                   *topology)
        for point in points:
            tensors = read_tensors(f"{stem}.{point}")
            if point not in truth:
                truth[point] = handler.expected(tensors)
            for output, expected in truth[point].items():
                what = f"{point}, {' '.join(topology)}, {output}"
                error = relative_l2(tensors[output][1], expected, what)
                if not error <= handler.tolerance():
                    raise Failed(f"{what}: relative L2 error {error:.2e} against Python")
    laid_out = False
    for path, passes in (("portable", STREAMS), ("fragments", FRAGMENTS)):
        prepared = f"{stem}.{path}.mlir"
        tools.call("df-opt", stem + ".mlir", "--dataflow-prepare", *passes, "-o", prepared)
        if device:
            tools.call("df-translate", "--dataflow-to-artifact", "--targets=sm_90a", prepared,
                       "-o", f"{stem}.{path}.dfa")
        with open(prepared) as file:
            laid_out = LAID_OUT.search(file.read()) is not None
    for file in os.listdir(tools.scratch):
        if file.startswith(name + ".") and not file.endswith((".mlir", ".json")):
            path = tools.path(file)
            if os.path.isfile(path):
                os.remove(path)
    return laid_out


def shrink(tools, name, genes, device, failure):
    """The smallest genes that fail, as far as leaving out one thing finds them."""
    tried = 0
    while tried < 200:
        for smaller in genes.smaller():
            tried += 1
            try:
                check(tools, name, smaller, device)
            except Failed as other:
                genes, failure = smaller, other
                break
        else:
            break
    try:
        check(tools, name, genes, device)  # leaves its files
    except Failed as last:
        failure = last
    return genes, failure


def test():
    parser = arguments(__doc__)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=10, help="number of handlers")
    parser.add_argument("--jobs", type=int, default=1, help="handlers at the same time")
    parser.add_argument("--no-device", dest="device", action="store_false",
                        help="do not assemble GPU kernels")
    options = parser.parse_args()
    tools = Tools(options)
    seeds = range(options.first, options.first + options.count)
    failures, laid_out = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(check, tools, f"handler_{seed}", Genes.random(seed),
                            options.device): seed for seed in seeds}
        for run in concurrent.futures.as_completed(runs):
            try:
                laid_out += run.result()
            except Failed as failure:
                print(f"seed {runs[run]} fails", file=sys.stderr, flush=True)
                failures.append((runs[run], failure))
    for i, (seed, failure) in enumerate(failures[:3]):
        genes, failure = shrink(tools, f"handler_{seed}", Genes.random(seed), options.device,
                                failure)
        failures[i] = (seed, f"{failure}\n  smallest: {genes!r}\n  of handler_{seed}.mlir")
    print(f"{options.count} handlers, {laid_out} in registers; {len(failures)} failures")
    if failures:
        raise Failed("\n".join(f"seed {seed}: {failure}" for seed, failure in failures) +
                     f"\nfiles are kept in {options.scratch}")


if __name__ == "__main__":
    main(test)

#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs random programs on the CPU device.

Every program runs at several points (mixed lengths, one token, only empty
ranges, no task at all, sometimes 1000 tasks or one range of 131,072 among 127
short ones), under several topologies and solvers, each in 20 adversarial
interleavings that must give the same bits. Results are compared twice: by
df-run with the artifact's float64 reference, and here with the Python
evaluation of the same program.
"""

import concurrent.futures
import json
import os
import random
import shutil

from harness import Failed, Tools, arguments, main, read_tensors, relative_l2
from programs import Env, Program

TOLERANCE = {"f32": 1e-4, "f16": 1e-3, "bf16": 4e-3, "f8E4M3FN": 5e-2, "f8E5M2": 1e-1}

CONFIGURATIONS = (
    ["--ctas", "1"],
    ["--ctas", "2", "--cluster-size", "2"],
    ["--ctas", "3"],
    ["--ctas", "8", "--cluster-size", "8"],
    ["--ctas", "16", "--cluster-size", "4"],
    ["--ctas", "7", "--combine", "fold"],
    ["--ctas", "12", "--cluster-size", "4", "--combine", "tree"],
    ["--ctas", "6", "--cluster-size", "2", "--transport", "global"],
    ["--ctas", "132"],
    ["--ctas", "5", "--solver", "longest-first"],
    ["--ctas", "8", "--cluster-size", "2", "--solver", "longest-first"],
    ["--ctas", "4", "--solver", "tickets"],
    ["--ctas", "9", "--solver", "tickets"],
    ["--ctas", "4", "--shared-bytes", "135168"],
)


def check_expected(program, folder, where):
    tensors = read_tensors(folder)
    sizes = dict(zip("abc", tensors["axes"][0]))
    env = Env(sizes, tensors)
    for name, expected in program.outputs:
        error = relative_l2(tensors[name][1], expected(env), f"{where}, {name}")
        if error > TOLERANCE[program.result]:
            raise Failed(f"{where}, {name}: relative L2 error {error:.2e} against Python")


def run_program(tools, seed, seeds):
    """Returns (points, is compound); raises Failed."""
    program = Program(seed, long=seed % 16 == 1)
    folder = tools.path(f"random_{seed}")
    os.makedirs(folder, exist_ok=True)
    source, artifact = f"{folder}/program.mlir", f"{folder}/program.dfa"
    workload = program.workload()
    with open(source, "w") as file:
        file.write(program.text())
    with open(f"{folder}/workload.json", "w") as file:
        json.dump(workload, file)
    tools.compile(source, artifact)
    choice = random.Random(seed).sample(CONFIGURATIONS, 3)
    for configuration in choice:
        tools.call("df-run", artifact, "--input", f"{folder}/workload.json", "--point", "all",
                   "--check", "--adversarial", seeds, "--quiet", "--save-tensors", f"{folder}/%",
                   *configuration)
        for point in workload["points"]:
            where = f"program {seed}, point {point['name']}, {' '.join(configuration)}"
            check_expected(program, f"{folder}/{point['name']}", where)
    shutil.rmtree(folder)
    return len(workload["points"]), program.is_compound()


def test():
    parser = arguments(__doc__)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=10, help="number of programs")
    parser.add_argument("--adversarial", type=int, default=20, help="interleavings of each run")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--keep-going", action="store_true", help="report all failures")
    options = parser.parse_args()
    tools = Tools(options)
    points = compound = 0
    failures = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(run_program, tools, seed, options.adversarial): seed
                for seed in range(options.first, options.first + options.count)}
        for run in concurrent.futures.as_completed(runs):
            try:
                more, is_compound = run.result()
            except Failed as failure:
                failures.append(f"program {runs[run]}: {failure}")
                if not options.keep_going:
                    pool.shutdown(cancel_futures=True)
                    break
                continue
            points += more
            compound += is_compound
    print(f"{options.count} programs, {points} length sets, {compound} programs with two maps, "
          f"fan-out, re-keying or two reshards; {len(failures)} failures")
    if failures:
        raise Failed("\n".join(failures) + f"\nfiles are kept in {options.scratch}")


if __name__ == "__main__":
    main(test)

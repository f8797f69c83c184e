#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the handlers of random programs for a device.

All handlers of each program must become PTX without a finding of the lints,
and what the device target makes of them must give, on this processor, the same
results on any number of threads as the cpu target's code.
"""

import os
import subprocess

from harness import Failed, Tools, arguments, main
from programs import Program


def compile_handlers(tools, seed):
    """The path of the program's text."""
    source, device = tools.path(f"random_{seed}.mlir"), tools.path(f"random_{seed}_device.mlir")
    with open(source, "w") as file:
        file.write(Program(seed).text())
    tools.call("df-opt", source, "--dataflow-prepare", "--dataflow-handlers-to-llvm", "-o", device)
    text = tools.call("df-translate", "--dataflow-to-ptx", device).decode()
    if ".extern .func" in text or "$entry" not in text:
        raise Failed(f"seed {seed}: the PTX has undefined functions or no entries")
    return source


def test():
    parser = arguments(__doc__)
    parser.add_argument("--unit-test", required=True, help="binary of the conversion unit tests")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=12, help="number of programs")
    options = parser.parse_args()
    tools = Tools(options)
    sources = [compile_handlers(tools, seed)
               for seed in range(options.first, options.first + options.count)]
    done = subprocess.run([options.unit_test, "--gtest_filter=*.ProgramsOfTheEnvironment"],
                          env={**os.environ, "DATAFLOW_TEST_PROGRAMS": "\n".join(sources)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Failed(done.stdout.decode(errors="replace")[-3000:])
    print(f"{len(sources)} programs, all handlers")


if __name__ == "__main__":
    main(test)

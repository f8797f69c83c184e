# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the integration tests share: running the tools, reading tensors,
comparing. Standard library only."""

import argparse
import array
import json
import math
import os
import struct
import subprocess
import sys


class Failed(Exception):
    """A test that did not hold; the message says what and how to repeat it."""


def arguments(description):
    """A parser that knows where the tools are and where files may be written."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tools", required=True, help="folder of df-opt, df-translate, df-run")
    parser.add_argument("--scratch", required=True, help="folder for generated files")
    return parser


class Tools:
    def __init__(self, options):
        self.folder, self.scratch = options.tools, options.scratch
        os.makedirs(self.scratch, exist_ok=True)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def call(self, tool, *words, expect=(0,)):
        """Runs a tool and returns its standard output."""
        command = [os.path.join(self.folder, tool), *map(str, words)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode not in expect:
            text = done.stderr.decode(errors="replace").strip()
            raise Failed(f"exit status {done.returncode} of\n  {' '.join(command)}\n{text[-3000:]}")
        return done.stdout

    def compile(self, source, artifact, params="", passes=(), targets=None):
        """`passes` follow the preparation; `targets` as df-translate takes them."""
        prepared = artifact + ".mlir"
        self.call("df-opt", source, f"--dataflow-prepare=params={params}", *passes, "-o", prepared)
        chosen = [f"--targets={targets}"] if targets else []
        self.call("df-translate", "--dataflow-to-artifact", *chosen, prepared, "-o", artifact)


def small_float(code, exponent_bits, mantissa_bits, has_infinity):
    """Value of a binary float of at most 16 bits, from the definition."""
    total = exponent_bits + mantissa_bits
    sign = -1.0 if code >> total else 1.0
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = code & (1 << mantissa_bits) - 1
    bias = (1 << exponent_bits - 1) - 1
    if exponent == (1 << exponent_bits) - 1:
        if has_infinity:
            return sign * math.inf if mantissa == 0 else math.nan
        if mantissa == (1 << mantissa_bits) - 1:
            return math.nan
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)


_TABLES = {}


def decode(element, data):
    """Tensor bytes as a list of numbers."""
    plain = {"f32": "f", "f64": "d", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "i1": "b"}
    if element in plain:
        return list(array.array(plain[element], data))
    if element == "f16":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    if element == "bf16":
        wide = bytearray(2 * len(data))
        wide[2::4], wide[3::4] = data[0::2], data[1::2]
        return list(array.array("f", bytes(wide)))
    bits = {"f8E4M3FN": (4, 3, False), "f8E5M2": (5, 2, True)}[element]
    table = _TABLES.setdefault(element, [small_float(code, *bits) for code in range(256)])
    return [table[byte] for byte in data]


def read_tensors(folder, names=None):
    """{name: (shape, values)} of what df-run --save-tensors wrote, or of some."""
    with open(os.path.join(folder, "tensors.json")) as file:
        index = json.load(file)
    tensors = {}
    for entry in index:
        if names is not None and entry["name"] not in names:
            continue
        with open(os.path.join(folder, entry["file"]), "rb") as file:
            data = file.read()
        if math.prod(entry["shape"]) == 0:
            data = b""
        tensors[entry["name"]] = (entry["shape"], decode(entry["element"], data))
    return tensors


def relative_l2(values, expected, what):
    """Error over finite elements; all others must agree exactly."""
    difference = norm = 0.0
    if len(values) != len(expected):
        raise Failed(f"{what}: {len(values)} elements, expected {len(expected)}")
    for place, (value, truth) in enumerate(zip(values, expected)):
        if math.isfinite(value) and math.isfinite(truth):
            difference += (value - truth) ** 2
            norm += truth * truth
        elif not (value == truth or math.isnan(value) and math.isnan(truth)):
            raise Failed(f"{what}: element {place} is {value}, expected {truth}")
    return math.sqrt(difference / norm) if norm else math.sqrt(difference)


def main(test):
    """Exit status and message of a test function."""
    try:
        test()
    except Failed as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        sys.exit(1)

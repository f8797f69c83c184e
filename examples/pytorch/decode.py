#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decode step of PyTorch, captured in a CUDA graph, equal to a torch reference.

    decode.py mla_decode_f16.dfa [--library libdfrt.so] [--steps 8]

Captures plan upload and launch in a torch.cuda.graph between operations of
PyTorch, and replays it for batches of other lengths: a step costs a plan on the
host, one upload and one launch. Nothing is captured or compiled again.
"""

import argparse
import math
import sys
import time

import torch

import dfrt

HEADS, PAGE, KEY, VALUE = 32, 64, 576, 512


def reference(query, pages, table, lengths):
    """softmax(q k^T / sqrt(576)) v of each request, in float32."""
    out = torch.zeros(*query.shape[:2], VALUE, device=query.device)
    for request, length in enumerate(lengths):
        if length:
            rows = table[request, :-(-length // PAGE)].long()
            keys = pages[rows].reshape(-1, KEY)[:length].float()
            scores = query[request].float() @ keys.T / math.sqrt(KEY)
            out[request] = torch.softmax(scores, dim=1) @ keys[:, :VALUE]
    return out


class Step:
    """The captured step, whose inputs are tensors that keep their addresses."""

    def __init__(self, library, artifact, batch, longest):
        columns = -(-longest // PAGE)
        cuda = {"device": "cuda"}
        self.hidden = torch.randn(batch, HEADS, KEY, dtype=torch.float16, **cuda)
        self.query = torch.empty_like(self.hidden)
        self.pages = torch.randn(batch * columns, PAGE, KEY, dtype=torch.float16, **cuda)
        scattered = torch.randperm(batch * columns, **cuda).to(torch.int32)
        self.table = scattered.reshape(batch, columns).contiguous()
        self.lengths = torch.zeros(batch, dtype=torch.int32, **cuda)
        self.out = torch.empty(batch, HEADS, VALUE, dtype=torch.float16, **cuda)
        self.lse = torch.empty(batch, HEADS, **cuda)
        self.result = torch.empty_like(self.out)

        self.library, self.artifact = library, artifact
        self.device = library.open_device("cuda")
        self.launcher = dfrt.Launcher(library, self.device, artifact)
        self.options = library.plan_options(self.launcher.shape)
        self.capacity = dfrt.Capacity()

    def arguments(self, lengths):
        """Of the program. For planning `lengths` is on the host, where a scheduler has it."""
        return [dfrt.of_torch(t) for t in (self.query, self.pages, self.table, lengths,
                                           self.out, self.lse)]

    def plan(self, lengths):
        host = torch.tensor(lengths, dtype=torch.int32)
        return self.library.plan(self.artifact, self.arguments(host), self.options)

    def make_room(self, expected):
        """Room for every batch of `expected`: what a graph freezes."""
        for lengths in expected:
            plan = self.plan(lengths)
            self.capacity.include(self.library.needs(plan))
            self.launcher.include(plan)
        self.options.capacity = dfrt.POINTER(dfrt.Capacity)(self.capacity)
        self.launcher.include(self.plan(expected[0]))
        self.launcher.create(self.arguments(self.lengths))
        self.planner = self.library.planner(self.artifact, self.options)

    def capture(self, lengths):
        plan = self.plan(lengths)
        self.graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            stream = torch.cuda.current_stream().cuda_stream
            self.query.copy_(self.hidden * 0.5)
            self.launcher.upload(plan, stream)
            self.launcher.launch(stream)
            self.result.copy_(self.out * 2)

    def run(self, lengths):
        """One step; returns the time that planning took, in microseconds."""
        arguments = self.arguments(torch.tensor(lengths, dtype=torch.int32))
        begin = time.perf_counter()
        plan = self.planner.plan(arguments)
        took = (time.perf_counter() - begin) * 1e6
        self.lengths.copy_(torch.tensor(lengths, dtype=torch.int32))
        self.launcher.restage(plan)
        self.graph.replay()
        self.launcher.replayed(torch.cuda.current_stream().cuda_stream)
        return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("artifact", help="examples/mla-decode, compiled for f16")
    parser.add_argument("--library", help="libdfrt.so (default: the installed one)")
    parser.add_argument("--steps", type=int, default=8, help="batches to decode (default 8)")
    options = parser.parse_args()

    torch.manual_seed(0)
    library = dfrt.Library(options.library)
    batches = []
    for step in range(options.steps):
        lengths = (torch.rand(16) ** 3 * 8000).int().tolist()
        lengths[step % 16] = 0
        batches.append(lengths)
    step = Step(library, library.load(options.artifact), 16, 8000)
    step.options.verify = 0
    step.make_room(batches)
    step.capture(batches[0])
    shape = step.launcher.shape
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: "
          f"{shape.ctas} CTAs of {shape.threads} threads")

    worst = 0.0
    for number, lengths in enumerate(batches):
        step.hidden.normal_()
        step.result.fill_(float("nan"))
        planning = step.run(lengths)
        expected = 2 * reference(step.hidden * 0.5, step.pages, step.table, lengths)
        error = float((step.result.float() - expected).norm() / expected.norm())
        worst = max(worst, error if error == error else math.inf)
        print(f"step {number}: {sum(lengths)} tokens, planned in {planning:.0f} us, "
              f"relative L2 error {error:.1e}")
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(20):
        step.graph.replay()
    end.record()
    torch.cuda.synchronize()
    step.launcher.replayed(torch.cuda.current_stream().cuda_stream)
    print(f"one replay: {begin.elapsed_time(end) / 20 * 1e3:.1f} us")
    print("equal to the reference" if worst < 2e-3 else "DIFFERS from the reference")
    return 0 if worst < 2e-3 else 1


if __name__ == "__main__":
    sys.exit(main())

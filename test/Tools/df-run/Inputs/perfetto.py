#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decodes a trace with protoc and tests what a viewer relies on: every field is one of the
definition, tracks are described before they are used and lead to a process, slices of a track nest
and end, and every flow has both its ends.

  perfetto.py TRACE [PROTO]   PROTO: definition, by default what df-run writes of it; Perfetto's
                              own perfetto_trace.proto does as well
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def decoded(trace, proto):
    """Each packet as a list of (path of names, value)."""
    with open(trace, "rb") as file:
        text = subprocess.run(
            ["protoc", f"--proto_path={os.path.dirname(os.path.abspath(proto))}",
             "--decode=perfetto.protos.Trace", os.path.basename(proto)],
            stdin=file, stdout=subprocess.PIPE, check=True, text=True).stdout
    packets, path = [], []
    for line in text.splitlines():
        word, _, value = line.strip().partition(" ")
        if value == "{":
            path.append(word)
            if len(path) == 1:
                packets.append([])
        elif word == "}":
            path.pop()
        else:
            packets[-1].append((".".join(path[1:] + [word.rstrip(":")]), value))
    return packets


def fail(number, text):
    sys.exit(f"packet {number}: {text}")


def main():
    trace = sys.argv[1]
    proto = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "perfetto.proto")
    parents, processes, stacks = {}, set(), {}
    begun, ended = {}, {}
    counts = {"slices": 0, "flows": 0}
    for number, packet in enumerate(decoded(trace, proto)):
        for path, _ in packet:
            # protoc prints the number of a field that it does not know.
            if re.search(r"(^|\.)\d+(\.|$)", path):
                fail(number, f"field {path} is not in the definition")
        fields = dict(packet)
        if "trusted_packet_sequence_id" not in fields:
            fail(number, "no sequence")
        if "track_descriptor.uuid" in fields:
            uuid = fields["track_descriptor.uuid"]
            parents[uuid] = fields.get("track_descriptor.parent_uuid")
            if "track_descriptor.process.pid" in fields:
                processes.add(uuid)
            elif parents[uuid] not in parents:
                fail(number, f"track {uuid} has no process")
            continue
        track, kind = fields["track_event.track_uuid"], fields["track_event.type"]
        if track not in parents or track in processes:
            fail(number, f"an event on track {track}, which is not described")
        now = int(fields.get("timestamp", 0))
        stack = stacks.setdefault(track, [])
        if kind == "TYPE_SLICE_BEGIN":
            if "track_event.name" not in fields:
                fail(number, "a slice without a name")
            if stack and now < stack[-1]:
                fail(number, "a slice begins before the one around it")
            stack.append(now)
            counts["slices"] += 1
        elif kind == "TYPE_SLICE_END":
            if not stack or now < stack.pop():
                fail(number, "a slice ends that did not begin, or before it did")
        for path, value in packet:
            if path == "track_event.flow_ids":
                begun.setdefault(value, now)
            elif path == "track_event.terminating_flow_ids":
                ended[value] = now
    if any(stacks.values()):
        sys.exit("slices without an end")
    if set(begun) != set(ended):
        sys.exit(f"flows with one end: {sorted(set(begun) ^ set(ended))[:5]}")
    late = [flow for flow, time in begun.items() if ended[flow] < time]
    if late:
        sys.exit(f"flows that end before they begin: {late[:5]}")
    print(f"{len(processes)} processes, {len(parents) - len(processes)} tracks, "
          f"{counts['slices']} slices, {len(begun)} flows")


if __name__ == "__main__":
    main()

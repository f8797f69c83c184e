"""documented.py MANUAL JSON: compares the names in the manual's table of JSON
members with those in the output of df-run --json."""

import json
import re
import sys


def names(value, prefix=""):
    if isinstance(value, list):
        for item in value:
            yield from names(item, prefix + "[]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from names(item, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix


manual = set()
with open(sys.argv[1]) as file:
    for row in file.read().split("\n## JSON\n")[1].split("\n"):
        if not row.startswith("| `"):
            continue
        first, second = row.split("|")[1:3]
        owners, members = re.findall(r"`([^`]+)`", first), re.findall(r"`([a-z0-9_]+)`", second)
        # The last owner of a row has the members in the second column.
        composite = {"problem.domains[]", "problem.ranges[]", "plan.stages[]", "plan.transfers",
                     "decisions[]", "prediction", "plan_time", "run", "checks[]"}
        for owner in owners:
            manual |= {f"{owner}.{m}" for m in members} if owner in composite else {owner}

with open(sys.argv[2]) as file:
    output = {name[len("[]."):] for name in names(json.load(file))}
if manual != output:
    sys.exit(f"only in the manual: {sorted(manual - output)}\n"
             f"only in the output: {sorted(output - manual)}")

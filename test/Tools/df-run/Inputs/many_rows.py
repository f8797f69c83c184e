"""A workload for examples/hello with 9000 short rows and some long ones."""

import json

lengths = [(i * 37) % 300 for i in range(8990)] + [50000 + i for i in range(10)]
print(json.dumps({
    "description": "many rows",
    "program": "ragged_sum",
    "points": [{"name": "many", "lengths": lengths}],
    "dimensions": {"rows": {"count": "lengths"}, "columns": {"max": "lengths"}},
    "arguments": {
        "x": {"shape": ["rows", "columns"], "fill": {"constant": 1}},
        "lengths": {"shape": ["rows"], "fill": {"values": "lengths"}},
        "sums": {"shape": ["rows"]},
    },
}))

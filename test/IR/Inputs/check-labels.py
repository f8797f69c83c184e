"""Tests that every constraint that the .td files document has a negative test.

A constraint (C2) of the op or attribute `map` needs a case `// map_c2: ...` in a
file test/IR/*-errors.mlir, and one (S3) of all stages a case `// stage_s3: ...`.
Cases may not be named after constraints that are not documented.
"""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
documented = set()
for path in (source / "include/dataflow/IR").glob("*.td"):
    # Every definition begins with `def`; its mnemonic is the first string.
    for definition in re.split(r"^def ", path.read_text(), flags=re.M)[1:]:
        mnemonic = re.findall(r'"([a-z_]+)"', definition.split("{")[0])
        for kind, number in re.findall(r"^ *- \(([CS])(\d+)\) ", definition, re.M):
            owner = mnemonic[0] if kind == "C" else "stage"
            documented.add(f"{owner}_{kind.lower()}{number}")

tested = set()
for path in (source / "test/IR").glob("*-errors.mlir"):
    tested |= set(re.findall(r"^// (\w+_[cs]\d+): ", path.read_text(), re.M))

problems = [f"{label}: documented, not tested" for label in documented - tested]
problems += [f"{label}: tested, not documented" for label in tested - documented]
print("\n".join(sorted(problems)) or f"{len(documented)} constraints, all tested")
sys.exit(bool(problems))

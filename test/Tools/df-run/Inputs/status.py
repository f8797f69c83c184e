"""status.py N COMMAND...: succeeds if the command ends with exit status N."""

import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
if status != int(sys.argv[1]):
    sys.exit(f"exit status {status} instead of {sys.argv[1]}")

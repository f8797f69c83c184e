"""first_json.py FILE.md: prints the first JSON block of a page."""

import re
import sys

with open(sys.argv[1]) as file:
    print(re.search(r"```json.*\n([^`]*)```", file.read()).group(1))

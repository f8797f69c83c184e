"""first_json.py FILE.md: prints the first JSON block of a page."""

import sys

with open(sys.argv[1]) as file:
    print(file.read().split("```json\n")[1].split("```")[0])

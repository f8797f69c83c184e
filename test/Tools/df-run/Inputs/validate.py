"""validate.py SCHEMA JSON...: tests files against a JSON schema, by the few keywords that ours has.

Any other keyword is an error, so that no rule of a schema goes untested."""

import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
WORDS = {"$schema", "title", "description"}


def is_type(value, name):
    if name in ("integer", "number"):
        return (isinstance(value, int if name == "integer" else (int, float))
                and not isinstance(value, bool))
    return isinstance(value, TYPES[name])


def validate(value, schema, place):
    for key, rule in schema.items():
        if key in WORDS:
            continue
        wrong = None
        if key == "type":
            names = rule if isinstance(rule, list) else [rule]
            if not any(is_type(value, name) for name in names):
                wrong = f"is no {' or '.join(names)}"
        elif key == "const":
            wrong = value != rule and f"is not {rule}"
        elif key == "enum":
            wrong = value not in rule and f"is none of {rule}"
        elif key == "minimum":
            wrong = value is not None and value < rule and f"is below {rule}"
        elif key == "pattern":
            wrong = not re.search(rule, value) and f"does not match {rule}"
        elif key == "minItems":
            wrong = len(value) < rule and f"has less than {rule} items"
        elif key == "maxItems":
            wrong = len(value) > rule and f"has more than {rule} items"
        elif key == "required":
            missing = [name for name in rule if name not in value]
            wrong = missing and f"lacks {missing}"
        elif key == "additionalProperties":
            assert rule is False
            more = [name for name in value if name not in schema["properties"]]
            wrong = more and f"has the unknown members {more}"
        elif key == "properties":
            for name, part in rule.items():
                if isinstance(value, dict) and name in value:
                    validate(value[name], part, f"{place}.{name}")
        elif key == "items":
            for number, item in enumerate(value):
                validate(item, rule, f"{place}[{number}]")
        else:
            sys.exit(f"the schema has a keyword that is not tested: {key}")
        if wrong:
            sys.exit(f"{place} {wrong}: {json.dumps(value)[:200]}")


with open(sys.argv[1]) as file:
    rules = json.load(file)
for name in sys.argv[2:]:
    with open(name) as file:
        validate(json.load(file), rules, name)

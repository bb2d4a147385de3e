"""Checks events on standard input against class 6005 of the published schema of OCSF 1.8.0, which the
package ocsf-json-schema ships. Also checks that the schema would refuse them without what it requires."""

import json
import sys

from jsonschema import Draft202012Validator
from ocsf_json_schema import get_ocsf_schema
from ocsf_json_schema.embedded import OcsfJsonSchemaEmbedded

schema = OcsfJsonSchemaEmbedded(get_ocsf_schema("1.8.0")).get_class_schema("datastore_activity", [])
validator = Draft202012Validator(schema)
assert schema["additionalProperties"] is False, "an attribute that is not in the schema is refused"
events = [json.loads(line) for line in sys.stdin]
faults = [
    f"{error.json_path}: {error.message[:300]}" for event in events for error in validator.iter_errors(event)
]
for name in schema["required"]:
    less = {key: value for key, value in events[0].items() if key != name}
    if validator.is_valid(less):
        faults.append(f"without {name} it fits all the same")
print("\n".join(faults) or f"{len(events)} events fit")
sys.exit(bool(faults))

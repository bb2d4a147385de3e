"""Reads metrics on standard input with Prometheus' own parser, and prints every sample as a line of JSON."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.type != "unknown" and family.documentation.endswith("."), family
    for sample in family.samples:
        labels = sorted(sample.labels.items())
        print(json.dumps({"name": sample.name, "labels": labels, "value": sample.value, "type": family.type}))

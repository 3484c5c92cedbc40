"""What tests of sources read."""

from __future__ import annotations

import json

import pytest

from tests.envs.fhir_record.small_charts import small_resources


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("charts")
    lines = [json.dumps(resource) for resource in small_resources()]
    (root / "charts.ndjson").write_text("\n".join(lines))
    return root

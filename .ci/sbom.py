"""Write what is installed beside this interpreter as CycloneDX JSON: python .ci/sbom.py FILE.

Names, versions, licences as their packages declare them, and what requires what. It holds neither
time nor place, so that the same environment gives the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[\w.-]+")


def normalized(name: str) -> str:
    """Return a project's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def purl(found: Distribution) -> str:
    """Return the package URL of a distribution, by which advisories name it."""
    return f"pkg:pypi/{normalized(found.name)}@{found.version.replace('+', '%2B')}"


def component(found: Distribution) -> dict[str, Any]:
    """Return a distribution as a component, with its licence in SPDX's words if it says so."""
    about = found.metadata
    spdx, told = about.get("License-Expression"), about.get("License") or ""
    named = [told] if told and len(told) < 100 and "\n" not in told else []
    classes = [
        text.rpartition(" :: ")[2]
        for text in about.get_all("Classifier") or []
        if text.startswith("License ::")
    ]
    names = [{"license": {"name": name}} for name in named or classes]
    licences = [{"expression": spdx}] if spdx else names
    return {
        "type": "library",
        "bom-ref": purl(found),
        "name": found.name,
        "version": found.version,
        "purl": purl(found),
        **({"licenses": licences} if licences else {}),
    }


def bill(installed: list[Distribution]) -> dict[str, Any]:
    """Return the bill of materials of an environment."""
    by_name = {normalized(each.name): each for each in installed}
    ordered = [by_name[name] for name in sorted(by_name)]
    needs = {
        purl(each): sorted(
            {
                purl(by_name[name])
                for text in each.requires or []
                if (name := normalized(_NAME.match(text)[0])) in by_name  # type: ignore[index]
            }
        )
        for each in ordered
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [component(each) for each in ordered],
        "dependencies": [{"ref": ref, "dependsOn": on} for ref, on in needs.items()],
    }


if __name__ == "__main__":
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(bill(list(distributions())), indent=1) + "\n", encoding="utf-8")

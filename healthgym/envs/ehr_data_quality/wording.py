"""What an auditor is told: the instruction, and the workspace's README."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from healthgym.core.borders import JsonDict
from healthgym.envs.ehr_data_quality.task import KINDS, Level


@cache
def _texts() -> JsonDict:
    text = resources.files(__package__).joinpath("data/wording.json").read_text(encoding="utf-8")
    texts: JsonDict = json.loads(text)
    return texts


def instruction(kind: str, level: Level, *, patients: int, rows: int) -> str:
    """Return the instruction of a kind of task.

    Args:
        kind: The kind of task.
        level: How much it tells.
        patients: Number of patients.
        rows: Number of rows of all tables.
    """
    texts = _texts()
    families = [str(family) for family in KINDS[kind]]
    parts = [texts["opening"].format(patients=patients, rows=rows)]
    if level is Level.HARD:
        parts.append(texts["hard"])
    elif len(families) == 1:
        parts.append(texts["one"].format(first=texts["families"][families[0]]))
    else:
        named = "; ".join(texts["families"][family] for family in families)
        parts.append(texts["several"].format(list=named))
    if level is Level.CLUES:
        clues = [f"- {clue}" for family in families for clue in texts["clues"][family]]
        parts.append("\n".join([texts["clues_opening"], *clues]))
    parts.append(texts["closing"])
    return "\n\n".join(parts)


def readme(*, documented: bool) -> str:
    """Return the README: the schema, and the oddities that are no errors.

    Args:
        documented: Whether all natural oddities are known, as they are of generated data.
    """
    texts = _texts()
    return "\n".join([*texts["readme"], *texts["normal" if documented else "real"]]) + "\n"

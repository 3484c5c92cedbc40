"""Tables of written pages that come from ``benchmarks/results/``.

    python docs/tables.py      # writes them anew; a test says when that is due

A table stands below ``<!-- table: NAME -->``, which is told here by the same name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
LEVELS = ("easy", "medium", "hard")
_PLACE = re.compile(r"(<!-- table: (\w+) -->\n)\n(?:\|.*\n)*\n*")


def main() -> None:
    """Write every table anew."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        new = renewed(text)
        if new != text:
            path.write_text(new, encoding="utf-8")


def renewed(text: str) -> str:
    """Return a page with its tables as the results have them."""
    return _PLACE.sub(lambda place: f"{place[1]}\n{TABLES[place[2]]()}\n", text)


def records() -> str:
    """Return what policies without skill score on the records."""
    evaluations = json.loads((RESULTS / "baselines.json").read_text(encoding="utf-8"))
    ids = ["FhirRecord", *(f"MedAgentBenchV{n}" for n in (1, 2, 3))]
    found = {(one["env_id"], one["policy"]): one["rows"][-1] for one in evaluations["evaluations"]}
    told = {
        "nop": "nop, never finishes",
        "finish_empty": "`finish([])`",
        "finish_minus_one": "`finish([-1])`",
        "random": "random",
        "flood": "flood, every order",
        "prior": "prior, the best guess unread",
    }
    rows = []
    for policy, words in told.items():
        cells = [found[f"HealthAgent/{name}-v1", policy] for name in ids]
        rows.append(
            [words]
            + [
                f"{percent(c['success']['estimate'])} / {percent(c['other']['paper'])}"
                for c in cells
            ]
        )
    return table(["Policy", *ids], rows)


def imaging() -> str:
    """Return who solves how much of the imaging tasks."""
    rows = []
    for name, file in (
        ("XrayCorrection", "xray_correction"),
        ("CtAbnormality", "ct_abnormality"),
        ("TumorAreaSelection", "tumor_area"),
    ):
        figures = read(file)
        ending = "strict" if file == "tumor_area" else "strict.success"
        solver = figures["solver"]
        rates = [
            next(
                solver[key]
                for key in (f"{level}.solver.{ending}", f"{level}.success")
                if key in solver
            )
            for level in LEVELS
        ]
        tasks = [
            solver.get(f"{level}.solver.tasks", solver.get(f"{level}.tasks")) for level in LEVELS
        ]
        told = figures["baselines"]
        rows.append(
            [
                name,
                slashed(told[f"{level}.oracle.{ending}"] for level in LEVELS),
                f"{slashed(rates)} of {' / '.join(map(str, tasks))}",
                slashed(told[f"{level}.prior.{ending}"] for level in LEVELS),
                best(told, ending),
            ]
        )
    return table(["%, easy / medium / hard", "oracle", "solver", "prior", "the best other"], rows)


def best(told: dict[str, float], ending: str) -> str:
    """Return the highest success of a policy that is neither told nor reads, with its name."""
    cells, names = [], []
    for level in LEVELS:
        rates = {
            key.removeprefix(f"{level}.").removesuffix(f".{ending}"): rate
            for key, rate in told.items()
            if key.startswith(f"{level}.") and key.endswith(f".{ending}")
        }
        rates.pop("oracle", None)
        name = max(rates, key=rates.__getitem__)
        cells.append(percent(rates[name]))
        names += [f"`{name}`"] if rates[name] and f"`{name}`" not in names else []
    return " / ".join(cells) + (f" ({', '.join(names)})" if names else "")


def prior_authorization() -> str:
    """Return who solves how many prior authorizations."""
    told = {
        "oracle": "oracle, is told",
        "solver": "solver, a script that reads handbook and chart through the tools",
        "remembering": "the same by heart: the numbers of the printed edition",
        "never_submit": "never submits, coverage ended",
        "gather_everything": "gathers, every criterion named",
        "flood": "sends the whole chart",
        "random": "random",
        "nop": "nothing",
    }
    figures = merged("prior_authorization")
    rows = [
        [words, *(slashed(levels(figures, policy, kind)) for kind in ("strict", "paper"))]
        for policy, words in told.items()
    ]
    return table(["Policy, %: easy / medium / hard", "`strict`", "`paper`"], rows)


def review_and_care() -> str:
    """Return who solves how much at the payer's desk and the care manager's."""
    payer, care = merged("utilization_management"), merged("care_management")
    told = (
        ("oracle, is told", "oracle", "oracle"),
        ("solver, a script that reads and listens through the tools", "solver", "solver"),
        ("the same by heart: the numbers of the printed edition", "remembering", ""),
        ("reads all but the packet, and guesses", "guessing", ""),
        ("says back what the person said, without chart or handbook", "", "parroting"),
    )
    rows = [
        [words]
        + [
            slashed(levels(figures, policy, "strict")) if policy else ""
            for figures, policy in ((payer, first), (care, second))
        ]
        for words, first, second in told
    ]
    for kind in ("strict", "paper"):
        blind = [best(read(f"{name}_management")["blind"], f"{kind}.success")
                 for name in ("utilization", "care")]  # fmt: skip
        rows.append([f"the best of those who do not look, `{kind}`", *blind])
    head = ["%, `strict`: easy / medium / hard", "UtilizationManagement", "CareManagement"]
    return table(head, rows)


def levels(figures: dict[str, float], policy: str, kind: str) -> list[float]:
    """Return a policy's success at each difficulty."""
    return [figures[f"{level}.{policy}.{kind}.success"] for level in LEVELS]


def merged(file: str) -> dict[str, float]:
    """Return the figures of all who play, in one."""
    figures = read(file)
    return {**figures["blind"], **figures["readers"], **figures["oracle"]}


def read(file: str) -> dict[str, Any]:
    """Return the figures of a file."""
    found: dict[str, Any] = json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))
    return dict(found["figures"])


def slashed(rates: Iterable[float]) -> str:
    """Return rates in percent, with strokes between."""
    return " / ".join(map(percent, rates))


def percent(rate: float) -> str:
    """Return a rate in percent, with one decimal where it has one."""
    return f"{100 * rate:.1f}".removesuffix(".0")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES: dict[str, Callable[[], str]] = {
    "records": records,
    "imaging": imaging,
    "prior_authorization": prior_authorization,
    "review_and_care": review_and_care,
}

if __name__ == "__main__":
    main()

"""Tables of ``benchmarks/results/*.json`` as pages: nothing on them is written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Most figures of a file that a page lists; the rest is in the file.
MOST = 60


def pages(results: Path) -> Iterator[tuple[str, str]]:
    """Yield the address and text of the pages of results."""
    yield "results/proofs.md", proofs(results / "proofs.json")
    yield "results/cards.md", cards(results / "cards.json")
    yield "results/figures.md", figures(results)


def proofs(path: Path) -> str:
    """Return how often each verifier errs."""
    rows = []
    for env_id, counts in read(path).items():
        wrong = summed(counts["corruptions"])
        right = summed(counts["equivalents"])
        rows.append(
            f"| `{env_id}` | {len(counts['corruptions'])} | {told(*wrong)} "
            f"| {len(counts['equivalents'])} | {told(*right)} |"
        )
    table = "\n".join(
        (
            "| environment | kinds of wrong work | accepted | forms of right work | refused |",
            "|---|---|---|---|---|",
            *sorted(rows),
        )
    )
    return f"""# How often verifiers err

Each family says how its verifier is put to the proof: one harmful change to the oracle's work must
be refused, and the same answer in another legitimate form must be accepted. Counted is what
`python benchmarks/proofs.py` found under `strict`; the page of each environment has every change
with its interval, and the scripts that were played on tasks they were not made for.

{table}

These are the changes that whoever wrote the verifier thought of. What readers who had not seen it
made up is told with the environment's results; see [managed care](managed-care.md) and
[imaging](imaging.md).
"""


def cards(path: Path) -> str:
    """Return a line for each card: who solves how much, and what groups of rollouts tell."""
    rows = []
    for env_id, card in read(path).items():
        best = {
            kind: max((one for one in card["baselines"] if one["kind"] in kinds), key=estimate)
            if any(one["kind"] in kinds for one in card["baselines"])
            else None
            for kind, kinds in (
                ("reads", ("reads",)),
                ("blind", ("blind", "unknowing")),
            )
        }
        erring = next(one for one in card["groups"] if one["policy"] != "random")
        training = card["training"]
        rows.append(
            f"| `{env_id}` | {card['tasks']} | {shown(best['reads'])} | {shown(best['blind'])} "
            f"| {erring['same_success']['estimate']:.0%} of {erring['same_success']['n']} "
            f"| {card['speed']['resets_per_s']:,.0f} / {card['speed']['steps_per_s']:,.0f} "
            f"| {card['size']['episode_tokens']:.0f} "
            f"| {training['outcome'] if training else 'not tried'} |"
        )
    table = "\n".join(
        (
            "| environment | tasks | best that reads | best unread | groups without variance "
            "| resets / steps a second | tokens an episode | small model under reward |",
            "|---|---|---|---|---|---|---|---|",
            *sorted(rows),
        )
    )
    return f"""# Cards

What `python benchmarks/cards.py` measured of each environment, as `healthgym card ID` does for any
id; the whole card is at the end of the environment's page. Success is under the profile that
decides, with the highest of the scripted policies of a sort; groups are eight rollouts of one task
by an oracle that leaves out one action in ten; seconds are of one core; an episode is the oracle's,
tools included, at four characters a token.

{table}
"""


def estimate(one: dict[str, Any]) -> float:
    """Return a policy's success."""
    return float(one["success"]["estimate"])


def shown(one: dict[str, Any] | None) -> str:
    """Return a policy's success with its interval (Wilson, 95 %)."""
    if one is None:
        return "none"
    rate = one["success"]
    ends = f"{100 * rate['low']:.0f}–{100 * rate['high']:.0f}"
    return f"{one['policy']} {100 * rate['estimate']:.0f} % [{ends}]"


def figures(results: Path) -> str:
    """Return the figures of every file, flat."""
    parts = [
        "# All figures",
        "What the scripts in `benchmarks/` wrote, with the machine they ran on. Times of one "
        "machine say little about another's; ratios within a file do.",
    ]
    for path in sorted(results.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        # Cards have a page of their own.
        if not isinstance(data, dict) or "figures" not in data or path.stem == "cards":
            continue
        rows = list(flat(data["figures"]))
        machine = data.get("machine") or {}
        parts.append(f"## {path.stem}")
        parts.append(
            f"{machine.get('cpu', 'unnamed processor')}, {machine.get('cores', '?')} cores, "
            f"Python {machine.get('python', '?')}; `benchmarks/results/{path.name}`, "
            f"{len(rows)} figures."
        )
        shown = [f"| `{name}` | {value} |" for name, value in rows[:MOST]]
        parts.append("\n".join(("| figure | value |", "|---|---|", *shown)))
    return "\n\n".join(parts) + "\n"


def read(path: Path) -> dict[str, Any]:
    """Return the figures of a file; none if there is no such file."""
    if not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["figures"]
    return found


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the numbers and texts below a value, with their path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, float):
        yield name, f"{value:.4g}"
    elif isinstance(value, int | str):
        yield name, str(value)[:120].replace("|", "\\|").replace("\n", " ")


def summed(counts: dict[str, list[int]]) -> tuple[int, int]:
    """Return the sums of found and n."""
    return sum(each[0] for each in counts.values()), sum(each[1] for each in counts.values())


def told(found: int, n: int) -> str:
    """Return a count with the upper end of its interval (Wilson, 95 %)."""
    if not n:
        return "none tried"
    from healthgym.policies.statistics import wilson_interval

    return f"{found} of {n} (at most {wilson_interval(found, n).high:.1%})"

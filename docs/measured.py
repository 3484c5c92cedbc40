"""Tables of ``benchmarks/results/*.json`` as pages: nothing on them is written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: Most figures of a file that a page lists; the rest is in the file.
MOST = 60


def pages(results: Path) -> Iterator[tuple[str, str]]:
    """Yield the address and text of the pages of results."""
    yield "results/proofs.md", proofs(results)
    yield "results/integrity.md", integrity(results)
    yield "results/cards.md", cards(results / "cards.json")
    yield "results/figures.md", figures(results)
    yield "leaderboard.md", leaderboard(results.parent / "leaderboard")


def proofs(results: Path) -> str:
    """Return how often each verifier errs, and what the look of tasks tells."""
    rows = []
    for env_id, counts in read(results / "proofs.json").items():
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

{artefacts(read(results / "artefacts.json"))}
"""


def artefacts(measured: dict[str, Any]) -> str:
    """Return how well the look of a task tells its answer, by environment."""
    rows, reasons = [], {}
    for env_id, one in measured.items():
        items = one["items"]
        if not items:
            rows.append(f"| `{env_id}` | none with two answers | | | |")
            continue
        name, worst = max(items.items(), key=lambda item: item[1]["low"])
        labels = sum(item["labels"] for item in items.values())
        above = sum(item["low"] > item["allowed"] for item in items.values())
        rows.append(
            f"| `{env_id}` | {len(items)} | {labels:,} | {worst['auroc']:.2f}, at least "
            f"{worst['low']:.2f} ({name}, {worst['by'].split(',')[0]}) | {above} |"
        )
        for item, found in items.items():
            if found["reason"]:
                reasons[f"{item}, AUROC up to {found['allowed']:.2f}: {found['reason']}"] = None
    table = "\n".join(
        (
            "| environment | items | held-out labels | told best, AUROC | told and not declared |",
            "|---|---|---|---|---|",
            *sorted(rows),
        )
    )
    declared = "\n".join(f"- {reason}" for reason in sorted(reasons))
    return f"""## What the look of a task tells

Classifiers are fitted to everything that is visible before a tool is used, and to order, ids,
lengths, formatting and times of what tools answer, on tasks of the training split, and tried on
held-out ones (`python benchmarks/artefacts.py`, by `healthgym.testing.check_artefacts`). An AUROC
of 0.5 is chance; the lower end is of an interval that is as wide as it takes for all intervals of
an environment to be right together in 95 % of cases. An item may not be told above 0.55 for sure,
but for these, which are declared:

{declared}

{table}"""


def integrity(results: Path) -> str:
    """Return what hostile calls found, and what processes hold that play for long."""
    attacks = read(results / "hostile.json")
    rows = [
        f"| `{env_id}` | {one['calls']:,} | {one['carried_out']:,} | {one['findings']} |"
        for env_id, one in sorted(attacks.items())
    ]
    calls, found = (sum(one[each] for one in attacks.values()) for each in ("calls", "findings"))
    table = "\n".join(
        ("| environment | calls | carried out | findings |", "|---|---|---|---|", *rows)
    )
    soak = read(results / "integrity.json").get("soak")
    plateau = read(results / "plateau.json").get("mixed")
    runs = []
    if soak:
        runs.append(
            f"- **{soak['minutes']:.0f} minutes** of all environments, four of them side by side "
            f"in each process ({soak['processes']} at a time), by oracles, random calls and "
            f"floods, with full Python in a box: {soak['episodes']:,} episodes, "
            f"{soak['steps']:,} steps, "
            f"{soak['faults']} faults, {soak['left']} things left a second after `kill -9`, at "
            f"most {soak['most_descriptors']} descriptors; memory grew by {soak['growth_mib']} MiB "
            "after the first fifth (asked for: at most 50). `benchmarks/integrity.py`."
        )
    if plateau:
        runs.append(
            f"- **{plateau['episodes']:,} episodes** of all environments in turn, in one process "
            f"with 256 descriptors: at most {plateau['most_descriptors']} of them in use; "
            f"{plateau['settled_mib']} MiB after the first tenth, at most "
            f"{plateau['growth_mib']} MiB more later (asked for: at most 50). "
            "`benchmarks/plateau.py`."
        )
    return f"""# Integrity

An agent that tries everything must neither leave the score nor break what trains it.

## Hostile calls

Calls are made from each tool's schema and language (SQL, YAML, Python, JSON, FHIR searches, the
prose of reports): {calls:,} of them, {found} findings. Most are refused in a sentence, as they
should be; a finding is a call that raises, goes on without end, fails on our account, or changes
something though it was refused.
`benchmarks/hostile.py` runs them.

{table}

## What a process holds

{chr(10).join(runs)}
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
            f"| {env_id.rpartition('/')[2]} | {card['tasks']} "
            f"| {shown(best['reads'])} | {shown(best['blind'])} "
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

{trainings(read(path))}
"""


def trainings(cards: dict[str, Any]) -> str:
    """Return a line for each environment on which the small model was trained."""
    rows = []
    for env_id, card in cards.items():
        told = card["training"]
        if told is None:
            continue
        minutes = told["minutes"]
        asked = ", ".join(f"{name}={value}" for name, value in told["env_kwargs"].items())
        ends = f"[{100 * told['gain_low']:+.1f}, {100 * told['gain_high']:+.1f}]"
        rows.append(
            f"| {env_id.rpartition('/')[2]} | {asked} | {told['before']['estimate']:.1%} "
            f"| {told['after']['estimate']:.1%} of {told['after']['n']} "
            f"| {100 * told['gain']:+.1f} {ends} | {1 - told['informative']:.0%} "
            f"| {told['outcome']} | {f'{minutes:.0f}' if minutes else '?'} |"
        )
    table = "\n".join(
        (
            "| environment | on tasks with | before | after | points, 95 % interval "
            "| groups without variance | reward | minutes |",
            "|---|---|---|---|---|---|---|---|",
            *sorted(rows),
        )
    )
    return f"""## The small model under reward

`python benchmarks/cards.py --train RUNS --only ID`: a model of 320,000 parameters is shown at
most 4,000 whole demonstrations, then practises for 100 steps of at most 32 rollouts, or until 30
in a row moved nothing; both are fewer where episodes are long. Success is of replies
drawn at temperature 1 on 200 tasks of the test split, the same before and after reward. Canonical
ids draw their tasks to train on as the id without that word does. One seed,
so an interval is of tasks and not of runs. The page of an environment says what would be the next
thing to try where reward moves nothing.

{table}

{untried(cards)}"""


def untried(cards: dict[str, Any]) -> str:
    """Return which environments have tasks to train on, and were not trained on, and why."""
    names = sorted(
        env_id.rpartition("/")[2]
        for env_id, card in cards.items()
        if card["training"] is None and "Canonical" not in env_id
    )
    if not names:
        return ""
    return f"""Not tried: {", ".join(names)}.
One core shows their episodes of some 10,000 tokens and more in 35 to 45 minutes; what reward takes
after that was estimated from the first replies at two to three hours each, and nobody has waited
for it."""


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
            f"Python {_interpreter(machine)}; `benchmarks/results/{path.name}`, "
            f"{len(rows)} figures."
        )
        shown = [f"| `{name}` | {value} |" for name, value in rows[:MOST]]
        parts.append("\n".join(("| figure | value |", "|---|---|", *shown)))
    return "\n\n".join(parts) + "\n"


def _interpreter(machine: Mapping[str, object]) -> str:
    """Return the version of an interpreter, and the time of the fixed piece of Python if known."""
    version, reference = machine.get("python", "?"), machine.get("reference_us")
    return f"{version} (a fixed piece of it takes {reference} us)" if reference else f"{version}"


def leaderboard(folder: Path) -> str:
    """Return the board: a table for each environment, published benchmarks first."""
    from healthgym.policies.leaderboard import grouped, is_published, read_board

    parts: dict[bool, list[str]] = {True: [], False: []}
    for _, entries in grouped(read_board(folder)):
        parts[is_published(entries[0].env_id)].append(board_table(entries))
    published, others = ("\n\n".join(parts[each]) or "No entry yet." for each in (True, False))
    return f"""# Leaderboard

Who solves how much of the first tasks of each test split, with 95 % intervals. An entry is a file
in `benchmarks/leaderboard/`, and got there only after **every episode of its record was played
again** and came to the same answers, rewards and verdicts. It begins with scripted policies:
`oracle` knows the answer and proves that the tasks can be solved; `solver`, `reader`, `guessing`
and `remembering` are handed what an agent reads; `prior`, `random` and `nop` do nothing that helps;
what the others know is told on [the cards](results/cards.md).

## Published benchmarks

The fixed sets of tasks of the benchmarks' ids, made anew where their data are closed: numbers here
are not those of the papers.

{published}

## Other environments

{others}

## Add an entry

```bash
healthgym eval HealthAgent/TrialMatchingCanonical-v1 --policy llm --base-url URL --model NAME \\
    --episodes 9 --record runs.jsonl --json result.json
healthgym leaderboard add result.json --record runs.jsonl --model-version REVISION \\
    --by YOU --where ADDRESS-OF-THE-RECORD
```

`add` writes one small file to `benchmarks/leaderboard/`; send it as a change. The record stays with
you, its SHA-256 is in the entry, and who has the record (`healthgym leaderboard check --records
DIR`) plays it again. Scripted policies need no record: `healthgym leaderboard check --again` plays
them anew, and finds the same bytes. `healthgym leaderboard show` prints the tables; the layout of
an entry is [with the other results](guides/results-format.md#healthgymleaderboard_entry1).

## What is checked

- **The tasks** are the first of the test split, all of it or 30, 50, 100, 200, 300, 500 or 1,000,
  each attempted as often as claimed: none left out, none twice, none of another split, id, version
  or other arguments. Which numbers there are is set, so that nobody stops where it looks best.
- **Each episode** is played again from its actions. A changed success, reward, answer, task or
  verdict is refused; pictures may differ in their last grey level, as [processors
  do](guides/reproducibility.md).
- **The numbers** are worked out from what was played again: success, Wilson's interval or, with
  several attempts, one by resampling tasks, pass@k and pass^k, tokens. A result that says something
  else is refused.
- **Attempts without a score**, for failures of an endpoint, count as failures, and are told as
  masked.
- **What comes from outside** is in no table: judges, endpoints in a part of the world or in another
  seat, data of one's own. Who writes a record could make it up.

What a record cannot show: **who acted** (the oracle's actions under a model's name play again as
well as any), how many runs were thrown away before this one, and what an endpoint charged. Name,
version, cost and date are the word of who entered them. Tokens are read and written once, at four
characters a token; what was billed is in the entry.
"""


def board_table(entries: list[Any]) -> str:
    """Return the table of entries that may be compared, and how each is made again."""
    from healthgym.policies.leaderboard import table
    from healthgym.policies.reports import markdown_table

    first = entries[0]
    told = "".join(f", `{name}={value}`" for name, value in first.settings.items())
    asked = {
        f"{entry.shown_name}: `{entry.command}`" + (f"; {entry.where}" if entry.where else "")
        for entry in entries
        if not entry.scripted
    }
    scripted = next((entry for entry in entries if entry.scripted), None)
    again = sorted(asked)
    if scripted is not None:
        line = scripted.command.replace(f"--policy {scripted.policy}", "--policy POLICY")
        again.insert(0, f"scripted policies: `{line}`")
    return "\n\n".join(
        (
            f"### {first.env_id}",
            f"Profile `{first.profile}`{told}; healthgym {first.healthgym}, {first.processor}.",
            markdown_table(*table(entries)),
            "\n".join(f"- {each}" for each in again),
        )
    )


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

"""The pages of the environments, written from the registry: the same registry, the same pages.

``ENVIRONMENTS.md`` is the index; the documentation site has a page for each environment, with its
docstring, its tools, an example of each kind of task, an episode, and what was measured.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from healthgym.core.borders import JsonDict
from healthgym.core.env import HealthEnv
from healthgym.core.family import ORACLE
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import KindIndex
from healthgym.core.tool import ToolSpec
from healthgym.policies.reports import markdown_table
from healthgym.policies.results import SCHEMA
from healthgym.policies.statistics import wilson_interval
from healthgym.presentation.render import counted
from healthgym.registration import Row, make_health_env
from healthgym.testing.cards import Card, markdown

_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?([^`]+)`")
_DOCTEST = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.MULTILINE)
_PREAMBLE = (
    "# Environments\n\nWritten by `healthgym envs --markdown` from the registry. "
    "`healthgym show ID` tells all about one, `healthgym card ID` measures it (who solves how "
    "much, how often reward tells rollouts apart, how fast it is and how long), and the "
    "documentation (`make docs`) has a page for each: the task in a clinician's words, tools, an "
    "example of every kind of task, a whole episode, and what was measured."
)
#: Tasks that are looked through for an example of each kind, and letters of one that are shown.
_LOOKED_THROUGH, _EXAMPLE = 120, 1200
#: Tasks that are drawn for it where a kind is not told without drawing.
_DRAWN = 12
#: Stream of a task's random numbers from which the oracle of an episode draws.
_STREAM = 7_004
#: Turns of an episode that are shown, and how many of them are its last.
_TURNS, _LAST = 30, 8
#: Letters of an observation that an episode shows.
_OBSERVATION = 1500


def index(table: Sequence[Row], page: Callable[[str], str] = lambda name: "") -> str:
    """Return the index.

    Args:
        table: The registry.
        page: Where the page of an environment is, by its slug; not linked where that is empty.
    """
    lines = []
    for entry, rows in _by_class(table):
        link = page(slug(entry))
        for row in rows:
            lines.append([f"[`{row.id}`]({link})" if link else f"`{row.id}`", row.title])
    return f"{_PREAMBLE}\n\n{markdown_table(['id', 'what it is'], lines)}\n"


def pages(table: Sequence[Row], results: Path | None) -> Iterator[tuple[str, str, str]]:
    """Yield the slug, the title and the text of each environment's page.

    Args:
        table: The registry; rows of one class are described together.
        results: Folder of published evaluations, as JSON; None for pages without scores.

    Raises:
        HealthGymError: If an environment cannot be made.
    """
    scores = list(_published(results)) if results else []
    proofs = _figures(results, "proofs") if results else {}
    cards = _figures(results, "cards") if results else {}
    for entry, rows in _by_class(table):
        parts = [*_environment(rows, scores), *_proofs(rows, proofs), *_cards(rows, cards)]
        yield slug(entry), name_of(entry), "\n\n".join(parts) + "\n"


def slug(entry: str) -> str:
    """Return the file name of an environment's page, without its ending."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name_of(entry)).lower()


def name_of(entry: str) -> str:
    """Return the name of an environment by its entry point."""
    return entry.rpartition(":")[2].removesuffix("Env")


def _by_class(table: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for entry in dict.fromkeys(row.entry_point for row in table):
        yield entry, [row for row in table if row.entry_point == entry]


def _environment(rows: Sequence[Row], scores: Sequence[JsonDict]) -> Iterator[str]:
    envs = [make_health_env(row.id) for row in rows]
    yield f"# {name_of(rows[0].entry_point)}"
    listed = [[f"`{row.id}`", row.title] for row in rows]
    manual = _as_markdown(inspect.getdoc(type(envs[0])) or "")
    first, _, rest = manual.partition("\n\n")
    yield from (first, markdown_table(["id", "what it is"], listed), rest)
    yield "## Tools in full"
    specs = {spec.name: spec for spec in _specs(envs)}
    yield markdown_table(
        ["tool", "kind", "effect"],
        [
            [f"`{spec.usage}`", str(spec.kind), spec.description.split("\n\n")[0]]
            for spec in specs.values()
        ],
    )
    yield from _kinds(envs[0])
    yield from _episode(envs[0])
    yield from _scores(rows, scores)


def _kinds(env: HealthEnv) -> Iterator[str]:
    """Yield an example of each kind of task, the first of each on the test split."""
    generator = env.family.generator
    split = next(each for each in (Split.TEST, Split.TRAIN) if generator.size(each))
    first: dict[str, int] = {}
    most = _LOOKED_THROUGH if isinstance(generator, KindIndex) else _DRAWN
    for number in range(min(most, generator.size(split))):
        kind = (
            generator.kind(split, number)
            if isinstance(generator, KindIndex)
            else generator.generate(split, number).task.kind
        )
        first.setdefault(kind, number)
    yield "## Kinds of tasks"
    yield f"{len(first)} among the first tasks of the {split} split; an example of each."
    for kind in sorted(first, key=_in_order):
        episode = env.open_episode(split, first[kind])
        task = episode.task
        title = f"{kind}: {task.metadata['title']}" if "title" in task.metadata else kind
        yield f"### {title}"
        yield _quoted(_cut(episode.instruction(), _EXAMPLE))


def _in_order(kind: str) -> tuple[str | int, ...]:
    """Return a key by which v1-t10 follows v1-t9."""
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", kind))


def _episode(env: HealthEnv) -> Iterator[str]:
    """Yield the oracle's episode on a task, turn by turn."""
    episode = env.open_episode(Split.TEST, 0)
    family, task = env.family, episode.task
    rng = task_rng(family.generator.name, Split.TEST, 0, _STREAM)
    player = family.player(ORACLE, family.generator.generate(Split.TEST, 0), rng, env.role)
    action = player.act()
    while action is not None and not episode.done():
        action = player.act(episode.step(action).observation)
    yield "## An episode"
    yield (
        f"The oracle's, who is told the answer, on `{task.task_id}` ({task.kind}). "
        f"`healthgym play {env.spec.id if env.spec else ''}` lets you try it yourself."
    )
    yield _quoted(_cut(episode.instruction(env.role), _OBSERVATION))
    left_out = range(_TURNS - _LAST, len(episode.turns) - _LAST)
    for number, turn in enumerate(episode.turns, 1):
        if number in left_out:
            if number == left_out.start:
                yield f"*{len(left_out)} turns left out*"
            continue
        who = f" ({turn.role})" if len(episode.roles) > 1 else ""
        shown = f"\n({counted(turn.images)})" if turn.images else ""
        yield f"**{number}.{who}**"
        yield _fenced(turn.action, "json")
        yield _fenced(_cut(turn.observation, _OBSERVATION) + shown)
    if episode.settled:
        verdict = episode.verdict(env.role)
        yield "Success." if verdict.success else "Not solved."
        yield markdown_table(
            ["check", "passed"],
            [[f"`{one.check.name}`", "yes" if one.passed else "no"] for one in verdict.checks],
        )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[... {len(text) - most} more characters]"


def _fenced(text: str, language: str = "text") -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(text: str) -> str:
    """Return a text as it is put to the agent."""
    return _fenced(text)


def _as_markdown(documentation: str) -> str:
    """Return a class docstring as Markdown: references as code, examples in a fence."""
    text = _ROLE.sub(r"`\1`", documentation).replace("``", "`")
    return _DOCTEST.sub(lambda match: f"```python\n{match[0]}\n```", text)


def _specs(envs: Sequence[HealthEnv]) -> Iterator[ToolSpec]:
    """Yield the tools of all roles, with repetitions."""
    for env in envs:
        for role in env.family.roles.values():
            yield from role.catalog.specs


def _published(folder: Path) -> Iterator[JsonDict]:
    """Yield the evaluations among the JSON files of a folder: alone, or in a list."""
    for path in sorted(folder.rglob("*.json")) if folder.is_dir() else ():
        value = json.loads(path.read_text(encoding="utf-8"))
        items = value.get("evaluations", [value]) if isinstance(value, dict) else value
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and item.get("schema") == SCHEMA:
                yield item


def _scores(rows: Sequence[Row], scores: Sequence[JsonDict]) -> Iterator[str]:
    for row in rows:
        found = [item for item in scores if item["env_id"] == row.id and item["rows"]]
        if not found:
            continue
        yield f"## Baselines of `{row.id}`"
        yield _caption(found)
        kinds = list(dict.fromkeys(line["label"] for item in found for line in item["rows"]))
        kinds = [kind for kind in kinds if kind != "all"] + ["all"]
        yield markdown_table(
            ["task type", *(item["policy"] for item in found)],
            [[kind, *(_score(item, kind) for item in found)] for kind in kinds],
        )


def _figures(folder: Path, name: str) -> dict[str, JsonDict]:
    """Return what a suite of `benchmarks/` published by environment; nothing if it did not."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return {}
    figures: dict[str, JsonDict] = json.loads(path.read_text(encoding="utf-8"))["figures"]
    return figures


def _proofs(rows: Sequence[Row], proofs: Mapping[str, JsonDict]) -> Iterator[str]:
    """Yield how often a verifier errs: on wrong work, on right work, and on constants."""
    for row in rows:
        counts = proofs.get(row.id)
        if counts is None:
            continue
        yield f"## Proofs of `{row.id}`"
        yield (
            "Errors of the `strict` profile: wrong work accepted, right work refused, and tasks "
            "solved by scripts that were made for others (the worst of each kind of task)."
        )
        lines = [
            [told, name.replace("_", " "), *_count(found, n)]
            for what, told in (("corruptions", "wrong work"), ("equivalents", "right work"))
            for name, (found, n) in counts[what].items()
        ]
        for kind, scripts in counts["constants"].items():
            found, n = max(scripts.values(), key=lambda count: count[0] / max(count[1], 1))
            lines.append(["constants", kind, *_count(found, n)])
        yield markdown_table(["what", "change or kind", "errors", "at most (95 %)"], lines)


def _cards(rows: Sequence[Row], cards: Mapping[str, JsonDict]) -> Iterator[str]:
    """Yield the cards that were published."""
    for row in rows:
        if row.id in cards:
            yield markdown(Card.model_validate(cards[row.id]))


def _count(found: int, n: int) -> tuple[str, str]:
    if not n:
        return "refused by the tools", ""
    return f"{found} of {n}", f"{wilson_interval(found, n).high:.1%}"


def _caption(found: Sequence[JsonDict]) -> str:
    first = found[0]
    other = next((f" / {name}" for name in first["rows"][-1]["other"]), "")
    sizes = sorted({item["rows"][-1]["episodes"] for item in found})
    return (
        f"Success under {first['profile']}{other}, on the {first['split']} split, "
        f"{' to '.join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))} episodes each."
    )


def _score(item: JsonDict, kind: str) -> str:
    for line in item["rows"]:
        if line["label"] == kind:
            rates = [line["success"]["estimate"], *line["other"].values()]
            return " / ".join(f"{rate:.1%}" for rate in rates)
    return ""

"""How the verifier of shortlists is put to the proof."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from healthgym.core.family import Script
from healthgym.core.proofs import Item, Operator, Proofs
from healthgym.core.tool import call
from healthgym.envs.trial_matching.task import EXCLUDED, NOT_RELEVANT, MatchingInstance


def _eligible(instance: MatchingInstance) -> list[str]:
    return [id_ for id_ in instance.start.corpus.ids if id_ in instance.reference.eligible]


def _written(lines: Sequence[str]) -> Script:
    return [call("write_shortlist", text="\n".join(lines)), call("submit")]


def _of_grade(grade: int, instance: MatchingInstance, rng: np.random.Generator) -> str | None:
    """Return a trial of a grade, if the pool has one."""
    found = [id_ for id_ in instance.start.corpus.ids if instance.reference.grades[id_] == grade]
    return found[int(rng.integers(len(found)))] if found else None


def _adding(grade: int) -> Operator:
    """Return what adds a trial of another grade than the eligible ones."""

    def add(instance: MatchingInstance, script: Script, rng: np.random.Generator) -> Script | None:
        other = _of_grade(grade, instance, rng)
        return None if other is None else _written([*_eligible(instance), other])

    return add


def _exchanging(
    instance: MatchingInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    other = _of_grade(EXCLUDED, instance, rng)
    return None if other is None else _written([*_eligible(instance)[1:], other])


def _leaving_out(
    instance: MatchingInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    ids = _eligible(instance)
    del ids[int(rng.integers(len(ids)))]
    return _written(ids)


def _lines(form: str, place: int | None = None) -> Operator:
    """Return what writes lines in a form.

    Args:
        form: A line, in which ``{id}``, ``{title}`` and ``{number}`` are replaced.
        place: The only line that has it, from 0; every line if None.
    """

    def write(instance: MatchingInstance, script: Script, rng: np.random.Generator) -> Script:
        ids = _eligible(instance)
        title = instance.start.corpus.document
        return _written(
            [
                form.format(id=id_, title=title(id_).title, number=number)
                if place in (None, number - 1)
                else id_
                for number, id_ in enumerate(ids, 1)
            ]
        )

    return write


def _whole(form: str) -> Operator:
    """Return what writes a text around the list, which replaces ``{list}`` in it."""

    def write(instance: MatchingInstance, script: Script, rng: np.random.Generator) -> Script:
        return _written(form.format(list="\n".join(_eligible(instance))).split("\n"))

    return write


#: Lines that do not put a trial on the list, though they name it.
_DENIED = (
    "{id} - ruled out by age",
    "{id} - eligible if he stops smoking",
    "{id} hardly fits",
    "{id} nicht geeignet",
    "{id} 0%",
    "{id}\tN",
    "{id} - meets 1 of 5 criteria",
    "{id} - meets the exclusion criteria",
    "- [ ] {id}",
    "❌ {id}",
    "<!-- {id} -->",
    "// {id}",
)
_TAKEN_BACK = (
    "Rejected:\n{list}",
    "Trials to avoid:\n{list}",
    "{list}\nIgnore the list above.",
    "Other patient:\n{list}",
    "<!--\n{list}\n-->",
)
#: Lines that put a trial on the list.
_FORMS = (
    "#{number} {id}",
    "- [x] {id}",
    "✓ {id}",
    "{title} ({id})",
    "https://clinicaltrials.gov/study/{id}",
    "[{title}](https://clinicaltrials.gov/study/{id})",
    "Trial {number}: {id}",
    "{id}\t0.93",
    "{id}: yes",
    "{id} - none of the exclusion criteria are met",
)


def _any_line(lines: Sequence[str]) -> Operator:
    """Return what writes one of the lines so, and the others bare."""

    def write(
        instance: MatchingInstance, script: Script, rng: np.random.Generator
    ) -> Script | None:
        place = int(rng.integers(len(_eligible(instance))))
        return _lines(str(rng.choice(lines)), place)(instance, script, rng)

    return write


def _any_lines(lines: Sequence[str]) -> Operator:
    """Return what writes every line so."""

    def write(
        instance: MatchingInstance, script: Script, rng: np.random.Generator
    ) -> Script | None:
        return _lines(str(rng.choice(lines)))(instance, script, rng)

    return write


def _any_text(texts: Sequence[str]) -> Operator:
    """Return what writes one of the texts around the list."""

    def write(
        instance: MatchingInstance, script: Script, rng: np.random.Generator
    ) -> Script | None:
        return _whole(str(rng.choice(texts)))(instance, script, rng)

    return write


def _titled_otherwise(
    instance: MatchingInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    """Give a trial the title of another one."""
    corpus, (first, *others) = instance.start.corpus, _eligible(instance)
    other = _of_grade(EXCLUDED, instance, rng) or _of_grade(NOT_RELEVANT, instance, rng)
    titles = [corpus.document(id_).title for id_ in (first, other) if id_ is not None]
    if len({title.casefold() for title in titles}) < 2:
        return None
    return _written([f"{first}: {titles[1]}", *others])


def _joined(instance: MatchingInstance, script: Script, rng: np.random.Generator) -> Script:
    """Write the list on one line, or as JSON."""
    ids = _eligible(instance)
    texts = (
        ", ".join(ids),
        "; ".join(ids),
        " ".join(ids),
        f"Final answer: {', '.join(ids)}",
        json.dumps(ids),
        json.dumps([{"nct_id": id_} for id_ in ids], indent=1),
    )
    return _written(str(rng.choice(texts)).split("\n"))


def _reversed(instance: MatchingInstance, script: Script, rng: np.random.Generator) -> Script:
    return _written(_eligible(instance)[::-1])


def _mended(instance: MatchingInstance, script: Script, rng: np.random.Generator) -> Script | None:
    """List one trial too many, and take it off again."""
    other = _of_grade(EXCLUDED, instance, rng) or _of_grade(NOT_RELEVANT, instance, rng)
    if other is None:
        return None
    text = "\n".join(f"- {id_}" for id_ in (*_eligible(instance), other))
    return [
        call("write_shortlist", text=text),
        call("remove_from_shortlist", nct_ids=[other]),
        call("submit"),
    ]


def _items(instance: MatchingInstance) -> Iterator[Item]:
    eligible = instance.reference.eligible
    for id_ in instance.start.corpus.ids:
        yield Item("eligible", id_ in eligible, said=id_, key=id_)


def _looks(instance: MatchingInstance) -> Script:
    pages = -(-len(instance.start.corpus.ids) // 25)
    return [call("list_trials", page=page) for page in range(1, pages + 1)]


PROOFS = Proofs(
    corruptions={
        "an_excluded_trial_added": _adding(EXCLUDED),
        "an_irrelevant_trial_added": _adding(NOT_RELEVANT),
        "an_eligible_trial_exchanged": _exchanging,
        "an_eligible_trial_left_out": _leaving_out,
        "a_line_denied": _lines("{id} - not eligible", 0),
        "a_line_denied_before": _lines("Not eligible: {id}", 0),
        "a_line_commented_out": _lines("# {id}", 0),
        "a_line_struck": _lines("~~{id}~~", 0),
        "a_heading_that_denies": _whole("The patient cannot enter these trials:\n{list}"),
        "an_unknown_trial": _whole("{list}\nNCT99999999"),
        "a_line_denied_in_other_words": _any_line(_DENIED),
        "a_text_that_takes_it_back": _any_text(_TAKEN_BACK),
        "the_title_of_another_trial": _titled_otherwise,
    },
    equivalents={
        "another_order": _reversed,
        "lower_case": lambda i, s, r: _written([id_.lower() for id_ in _eligible(i)]),
        "numbered": _lines("{number}. {id}"),
        "numbered_with_brackets": _lines("{number}) {id}"),
        "dashes": _lines("- {id}"),
        "bullets": _lines("  • {id}"),
        "with_titles": _lines("{id}: {title}"),
        "with_titles_in_brackets": _lines("{id} ({title})"),
        "with_a_reason": _lines("{id} - eligible, meets all criteria"),
        "as_a_table": _lines("| {number} | {id} | {title} |"),
        "in_bold": _lines("**{id}**"),
        "quoted": _lines('"{id}",'),
        "trailing_commas": _lines("{id},"),
        "in_any_form": _any_lines(_FORMS),
        "on_one_line": _joined,
        "a_heading": _whole("Eligible trials:\n\n{list}"),
        "a_comment": _whole("# Shortlist\n{list}"),
        "a_repeated_line": lambda i, s, r: _written([*_eligible(i), _eligible(i)[0]]),
        "mended": _mended,
    },
    items=_items,
    looks=_looks,
)

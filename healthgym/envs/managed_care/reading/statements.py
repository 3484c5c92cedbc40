"""What notes and reports state: findings and therapies taken from them, and who states what.

Sentences are matched against the phrases that clinicians write in, with every choice of words; the
names looked for are those that a policy asks about. No number is known beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache

from healthgym.envs.managed_care.reading.documents import ANY_DAY, DAY, Document, read_day
from healthgym.worlds.managed_care.charts.phrases import Choice, Phrase, Slot, phrasebook
from healthgym.worlds.managed_care.charts.prose import names_of
from healthgym.worlds.managed_care.charts.stated import dates_of, numbers_of
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    FindingCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.wording import wordings

#: Stands for a name in a text and in the expressions that look for it.
NAME = "\x00"

_PRESSURES = {"8480-6": ("bp", "b/p", "blood pressure"), "8462-4": ("bp", "b/p", "blood pressure")}
#: What may stand in a slot of which nothing is known beforehand.
_OPEN = {
    "start": rf"(?P<start>{DAY})",
    "end": rf"(?P<end>{DAY})",
    "day": rf"(?P<day>{DAY})",
    "onset": rf"(?P<onset>{DAY})",
    "sessions": r"(?P<sessions>\d+)",
    "unit": "(?:sessions|nights)",
    "value": r"(?P<value>[\w<>=/+ -]+?)",
    "why": r"[^;.\n]+?",
    "result": "",
    "code": r"\w+",
}


def facts_told(
    documents: Iterable[Document], asked: Iterable[AnyCriterion]
) -> tuple[Finding | TherapyCourse, ...]:
    """Return the findings and therapies that documents tell, of those that criteria ask for."""
    found: dict[Finding | TherapyCourse, None] = {}
    wanted = tuple(asked)
    for document in documents:
        for criterion in wanted:
            if isinstance(criterion, FindingCriterion):
                found.update(dict.fromkeys(_findings(document, criterion)))
            elif isinstance(criterion, TherapyCriterion):
                found.update(dict.fromkeys(_therapies(document, criterion)))
    return tuple(replace(fact, id=f"T-{number:03d}") for number, fact in enumerate(found, 1))


def classed(facts: Iterable[AnyFact], asked: Iterable[AnyCriterion]) -> tuple[AnyFact, ...]:
    """Return facts in which medicines have the class under which the policy names them."""
    classes: dict[str, str] = {}
    for criterion in asked:
        if isinstance(criterion, StepTherapyCriterion):
            names = (*criterion.drugs, *criterion.excluded)
            classes |= dict.fromkeys(names, criterion.drug_class)
    return tuple(
        replace(fact, drug_class=classes.get(fact.medication, ""))
        if isinstance(fact, MedicationCourse)
        else fact
        for fact in facts
    )


def _findings(document: Document, criterion: FindingCriterion) -> Iterator[Finding]:
    if not mentions(document, criterion.display):
        return
    text = f"\n{marked(document, criterion.display)}\n"
    known = {each.casefold(): each for each in (*criterion.scale, *_unscaled())}
    for key in ("finding.present", "finding.absent", "finding.graded"):
        for pattern in _finding_patterns(key):
            for match in pattern.finditer(text):
                words = match.groupdict()
                value = (words.get("value") or key.partition(".")[2]).strip().casefold()
                found = read_day(words["day"]) if words["day"] else document.day
                if value in known:
                    yield Finding(
                        id="",
                        key=criterion.key,
                        display=criterion.display,
                        value=known[value],
                        found=found,
                    )


@cache
def _unscaled() -> tuple[str, ...]:
    """Return the values of findings that stand on any scale, or on none."""
    return ("present", "absent", *dict.fromkeys(wordings()["unsettled"].values()))


@cache
def _finding_patterns(key: str) -> tuple[re.Pattern[str], ...]:
    """Return expressions for a finding as an entry of its own, with its day where one is given."""
    return tuple(
        re.compile(
            rf"(?:\n(?:- )?|[;:] ){text}(?: \((?P<day>{DAY})\))?(?=\.?\n|; |\.;)", re.IGNORECASE
        )
        for text in _texts(key, (("name", NAME),))
    )


def _therapies(document: Document, criterion: TherapyCriterion) -> Iterator[TherapyCourse]:
    if not mentions(document, criterion.display):
        return
    text = marked(document, criterion.display)
    for key in ("therapy.ended", "therapy.finished", "therapy.current", "therapy.told"):
        for pattern in patterns_of(key, (("name", NAME),)):
            for match in pattern.finditer(text):
                words = match.groupdict()
                yield TherapyCourse(
                    id="",
                    kind=criterion.therapy,
                    display=criterion.display,
                    sessions=int(words["sessions"]),
                    started=read_day(words["start"]),
                    ended=read_day(words["end"]) if words.get("end") else None,
                )


# -- who states what ---------------------------------------------------------------------------


def mentions(document: Document, what: str) -> bool:
    """Return whether a document names something; whatever else is said of it, its name stands.

    Asked first, because a file of twenty documents names a drug in two of them, and the wordings
    of what may be said of it are a hundred expressions.
    """
    return what.casefold() in _low(document.text)


def marked(document: Document, what: str) -> str:
    """Return a document's text with ``NAME`` wherever it names something.

    So one set of expressions does for every name; made for each, they took longer than reading.
    """
    text = document.text.replace(NAME, " ")
    return re.sub(re.escape(what), NAME, text, flags=re.IGNORECASE)


@lru_cache(maxsize=64)
def _low(text: str) -> str:
    return text.casefold()


def shown_by(document: Document, facts: Iterable[AnyFact]) -> frozenset[str]:
    """Return the ids of the facts that a document states in full."""
    return frozenset(fact.id for fact in facts if _states(document, fact))


def _states(document: Document, fact: AnyFact) -> bool:
    text = document.text
    match fact:
        case Measurement():
            return any(_measures(line, document.day, fact) for line in text.split("\n"))
        case MedicationCourse():
            return mentions(document, fact.medication) and _matches(
                text, _keys("medication", fact.ended), _of_course(fact)
            )
        case TherapyCourse():
            known = {"name": re.escape(fact.display), "sessions": str(fact.sessions)}
            keys = _keys("therapy", fact.ended)
            return mentions(document, fact.display) and _matches(
                text, keys, {**known, **_of_days(fact)}
            )
        case Finding():
            return any(
                found.value == fact.value and found.found == fact.found
                for found in _findings(document, _asking(fact))
            )
        case Diagnosis():
            return f"{fact.display} ({fact.code})".casefold() in text.casefold()
        case ProcedureDone():
            known = {"name": re.escape(fact.display), "day": _either(dates_of(fact.performed))}
            known |= {"code": re.escape(fact.code)}
            return mentions(document, fact.display) and _matches(
                text, ("procedure.done", "procedure.coded"), known
            )
        case Intolerance():
            return f"{fact.substance}: {fact.reaction}".casefold() in text.casefold()


def _measures(line: str, day: date, fact: Measurement) -> bool:
    """Return whether a line names a measurement and gives its value, of its day."""
    low = line.casefold()
    names = (*names_of(fact), *_PRESSURES.get(fact.code, ()))
    if not any(name.casefold() in low for name in names):
        return False
    if fact.taken != day and not any(each in line for each in dates_of(fact.taken)):
        return False
    bare = ANY_DAY.sub("", line)
    numbers = "|".join(map(re.escape, numbers_of(fact)))
    return re.search(rf"(?<![\d.])(?:{numbers})(?!\d|\.\d)", bare) is not None


def _keys(kind: str, ended: date | None) -> tuple[str, ...]:
    if ended is None:
        return (f"{kind}.current", f"{kind}.{'started' if kind == 'medication' else 'told'}")
    return (f"{kind}.ended", f"{kind}.{'stopped' if kind == 'medication' else 'finished'}")


def _of_course(fact: MedicationCourse) -> dict[str, str]:
    return {
        "drug": re.escape(fact.medication),
        "dose": re.escape(fact.dose),
        "frequency": re.escape(fact.frequency),
        **_of_days(fact),
    }


def _of_days(fact: MedicationCourse | TherapyCourse) -> dict[str, str]:
    days = {"start": _either(dates_of(fact.started))}
    if fact.ended is not None:
        days["end"] = _either(dates_of(fact.ended))
    return days


def _asking(fact: Finding) -> FindingCriterion:
    return FindingCriterion(
        id="", key=fact.key, display=fact.display, scale=(fact.value,), accepted=(fact.value,)
    )


def _either(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"


def _matches(text: str, keys: Iterable[str], known: Mapping[str, str]) -> bool:
    slots = tuple(sorted(known.items()))
    return any(pattern.search(text) for key in keys for pattern in patterns_of(key, slots))


# -- phrases as expressions --------------------------------------------------------------------


@lru_cache(maxsize=64)
def patterns_of(key: str, known: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], ...]:
    """Return expressions for every wording of a phrase.

    Args:
        key: The phrase's name.
        known: What stands in its slots, as expressions, by name; sorted.
    """
    return tuple(re.compile(text, re.IGNORECASE) for text in _texts(key, known))


def _texts(key: str, known: tuple[tuple[str, str], ...]) -> Iterator[str]:
    slots = {**_OPEN, **dict(known)}
    for wording in wordings_of(key):
        parts = [slots[p.name] if isinstance(p, Slot) else re.escape(p) for p in wording]
        yield "".join(parts)


@cache
def wordings_of(key: str) -> tuple[tuple[str | Slot, ...], ...]:
    """Return every wording of a key, its choices made; one that others begin with comes last."""
    found = {each for phrase in phrasebook().phrases[key] for each in _choices(phrase)}
    return tuple(sorted(found, key=lambda each: (-len(each), repr(each))))


def _choices(phrase: Phrase) -> Iterator[tuple[str | Slot, ...]]:
    if not phrase:
        yield ()
        return
    first, rest = phrase[0], phrase[1:]
    options: Iterable[Phrase] = first.options if isinstance(first, Choice) else ((first,),)
    for option in options:
        heads = _choices(option) if isinstance(first, Choice) else iter(((first,),))
        for head in heads:
            for tail in _choices(rest):
                yield (*head, *tail)

"""Published coverage questionnaires and summaries as a second source of policies.

A folder of FHIR Questionnaires, or of answers to one, says what is asked, and not which answers
lead to coverage, nor for which codes. ``data/sources.json`` adds that: which questions are to be
answered yes, which no, of which one yes is enough, and the thresholds of values. Where there is a
summary of the criteria in words only, the file says on which line a number stands, and the number
is read there (:mod:`.summaries`). These are rules of this world, made for tasks, and no guidance
on coverage. Questions and numbers themselves stay in the folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path

from healthgym.core.borders import Json, JsonObject
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.policies.checking import contradiction
from healthgym.worlds.managed_care.policies.criteria import (
    FindingCriterion,
    MeasurementCriterion,
)
from healthgym.worlds.managed_care.policies.policy import Policy, ProcedureCode, Texts
from healthgym.worlds.managed_care.policies.summaries import stated
from healthgym.worlds.managed_care.policies.tree import AllOf, AnyOf, Node
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    ItemOperator,
    PlaceOfService,
    ServiceTypeCategory,
)

#: How old an answer may be, in months; the questionnaires do not say.
_WINDOW = 12
#: A form, or the answers to one, which repeat its questions; the answers are left alone.
_FORMS = ("Questionnaire", "QuestionnaireResponse")
#: What a policy is reviewed by, and whether it comes of a summary.
_REVIEWED = {False: "a published questionnaire", True: "a published summary of its criteria"}


@cache
def _entries() -> tuple[JsonObject, ...]:
    return tuple(json.loads((files(__package__) / "data" / "sources.json").read_text("utf-8")))


def load_questionnaires(folder: Path) -> dict[str, Policy]:
    """Return the policies made of a data folder's questionnaires, by id.

    Args:
        folder: Holds ``coverage-determinations``, ``questionnaires`` and ``davinci-pas``.

    Raises:
        MissingDataError: If the folder or one of the files is not there.
        DamagedDataError: If a file is no questionnaire, or lacks a question or a number that is
            needed.
    """
    if not folder.is_dir():
        raise MissingDataError(
            f"There is no data folder {folder}; "
            "one with coverage-determinations, questionnaires and davinci-pas is needed."
        )
    return {entry["id"]: _policy(folder, entry) for entry in _entries()}


def _policy(folder: Path, entry: JsonObject) -> Policy:
    name: str = entry["file"]
    parts = stated(folder / name, name, entry) if "stated" in entry else _asked(folder, entry)
    policy = Policy(
        id=entry["id"],
        title=entry["title"],
        effective=date(2026, 1, 1),
        category=ServiceTypeCategory(entry["category"]),
        procedures=tuple(
            ProcedureCode(code=code, display=display)
            for code, display in entry["procedures"].items()
        ),
        diagnosis_prefixes=tuple(entry["diagnoses"]),
        sites=tuple(map(PlaceOfService, entry["sites"])),
        criteria=AllOf(id="G1", parts=tuple(parts)),
        texts=Texts(scope=f"{entry['title']}, reviewed by {_REVIEWED['stated' in entry]}."),
    )
    problem = contradiction(policy)
    if problem:
        raise DamagedDataError(f"{name}: {problem}")
    return policy


def _asked(folder: Path, entry: JsonObject) -> list[Node]:
    """Return criteria made of the questions of a form."""
    name: str = entry["file"]
    questions = dict(_questions(_document(folder / name, name).get("item", []), name))
    numbers = iter(range(1, 100))
    parts: list[Node] = []
    for answer in ("yes", "no"):
        for link in entry.get(answer, ()):
            parts.append(
                _answered(_found(questions, link, name), f"C{next(numbers)}", answer, name)
            )
    for value in entry.get("values", ()):
        question = _found(questions, value["link"], name)
        parts.append(_valued(question, f"C{next(numbers)}", value, name))
    if entry.get("any"):
        below = tuple(
            _answered(_found(questions, link, name), f"C{next(numbers)}", "yes", name)
            for link in entry["any"]
        )
        parts.append(AnyOf(id="G2", title="Indication", parts=below))
    return parts


def _document(path: Path, name: str) -> JsonObject:
    if not path.is_file():
        raise MissingDataError(f"{name} is not in the data folder.")
    try:
        raw: Json = json.loads(path.read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DamagedDataError(f"{name}{line}: not JSON.") from error
    if not isinstance(raw, dict) or raw.get("resourceType") not in _FORMS:
        raise DamagedDataError(f"{name}: a FHIR Questionnaire is expected.")
    return raw


def _questions(items: Json, name: str) -> Iterator[tuple[str, JsonObject]]:
    """Yield the items of a questionnaire by link id, those of groups too."""
    if not isinstance(items, list):
        raise DamagedDataError(f"{name}: item is to be a list.")
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("linkId"), str):
            raise DamagedDataError(f"{name}: an item has no linkId.")
        yield item["linkId"], item
        yield from _questions(item.get("item", []), name)


def _found(questions: Mapping[str, JsonObject], link: str, name: str) -> JsonObject:
    item = questions.get(link)
    if item is None or not isinstance(item.get("text"), str) or not item["text"].strip():
        raise DamagedDataError(f"{name}: the question {link} is missing or has no text.")
    return item


def _term(item: JsonObject) -> str:
    """Return a question as a term of a page: one line, quoted, without signs of tables."""
    text = re.sub(r"\s+", " ", item["text"].replace("|", "/")).strip()
    return f"“{text}”"


def _key(name: str, link: str) -> str:
    return f"form.{Path(name).stem.lower()}.{link.lower()}"


def _answered(item: JsonObject, number: str, answer: str, name: str) -> FindingCriterion:
    other = "no" if answer == "yes" else "yes"
    return FindingCriterion(
        id=number,
        display=_term(item),
        key=_key(name, item["linkId"]),
        scale=(other, answer),
        accepted=(answer,),
        months=_WINDOW,
    )


def _valued(item: JsonObject, number: str, value: JsonObject, name: str) -> MeasurementCriterion:
    codes = [code["code"] for code in item.get("code") or () if "loinc" in code.get("system", "")]
    # Where the question has no code, its link id may be one.
    link: str = item["linkId"]
    own = link if re.fullmatch(r"\d+-\d", link) else _key(name, link)
    return MeasurementCriterion(
        id=number,
        display=_term(item),
        code=value.get("code") or (codes[0] if codes else own),
        operator=ItemOperator(value["operator"]),
        threshold=float(value["threshold"]),
        unit=value["unit"],
        months=value["months"],
        documented_in=(DocumentKind.PROGRESS_NOTE,),
    )

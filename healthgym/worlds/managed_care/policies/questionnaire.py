"""The questionnaire of a policy: one question for each item a reviewer observes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from healthgym.core.borders import Json, JsonDict
from healthgym.worlds.managed_care.policies.evidence import evidence_items
from healthgym.worlds.managed_care.policies.tree import Node, criteria
from healthgym.worlds.managed_care.policies.units import printed_units
from healthgym.worlds.managed_care.policies.wording import question_text
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    ItemMode,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.policies.evaluation import Assessment


#: Names of items that are looked up in a list, or counted.
_LISTED = frozenset({"record", "agents", "sessions", "days"})
#: Those of which nothing counts where all that is there is too old, or is none.
_LOOKED_UP = frozenset({"record"})


class AnswerType(StrEnum):
    """What an answer looks like."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a form.

    Attributes:
        key: Key of the answer, such as ``c3_value``.
        text: The question.
        answer: What an answer looks like.
        unit: Unit of a number as pages print it; empty for none.
        item_id: The evidence item it asks for.
    """

    key: str
    text: str
    answer: AnswerType
    unit: str
    item_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A questionnaire.

    Attributes:
        id: Such as ``Q-MP-SUR-014``.
        title: Its title.
        questions: The questions in order.
    """

    id: str
    title: str
    questions: tuple[Question, ...]

    def definition(self) -> JsonDict:
        """Return the form as records keep it."""
        questions = [
            {
                "key": question.key,
                "label": question.text,
                "type": question.answer.value,
                "unit": question.unit,
                "required": True,
            }
            for question in self.questions
        ]
        section = {"title": "Clinical criteria", "questions": questions}
        return {"form_id": self.id, "title": self.title, "sections": [section]}


_ANSWERS = {
    ItemMode.SCALAR: AnswerType.NUMBER,
    ItemMode.BOOLEAN: AnswerType.BOOLEAN,
    ItemMode.PRESENCE: AnswerType.BOOLEAN,
}


def answer_key(item_id: str) -> str:
    """Return the key under which a form asks for an item."""
    return item_id.lower().replace(".", "_")


def form_id(policy_id: str) -> str:
    """Return the id of a policy's questionnaire."""
    return f"Q-{policy_id}"


def form_for(policy_id: str, title: str, tree: Node) -> Form:
    """Return the questionnaire of a criteria tree."""
    units = printed_units()
    questions = []
    for criterion in criteria(tree):
        for item in evidence_items(criterion):
            unit = item.threshold_unit or ""
            questions.append(
                Question(
                    key=answer_key(item.item_id),
                    text=question_text(policy_id, criterion, item),
                    answer=_ANSWERS.get(ItemMode(item.comparison_mode), AnswerType.TEXT),
                    unit=units.get(unit, unit),
                    item_id=item.item_id,
                )
            )
    return Form(id=form_id(policy_id), title=f"Questionnaire: {title}", questions=tuple(questions))


def question_keys(tree: Node) -> Iterator[str]:
    """Yield the keys of what the questionnaire of a criteria tree asks, in its order."""
    for criterion in criteria(tree):
        for item in evidence_items(criterion):
            yield answer_key(item.item_id)


def answers_from(assessments: Mapping[str, Assessment]) -> dict[str, str]:
    """Return the answers that facts give, by key; items that stay open have none.

    Where silence satisfies a criterion, nothing on record is the answer no.
    """
    answers = {}
    for assessment in assessments.values():
        for item in assessment.items:
            silent = item.observed_value is None
            if silent and assessment.result is not CriterionResult.MET:
                continue
            value: Json = False if silent else item.observed_value
            answers[answer_key(item.item_id)] = answer_text(value)
    return answers


def silent_keys(assessments: Mapping[str, Assessment]) -> frozenset[str]:
    """Return the keys of what is listed or counted where nothing is on record that counts.

    Whether a list without an entry says no, or leaves it undocumented, is a matter of words.
    """
    return frozenset(
        answer_key(item.item_id)
        for assessment in assessments.values()
        for item in assessment.items
        if item.observed_value is None
        and item.item_id.rpartition(".")[2] in (_LOOKED_UP if assessment.facts else _LISTED)
    )


def answer_text(value: Json) -> str:
    """Return a value as a form takes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}"
    return str(value)

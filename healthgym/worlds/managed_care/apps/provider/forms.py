"""The forms of a case: the request form, and the questionnaires of the policy it falls under.

Forms are derived from the case's rule card and never kept; what is kept are answers. The expected
answers stay with the card: a form shows questions only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.apps.provider.office import Limit, View, require_text
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What is answered where the chart does not say.
UNKNOWN = "not documented"
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a form.

    Attributes:
        key: Its key in the answers.
        text: What is asked.
        section: The part of the form it stands in.
        type: What an answer looks like: ``number``, ``boolean`` or ``text``.
        unit: Unit of a number; empty for none.
        required: Whether the form is incomplete without it.
    """

    key: str
    text: str
    section: str
    type: str = "text"
    unit: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form of a case, with what was answered so far.

    Attributes:
        form_id: Its id.
        title: Its title.
        questions: The questions, in order.
        answers: What was answered, by key.
    """

    form_id: str
    title: str
    questions: tuple[Question, ...]
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> frozenset[str]:
        """The keys it asks for."""
        return frozenset(question.key for question in self.questions)

    @property
    def required(self) -> tuple[str, ...]:
        """The keys it needs, in order."""
        return tuple(question.key for question in self.questions if question.required)

    def missing(self, besides: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Return the keys it needs and nobody answered.

        Args:
            besides: Answers that count besides the saved ones.
        """
        given = {**self.answers, **(besides or {})}
        return tuple(key for key in self.required if not given.get(key, "").strip())

    def status(self) -> View:
        """Return whether it is complete, in one row."""
        missing = self.missing()
        return {
            "form_id": self.form_id,
            "complete": not missing,
            "required_fields": self.required,
            "missing_required_fields": missing,
        }

    def shown(self) -> View:
        """Return the whole form: questions, answers, and what is missing."""
        return {
            **self.status(),
            "title": self.title,
            "sections": tuple(self._sections()),
            "answers": self.answers,
        }

    def _sections(self) -> Iterator[View]:
        for title in dict.fromkeys(question.section for question in self.questions):
            asked = [
                {"key": q.key, "question": q.text, "type": q.type, "unit": q.unit}
                for q in self.questions
                if q.section == title
            ]
            yield {"title": title, "questions": tuple(asked)}


def of_case(world: ManagedCareWorld, case_id: str) -> tuple[Form, ...]:
    """Return the forms of a case: the request form first, then the policy's.

    Args:
        world: The world.
        case_id: The case.
    """
    saved: dict[str, Mapping[str, str]] = {}
    for response in world.documents.responses.values():
        if response.case_id == case_id:  # the newest is the last: ids only rise
            saved[response.questionnaire_id] = response.answers
    blank = (_request_form(case_id), *_policy_forms(case_id, world.cases.policy(case_id)))
    return tuple(
        Form(
            form_id=form.form_id,
            title=form.title,
            questions=form.questions,
            answers=saved.get(form.form_id, form.answers),
        )
        for form in blank
    )


def all_answers(forms: Sequence[Form]) -> dict[str, str]:
    """Return what was answered on any form, by key."""
    return {key: answer for form in forms for key, answer in form.answers.items()}


def all_missing(forms: Sequence[Form], besides: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the keys that the forms need and nobody answered, each once."""
    return tuple(dict.fromkeys(key for form in forms for key in form.missing(besides)))


def targeted(
    all_forms: Sequence[Form], answers: Mapping[str, str], form_id: str | None
) -> tuple[Form, ...]:
    """Return the forms that answers go to: the one named, else those that ask for a key, else all.

    Raises:
        Refusal: If there is no form of that id.
    """
    if form_id is None:
        asked = tuple(form for form in all_forms if form.keys & answers.keys())
        return asked or tuple(all_forms)
    for form in all_forms:
        if form.form_id == form_id:
            return (form,)
    there = ", ".join(form.form_id for form in all_forms)
    raise Refusal(RefusalCode.NOT_FOUND, f"There is no form {form_id[:60]!r}; forms: {there}.")


def validation(chosen: Sequence[Form]) -> View:
    """Return what forms lack together."""
    missing = all_missing(chosen)
    return {"complete": not missing, "missing_required_fields": missing}


def own_answers(form: Form, answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answers that a form asks for."""
    return {key: answer for key, answer in answers.items() if key in form.keys}


def require_sound(targets: Sequence[Form], answers: Mapping[str, str]) -> None:
    """Refuse, in a strict world, answers that say nothing or answer nothing.

    Args:
        targets: The forms that are answered.
        answers: The answers, by key.

    Raises:
        Refusal: If there are none, a key is asked for by none of the forms, an answer is blank,
            too long or of the wrong type, or all of them are saved already.
    """
    if not answers:
        raise Refusal(RefusalCode.MISSING_TEXT, "There are no answers; give them by key.")
    questions = {q.key: q for form in targets for q in form.questions}
    for key, answer in answers.items():
        if key not in questions:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"No form asks for {key[:60]!r}; forms.list_required_forms names the keys.",
            )
        require_text(answer, f"The answer to {key}", Limit.ANSWER)
        _require_type(questions[key], answer.strip())
    saved = all_answers(targets)
    if all(saved.get(key) == answer for key, answer in answers.items()):
        raise Refusal(
            RefusalCode.DUPLICATE, "These answers are saved already; nothing is to be changed."
        )


def _require_type(question: Question, answer: str) -> None:
    if answer.casefold() == UNKNOWN:
        return
    if question.type == "number" and not _NUMBER.fullmatch(answer):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{question.key} wants a number{f' in {question.unit}' if question.unit else ''}, "
            f"without its unit, or '{UNKNOWN}'; not {answer[:40]!r}.",
        )
    if question.type == "boolean" and answer.casefold() not in ("yes", "no"):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{question.key} wants 'yes', 'no' or '{UNKNOWN}'; not {answer[:40]!r}.",
        )


def _request_form(case_id: str) -> Form:
    title, questions = _request_questions()
    return Form(form_id=f"FORM-REQUEST-{case_id}", title=title, questions=questions)


def _policy_forms(case_id: str, card: CasePolicy | None) -> Iterator[Form]:
    if card is None:
        return
    title, section = _policy_titles()
    asked: set[str] = set()
    for number, definition in enumerate(card.form_definitions, 1):
        questions = tuple(_defined(definition, section))
        asked |= {question.key for question in questions}
        yield Form(
            form_id=f"FORM-POLICY-{case_id}-QUESTIONNAIRE-{number:02d}",
            title=str(definition.get("title") or title),
            questions=questions,
        )
    request = {question.key for question in _request_questions()[1]}
    keys = dict.fromkeys((*card.required_form_fields, *card.required_questionnaire_answers))
    rest = [key for key in keys if key not in asked | request]
    if rest:
        yield Form(
            form_id=f"FORM-POLICY-{case_id}",
            title=title,
            questions=tuple(
                Question(key=key, text=key.replace("_", " "), section=section) for key in rest
            ),
        )


def _defined(definition: JsonObject, title: str) -> Iterator[Question]:
    """Return the questions that a policy defines, section by section."""
    for section in definition.get("sections", ()):
        for row in section.get("questions", ()):
            yield Question(
                key=str(row["key"]),
                text=str(row.get("label") or row["key"]),
                section=str(section.get("title") or title),
                type=str(row.get("type") or "text"),
                unit=str(row.get("unit") or ""),
                required=bool(row.get("required", True)),
            )


@cache
def _request_questions() -> tuple[str, tuple[Question, ...]]:
    form = _data()
    return form["title"], tuple(
        Question(key=key, text=text, section=section["title"])
        for section in form["sections"]
        for key, text in section["questions"]
    )


def _policy_titles() -> tuple[str, str]:
    return _data()["policy_title"], _data()["policy_section"]


@cache
def _data() -> JsonObject:
    path = files("healthgym.worlds.managed_care") / "data" / "request_form.json"
    read: JsonObject = json.loads(path.read_text("utf-8"))
    return read

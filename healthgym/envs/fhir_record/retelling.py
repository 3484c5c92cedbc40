"""A chart told anew: other names, ids, dates and values, each of the form of what it stands for.

A model that has seen the same fourteen patients a thousand times knows their record numbers by
heart, and copies none. Told anew for each question, a few charts are as many as one likes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np

from healthgym.core.borders import Json, JsonDict
from healthgym.core.shapes import one_of, reshaped
from healthgym.envs.fhir_record.view import concept_text

#: A date, or a date and time, as FHIR writes them.
_DATED = re.compile(r"\d{4}-\d\d-\d\d(?:T.*)?")
#: Elements of a Patient that are kept as they are.
_KEPT = ("gender", "active")
#: Elements whose times have seconds in a folder, and none in a made chart.
_TIMED = ("effectiveDateTime", "occurrenceDateTime", "authoredOn")
#: Factors between which a measured value is moved.
_MOVED = (0.7, 1.3)
#: More decimals than this are a computed value's, and are drawn anew to the last.
_WRITTEN_DECIMALS = 2

#: Share of medications that are told under made-up names, and of orders without a dosage.
_RENAMED, _BARE = 0.6, 0.7
#: Share of made-up names that can be spoken.
_SPOKEN = 0.4
#: Letters of the others, the common ones more often.
_LETTERS = "eeeeaaaarrrriiioootttnnnsssllccuuddppmmhhggbbffyywwkkvvxzjq"
_OPEN, _CLOSED = "bdfghjklmnprstvwz", ("n", "r", "s", "l", "tt", "ck", "m", "nd", "st", "")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ei", "ou", "ie", "ö", "é", "ü")


@dataclass(frozen=True)
class Form:
    """What ids and values of a folder look like, as far as its training patients show it.

    Attributes:
        ids: Ids of patients, whose form new ones take.
        apart: Whether record numbers are others than ids.
        decimals: Decimals of measured values, one for each seen.
        most: Most results of one test that a patient has.
        products: Names of medications as the folder writes them.
    """

    ids: tuple[str, ...]
    apart: bool
    decimals: tuple[int, ...] = ()
    most: int = 3
    products: tuple[str, ...] = ()


def invented_name(rng: np.random.Generator) -> str:
    """Return a name that is nobody's in particular: syllables, or any letters in any order.

    Names that can be spoken have few parts, which a reader comes to expect. Real ones have others,
    so every sequence of letters has to have been met.
    """
    if rng.random() < _SPOKEN:
        syllables = (
            one_of(rng, _OPEN) + one_of(rng, _VOWELS) + one_of(rng, _CLOSED)
            for _ in range(int(rng.choice((1, 2, 2, 3, 3, 4))))
        )
        return "".join(syllables).capitalize()
    return "".join(one_of(rng, _LETTERS) for _ in range(int(rng.integers(3, 11)))).capitalize()


class Retelling:
    """What becomes of each name, id, date and value of a chart; the same wherever it occurs.

    Args:
        rng: Of what is drawn.
        form: What ids look like.
        shift: By how much time everything is moved, whole days.
        codes: Other codes by code.
        products: Whether most medications are told under names that nobody has, written as the
            folder writes them.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        form: Form,
        *,
        shift: timedelta = timedelta(0),
        codes: Mapping[str, str] | None = None,
        products: bool = False,
    ) -> None:
        self._rng, self._form, self._shift = rng, form, shift
        self._codes = dict(codes or {})
        self._ids: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._rows: dict[str, str] = {}
        self._drawn_ids: set[str] = set()
        self._products: dict[str, str] | None = {} if products and form.products else None

    def id(self, old: str) -> str:
        """Return the new id of a patient."""
        if old not in self._ids:
            self._ids[old] = self._drawn()
        return self._ids[old]

    def number(self, old: str) -> str:
        """Return the new record number for an old one."""
        if not self._form.apart and old in self._ids:
            return self._ids[old]
        if old not in self._numbers:
            self._numbers[old] = self._drawn()
        return self._numbers[old]

    def name(self, old: str) -> str:
        """Return the new name for an old one, case aside."""
        key = old.casefold()
        if key not in self._names:
            taken = set(self._names.values())
            fresh = invented_name(self._rng)
            while fresh in taken:
                fresh = invented_name(self._rng)
            self._names[key] = fresh
        return self._names[key]

    def product(self, old: str) -> str:
        """Return the new name for a medication: an invented one in the folder's form, or its own.

        Names of a few are learned by heart, and a new one is not found in a list.
        """
        if self._products is None:
            return old
        if old not in self._products:
            like = one_of(self._rng, self._form.products)
            first, mark, rest = like.partition(" ")
            made = f"{invented_name(self._rng)}{mark}{_renumbered(self._rng, rest)}"
            self._products[old] = made if first and self._rng.random() < _RENAMED else old
        return self._products[old]

    def row(self, old: str) -> str:
        """Return the new id of a resource that is no patient."""
        if old not in self._rows:
            self._rows[old] = self._drawn()
        return self._rows[old]

    def moment(self, old: datetime) -> datetime:
        """Return the new time for an old one."""
        return old + self._shift

    def text(self, old: str) -> str:
        """Return a date or time as it is written, moved; anything else as it is."""
        if not _DATED.fullmatch(old):
            return old
        day = date.fromisoformat(old[:10]) + self._shift
        return f"{day.isoformat()}{old[10:]}"

    def seconds(self, old: str) -> str:
        """Return a written time with seconds, where it has none but 00."""
        return re.sub(r":00(?=Z$|[+-]\d\d:\d\d$)", f":{int(self._rng.integers(60)):02}", old)

    def value(self, old: float, *, moved: bool) -> float:
        """Return a measured value of the folder's form.

        Args:
            old: What was measured.
            moved: Whether it becomes another value; else only its further decimals are drawn.
        """
        written = repr(old).partition(".")[2]
        decimals = len(written) if written != "0" else 0
        factor = float(self._rng.uniform(*_MOVED)) if moved else 1.0
        if not moved and self._form.decimals:
            decimals = int(self._rng.choice(self._form.decimals))
            factor += float(self._rng.uniform(0, 0.002)) if decimals > _WRITTEN_DECIMALS else 0
        return round(old * factor, decimals) if decimals else round(old * factor)

    def patient(self, old: JsonDict) -> JsonDict:
        """Return a Patient with the elements that questions ask about, and nothing of who it was.

        Of several numbers the record number is kept: one of a state or a passport has no place in a
        question.
        """
        told: JsonDict = {"resourceType": "Patient", "id": self.id(str(old["id"]))}
        numbers = _identifiers(old)
        record = [one for one in numbers if _is_record_number(one)] or numbers[:1]
        told["identifier"] = [{**one, "value": self.number(str(one["value"]))} for one in record]
        told["name"] = [
            {
                "family": self.name(str(one.get("family", ""))),
                "given": [self.name(str(part)) for part in one.get("given") or []],
            }
            for one in old.get("name") or []
            if isinstance(one, dict)
        ]
        told |= {name: old[name] for name in _KEPT if name in old}
        if isinstance(old.get("birthDate"), str):
            told["birthDate"] = self.text(old["birthDate"])
        return told

    def resource(self, old: JsonDict, *, moved: bool) -> JsonDict:
        """Return any other resource about a patient; see :meth:`value` for ``moved``."""
        kept = {key: item for key, item in old.items() if key not in ("text", "extension")}
        told = self._walked(kept)
        told["id"] = self.row(str(old["id"]))
        drug = told.get("medicationCodeableConcept")
        if isinstance(drug, dict) and self._products is not None:
            told["medicationCodeableConcept"] = {"text": self.product(concept_text(drug))}
            if self._rng.random() < _BARE:
                told.pop("dosageInstruction", None)
        quantity = told.get("valueQuantity")
        if isinstance(quantity, dict) and isinstance(quantity.get("value"), int | float):
            quantity["value"] = self.value(float(quantity["value"]), moved=moved)
        for name in _TIMED if not moved else ():
            when = told.get(name)
            if isinstance(when, str):
                told[name] = self.seconds(when)
        return told

    def _walked(self, value: JsonDict) -> JsonDict:
        return {key: self._told(key, item) for key, item in value.items()}

    def _told(self, key: str, value: Json) -> Json:
        if isinstance(value, dict):
            return self._walked(value)
        if isinstance(value, list):
            return [self._told(key, item) for item in value]
        if not isinstance(value, str):
            return value
        if key == "reference":
            head, mark, tail = value.rpartition("/" if "/" in value else ":")
            return f"{head}{mark}{self._ids[tail] if tail in self._ids else self.row(tail)}"
        if key == "code":
            return self._codes.get(value, value)
        return self.text(value)

    def _drawn(self) -> str:
        """Return an id that nobody has yet; longer than the folder's where those run out."""
        ids = self._form.ids
        fresh = reshaped(self._rng, one_of(self._rng, ids))
        while fresh in self._drawn_ids:
            fresh = f"{fresh}{self._rng.integers(10)}"
        self._drawn_ids.add(fresh)
        return fresh


def _renumbered(rng: np.random.Generator, text: str) -> str:
    """Return a text with other numbers, each of as many digits and without a leading zero."""
    return re.sub(r"(?<![.\d])[1-9]\d*", lambda found: _number_like(rng, found[0]), text)


def _number_like(rng: np.random.Generator, old: str) -> str:
    return str(int(rng.integers(10 ** (len(old) - 1), 10 ** len(old))))


def _identifiers(patient: JsonDict) -> list[JsonDict]:
    found = patient.get("identifier") or []
    return [one for one in found if isinstance(one, dict) and one.get("value")]


def _is_record_number(identifier: JsonDict) -> bool:
    kind = identifier.get("type")
    codings = kind.get("coding") or [] if isinstance(kind, dict) else []
    return any(isinstance(one, dict) and one.get("code") == "MR" for one in codings)


def immunized(resource: JsonDict) -> JsonDict:
    """Return a vaccination that is charted as a procedure as the Immunization it is."""
    if resource["resourceType"] != "Procedure":
        return resource
    return {
        "resourceType": "Immunization",
        "id": resource["id"],
        "status": "completed",
        "vaccineCode": resource["code"],
        "patient": resource["subject"],
        "occurrenceDateTime": resource["performedDateTime"],
    }


def drawn_shift(rng: np.random.Generator, now: datetime, years: tuple[int, int]) -> timedelta:
    """Return whole days by which a question asked at ``now`` falls within some years."""
    first = datetime(years[0], 1, 1, tzinfo=UTC)
    days = (datetime(years[1], 12, 31, tzinfo=UTC) - first).days
    return timedelta(days=(first - now).days + int(rng.integers(days)))


def form_of(patients: Iterable[JsonDict], values: Iterable[float]) -> Form:
    """Return what ids and values look like.

    Args:
        patients: Patients as resources.
        values: Measured values.
    """
    ids, apart = [], []
    for patient in patients:
        ids.append(str(patient["id"]))
        numbers = _identifiers(patient)
        record = [one for one in numbers if _is_record_number(one)]
        apart.append(any(one.get("value") != patient["id"] for one in record or numbers))
    written = (repr(value).partition(".")[2] for value in values)
    decimals = tuple(0 if text == "0" else len(text) for text in written)
    return Form(tuple(ids), sum(apart) * 2 > len(apart), decimals)

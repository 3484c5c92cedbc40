"""Charts to train on in place of a folder's few: made ones in its style, and its own told anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

import numpy as np

from healthgym.core.borders import JsonDict
from healthgym.core.seeding import Split
from healthgym.core.shapes import one_of
from healthgym.envs.fhir_record.asked import VACCINE, drugs_of
from healthgym.envs.fhir_record.draft import PRESETS
from healthgym.envs.fhir_record.generator import SyntheticCharts
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.people import CLINICAL, Person
from healthgym.envs.fhir_record.retelling import (
    Form,
    Retelling,
    drawn_shift,
    form_of,
    immunized,
)
from healthgym.envs.fhir_record.sources import BundleSource
from healthgym.envs.fhir_record.task import Facts
from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.documents import DocumentBase

#: Years in which questions on charts told anew are asked.
_YEARS = (1960, 2029)
#: Rows of a page that a made chart fills at most.
_PAGE = 9
#: Share of made charts whose tests have codes that no folder has: a code is to be read.
_OTHER_CODES = 0.5


class Retold(StrEnum):
    """What stands in for the charts of a folder."""

    STYLED = "styled"  #: made charts in the folder's ids, codes, times, decimals and density
    PSEUDONYMOUS = "pseudonymous"  #: its own charts with other names, ids, dates and values


class StyledCharts:
    """Charts made for the question, in the style of a folder.

    Of the folder only form is taken, and only from its training patients: what ids look like, how
    many decimals and results there are, and under which codes.

    Args:
        like: The folder.
    """

    def __init__(self, like: BundleSource) -> None:
        self._like = like
        self._form = _form(like)
        self._charts = SyntheticCharts(
            replace(
                PRESETS["easy"],
                history=(0, min(self._form.most, _PAGE)),
                events=(0, _PAGE),
                others=3,
            )
        )

    def branches(self, kind: TaskKind, split: Split) -> Sequence[Branch]:
        """Return all branches of the types that the folder can be asked."""
        return self._charts.branches(kind, split) if self._like.branches(kind) else ()

    def draw(
        self, kind: TaskKind, branch: str, split: Split, rng: np.random.Generator
    ) -> tuple[Facts, Base]:
        """Plant the branch, and tell the chart as the folder would."""
        facts, base = self._charts.draw(kind, branch, split, rng)
        held = self._like.codes(kind)
        codes = {facts.codes[name]: self._code(own, rng) for name, own in held.items()}
        shift = drawn_shift(rng, facts.now, _YEARS)
        retelling = Retelling(rng, self._form, shift=shift, codes=codes, products=True)
        resources = [
            base.resource(each, row)
            for each in base.resource_types()
            for row in range(base.size(each))
        ]
        if kind.name == VACCINE:
            resources = list(map(immunized, resources))
        told = _told(retelling, facts, resources, moved=False)
        asked = {name: codes[facts.codes[name]] for name in held}
        return replace(told[0], codes={**facts.codes, **asked}), told[1]

    @staticmethod
    def _code(own: str, rng: np.random.Generator) -> str:
        """Return the folder's code or one of its codes, or one that no folder has."""
        if rng.random() < _OTHER_CODES:
            return f"{rng.integers(1_000, 99_999)}-{rng.integers(10)}"
        return one_of(rng, own.split(","))


class PseudonymousCharts:
    """A folder's own charts, told anew for each question: nobody's name, id, date or value is left.

    The people of a split stay that split's, so what is held out is told to nobody. A chart holds
    what its patient's real one held until the question; of the others there is who they are.

    Args:
        source: The folder.
    """

    def __init__(self, source: BundleSource) -> None:
        self._source = source
        self._form = _form(source)
        self._by_id = {person.id: person for split in Split for person in source.people(split)}

    def branches(self, kind: TaskKind, split: Split) -> Sequence[Branch]:
        """Return the branches that the folder has for the type in a split."""
        return self._source.branches(kind, split)

    def draw(
        self, kind: TaskKind, branch: str, split: Split, rng: np.random.Generator
    ) -> tuple[Facts, Base]:
        """Draw a question about a real chart, and tell both anew."""
        facts, _ = self._source.draw(kind, branch, split, rng)
        shift = drawn_shift(rng, facts.now, _YEARS)
        retelling = Retelling(rng, self._form, shift=shift)
        resources = [person.resource for person in self._source.people(split)]
        if facts.patient:
            resources += _chart_of(self._by_id[facts.patient], facts.now)
        return _told(retelling, facts, resources, moved=True)


def _chart_of(person: Person, now: datetime) -> Iterator[JsonDict]:
    """Yield a patient's own rows up to a moment, oldest first."""
    later = {(row.resource_type, row.resource_id) for row in person.rows if row.when > now}
    chart = person.chart
    for kind in chart.resource_types():
        if kind == "Patient" or kind not in CLINICAL:
            continue
        for row in range(chart.size(kind)):
            if (kind, chart.id_of(kind, row)) not in later:
                yield chart.resource(kind, row)


def _told(
    retelling: Retelling, facts: Facts, resources: Sequence[JsonDict], *, moved: bool
) -> tuple[Facts, DocumentBase]:
    """Return facts and chart told anew; people first, so that what is about them finds them."""
    patients = [retelling.patient(one) for one in resources if one["resourceType"] == "Patient"]
    others = [
        retelling.resource(one, moved=moved)
        for one in resources
        if one["resourceType"] != "Patient"
    ]
    told_as = {"family": retelling.name, "given": retelling.name, "drug": retelling.product}
    details = {
        name: told_as.get(name, retelling.text)(word) for name, word in facts.details.items()
    }
    told = replace(
        facts,
        now=retelling.moment(facts.now),
        patient=retelling.id(facts.patient) if facts.patient else "",
        details=details,
    )
    return told, DocumentBase([*patients, *others])


def _form(source: BundleSource) -> Form:
    """Return the style of a folder, by its training patients."""
    people = source.people(Split.TRAIN)
    readings: list[list[float]] = [
        person.measured(code) for person in people for code in source.bound().values()
    ]
    found = form_of((person.resource for person in people), [x for each in readings for x in each])
    most = max((len(each) for each in readings), default=3)
    return replace(found, most=most, products=tuple(drugs_of(people)))

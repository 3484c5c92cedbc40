"""A trial's registry record, and its ClinicalTrials.gov XML in both directions."""

from __future__ import annotations

import re
import textwrap
import xml.etree.ElementTree as ET
from dataclasses import dataclass

_DECLARED = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
_AGE = re.compile(r"(\d+) (year|month|week|day)s?", re.IGNORECASE)
_UNITS = {"year": 1.0, "month": 1 / 12, "week": 7 / 365.25, "day": 1 / 365.25}
_WRAPPER = textwrap.TextWrapper(
    92, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
)


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """What the registry says of a trial; texts are plain, with single line breaks.

    Attributes:
        nct_id: Registry number.
        title: Brief title.
        official_title: Official title, or empty.
        sponsor: Lead sponsor.
        summary: Brief summary.
        description: Detailed description, or empty.
        status: Overall status.
        start: Start date as printed, such as ``March 2019``.
        phase: Phase, or ``N/A``.
        study_type: Interventional or observational.
        outcome: Primary outcome, or empty.
        enrollment: Planned or actual number of participants, as printed.
        conditions: Conditions studied.
        interventions: (type, name) pairs.
        criteria: Eligibility criteria.
        gender: ``All``, ``Female`` or ``Male``.
        minimum_age: As printed, such as ``18 Years``, or ``N/A``.
        maximum_age: Likewise.
        healthy_volunteers: ``No`` or ``Accepts Healthy Volunteers``.
        place: City, state and country of a site, or empty.
        keywords: Keywords.
    """

    nct_id: str
    title: str
    official_title: str = ""
    sponsor: str = ""
    summary: str = ""
    description: str = ""
    status: str = ""
    start: str = ""
    phase: str = ""
    study_type: str = ""
    outcome: str = ""
    enrollment: str = ""
    conditions: tuple[str, ...] = ()
    interventions: tuple[tuple[str, str], ...] = ()
    criteria: str = ""
    gender: str = "All"
    minimum_age: str = "N/A"
    maximum_age: str = "N/A"
    healthy_volunteers: str = "No"
    place: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()

    def to_xml(self) -> str:
        """Return the record in the element layout of ClinicalTrials.gov's public XML."""
        root = ET.Element("clinical_study")
        header = _add(root, "required_header")
        _add(header, "link_text", "Link to the current ClinicalTrials.gov record.")
        _add(header, "url", f"https://clinicaltrials.gov/show/{self.nct_id}")
        _add(_add(root, "id_info"), "nct_id", self.nct_id)
        _add(root, "brief_title", self.title)
        _add(root, "official_title", self.official_title)
        if self.sponsor:
            _add(_add(_add(root, "sponsors"), "lead_sponsor"), "agency", self.sponsor)
            _add(root, "source", self.sponsor)
        _block(root, "brief_summary", self.summary)
        _block(root, "detailed_description", self.description)
        _add(root, "overall_status", self.status)
        _add(root, "start_date", self.start)
        _add(root, "phase", self.phase)
        _add(root, "study_type", self.study_type)
        if self.outcome:
            _add(_add(root, "primary_outcome"), "measure", self.outcome)
        _add(root, "enrollment", self.enrollment)
        for condition in self.conditions:
            _add(root, "condition", condition)
        for kind, name in self.interventions:
            intervention = _add(root, "intervention")
            _add(intervention, "intervention_type", kind)
            _add(intervention, "intervention_name", name)
        eligibility = _add(root, "eligibility")
        _block(eligibility, "criteria", self.criteria)
        _add(eligibility, "gender", self.gender)
        _add(eligibility, "minimum_age", self.minimum_age)
        _add(eligibility, "maximum_age", self.maximum_age)
        _add(eligibility, "healthy_volunteers", self.healthy_volunteers)
        if self.place:
            address = _add(_add(_add(root, "location"), "facility"), "address")
            for name, text in zip(("city", "state", "country"), self.place, strict=False):
                _add(address, name, text)
        for keyword in self.keywords:
            _add(root, "keyword", keyword)
        ET.indent(root)
        return ET.tostring(root, encoding="unicode") + "\n"

    @classmethod
    def from_xml(cls, data: bytes) -> TrialRecord:
        """Return the record in a registry file.

        Raises:
            ValueError: If it is not such a file; also if it declares entities, which the
                registry's files never do and which could be made to fill the memory.
        """
        root = parse(data)
        nct_id = _text(root, "id_info/nct_id")
        if root.tag != "clinical_study" or not nct_id:
            raise ValueError("it is not a ClinicalTrials.gov record")
        return cls(
            nct_id=nct_id.upper(),
            title=_text(root, "brief_title"),
            official_title=_text(root, "official_title"),
            sponsor=_text(root, "sponsors/lead_sponsor/agency"),
            summary=_prose(root, "brief_summary"),
            description=_prose(root, "detailed_description"),
            status=_text(root, "overall_status"),
            start=_text(root, "start_date"),
            phase=_text(root, "phase"),
            study_type=_text(root, "study_type"),
            outcome=_text(root, "primary_outcome/measure"),
            enrollment=_text(root, "enrollment"),
            conditions=_texts(root, "condition"),
            interventions=tuple(
                (_text(node, "intervention_type"), _text(node, "intervention_name"))
                for node in root.findall("intervention")
            ),
            criteria=_prose(root, "eligibility/criteria"),
            gender=_text(root, "eligibility/gender") or "All",
            minimum_age=_text(root, "eligibility/minimum_age") or "N/A",
            maximum_age=_text(root, "eligibility/maximum_age") or "N/A",
            healthy_volunteers=_text(root, "eligibility/healthy_volunteers"),
            place=_place(root),
            keywords=_texts(root, "keyword"),
        )

    @property
    def ages(self) -> str:
        """The limits of age in a few words."""
        low, high = self.minimum_age, self.maximum_age
        if low == high == "N/A":
            return "any age"
        return f"from {low}" if high == "N/A" else f"{'0' if low == 'N/A' else low} to {high}"

    def admits(self, sex: str, age: int) -> bool:
        """Return whether sex and age fit the limits.

        Args:
            sex: ``Female``, ``Male``, or empty for either.
            age: Age in whole years, or negative for any.
        """
        if sex and self.gender not in ("All", sex):
            return False
        low, high = _years(self.minimum_age), _years(self.maximum_age)
        return age < 0 or ((low is None or age >= low) and (high is None or age <= high))

    @property
    def row(self) -> str:
        """The record as one line of a list."""
        conditions = ", ".join(self.conditions[:3])
        return f"{self.nct_id} | {self.title} | {conditions} | {self.gender}, {self.ages}"

    @property
    def names(self) -> tuple[str, ...]:
        """What a list may call the trial by, beside its number, and what its row says of it."""
        shown = ", ".join(self.conditions[:3])
        people = f"{self.gender}, {self.ages}"
        return (self.title, self.official_title, shown, *self.conditions, people, self.ages)

    @property
    def text(self) -> str:
        """Everything a search looks at."""
        names = (name for _, name in self.interventions)
        parts = (self.title, self.official_title, self.summary, *self.conditions, *names)
        return "\n".join((*parts, *self.keywords, self.criteria))

    def section(self, name: str) -> str:
        """Return a section: ``overview``, ``description``, ``eligibility`` or ``xml``."""
        match name:
            case "eligibility":
                return self.eligibility
            case "description":
                return f"{self.nct_id}\n{self.description or 'No detailed description.'}"
            case "xml":
                return self.to_xml()
            case _:
                return self.overview

    @property
    def eligibility(self) -> str:
        """Who is admitted."""
        return (
            f"{self.nct_id} | {self.title}\nSex: {self.gender}. Minimum age: {self.minimum_age}. "
            f"Maximum age: {self.maximum_age}. Healthy volunteers: {self.healthy_volunteers}.\n"
            f"{self.criteria}"
        )

    @property
    def overview(self) -> str:
        """What the trial is about."""
        names = "; ".join(f"{kind}: {name}" for kind, name in self.interventions)
        return (
            f"{self.nct_id} | {self.title}\nConditions: {'; '.join(self.conditions)}\n"
            f"Interventions: {names}\nPhase: {self.phase}. Status: {self.status}. "
            f"Start: {self.start}. Sponsor: {self.sponsor}.\n{self.summary}"
        )


def parse(data: bytes) -> ET.Element:
    """Return the root of an XML file that declares no document type.

    Raises:
        ValueError: If it is no such file.
    """
    # Without the zero bytes a declaration in UTF-16 reads like any other.
    if _DECLARED.search(data.replace(b"\0", b"")):
        raise ValueError("it declares a document type")
    try:
        return ET.fromstring(data)
    except (ET.ParseError, LookupError) as error:
        raise ValueError(f"it is not XML ({error})") from None


def _years(text: str) -> float | None:
    """Return an age limit in years; None if there is none."""
    match = _AGE.fullmatch(text)
    return float(match[1]) * _UNITS[match[2].lower()] if match else None


def _add(parent: ET.Element, name: str, text: str | None = None) -> ET.Element:
    element = ET.Element(name)
    element.text = text
    if text != "":
        parent.append(element)
    return element


def _block(parent: ET.Element, name: str, text: str) -> None:
    if text:
        lines = [piece for line in text.split("\n") for piece in (_WRAPPER.wrap(line) or [""])]
        _add(_add(parent, name), "textblock", "\n" + "\n".join(lines) + "\n")


def _text(root: ET.Element, path: str) -> str:
    return " ".join((root.findtext(path) or "").split())


def _texts(root: ET.Element, path: str) -> tuple[str, ...]:
    return tuple(" ".join((node.text or "").split()) for node in root.findall(path))


def _place(root: ET.Element) -> tuple[str, ...]:
    parts = (_text(root, f"location/facility/address/{n}") for n in ("city", "state", "country"))
    return tuple(part for part in parts if part)


_BULLET = re.compile(r"^(-\s|\*|\d+\.\s|[A-Z][^.;]{0,60}:$|(?:INCLUSION|EXCLUSION) CRITERIA$)")


def _prose(root: ET.Element, path: str) -> str:
    """Return a text block with its lines joined, paragraphs and list items apart."""
    lines: list[str] = []
    fresh = True
    for raw in (root.findtext(f"{path}/textblock") or "").splitlines():
        line = " ".join(raw.split())
        if not line:
            fresh = True
        elif fresh or not lines or _BULLET.match(line) or _ends(lines[-1]):
            lines.append(line)
            fresh = False
        else:
            lines[-1] = f"{lines[-1]} {line}"
    return "\n".join(lines)


def _ends(line: str) -> bool:
    """Return whether a line is a heading, after which a new one begins."""
    return (line.endswith(":") and len(line) < 60) or line in (
        "INCLUSION CRITERIA",
        "EXCLUSION CRITERIA",
    )

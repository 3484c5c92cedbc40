"""Whether the sections of an assessment say what chart and person say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from healthgym.envs.managed_care.care_management.doses import same_dose
from healthgym.envs.managed_care.care_management.grounds import Grounds, names_medicine
from healthgym.envs.managed_care.care_management.task import CareReference
from healthgym.envs.managed_care.care_management.witness import Witness
from healthgym.worlds.managed_care.apps.care_management.evidence import (
    Evidence,
    rules,
    same_condition,
    same_medicine,
)
from healthgym.worlds.managed_care.apps.care_management.sections import SECTIONS, barriers_of
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.numerals import in_digits
from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthAssessment,
    ClinicalAssessment,
    CMAssessment,
    MedicationAssessment,
    SDoHAssessment,
)
from healthgym.worlds.managed_care.vocabulary.care import AdherenceLevel, CMInterventionOwner
from healthgym.worlds.managed_care.voices import Topic

#: The item of the PHQ-9 that asks for thoughts of death or self-harm.
_SELF_HARM = "9"
#: A sum in words of somebody's own, and the most that a single item adds to it.
_SUM = re.compile(
    r"\b(?:score|sum|total)s?\b(?: \w+){0,2}? (\d{1,4})\b(?!-| (?:answers|items|questions))"
)
_ITEM_MOST = 3


class MadeUp(str):
    """What nobody told and nothing says: wrong in a section that was not finished, too."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """Compares an assessment with what is true and was told.

    Attributes:
        made: The assessment.
        wanted: The right handling.
        known: What chart and person said.
        grounds: What is on file.
        witness: What they said in words.
    """

    made: CMAssessment
    wanted: CareReference
    known: Evidence
    grounds: Grounds
    witness: Witness

    def wrong(self) -> tuple[str, ...]:
        """Return what is not as it should be, section by section; empty if nothing is."""
        return tuple(f"{name}: {what}" for name, what in self._found())

    def wrong_so_far(self, left_out: Set[str]) -> tuple[str, ...]:
        """Return the same where the assessment was broken off in some sections."""
        return tuple(
            f"{name}: {what}"
            for name, what in self._found()
            if name not in left_out or isinstance(what, MadeUp)
        )

    def _found(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, with the section where it stands."""
        made = self.made
        found: dict[str, Iterable[str]] = dict.fromkeys(SECTIONS, ("is missing",))
        if made.clinical is not None:
            found["clinical"] = self._clinical(made.clinical)
        if made.medication is not None:
            found["medication"] = self._medication(made.medication)
        if made.behavioral_health is not None:
            found["behavioral_health"] = self._mind(made.behavioral_health)
        if made.sdoh is not None:
            found["sdoh"] = self._social(made.sdoh)
        yield from ((name, what) for name, wrong in found.items() for what in wrong)

    def _clinical(self, data: ClinicalAssessment) -> Iterator[str]:
        for code in dict.fromkeys(entry.code for entry in data.major_diagnoses):
            if not self.known.knows_diagnosis(code):
                yield MadeUp(f"{code} is not known")
        for code, status in self.wanted.control.items():
            named = [each.control_status for each in data.major_diagnoses if each.code == code]
            listed = [
                item.status
                for item in data.disease_control
                if self._means(item.condition, code) and not self._means_other(item.condition, code)
            ]
            if not named and not listed:
                yield f"control of {code} is missing"
            elif any(each is not status for each in (*named, *listed)):
                yield f"control of {code}"
        for item in data.disease_control:
            if not self.known.knows_condition(item.condition):
                yield MadeUp(f"{item.condition} is not known")
            yield from self.grounds.unfounded(item.notes)
        yield from self.grounds.unfounded("\n".join(data.red_flags))
        notes = (item.notes for item in data.disease_control)
        yield from self._in_words(*data.red_flags, *notes)
        yield from self.witness.unfounded(*(entry.display for entry in data.major_diagnoses))

    def _means(self, words: str, code: str) -> bool:
        """Return whether words name the condition of a code: by the code, or by its name."""
        shown = (each.display for each in self.known.chart.conditions if each.code == code)
        return any(same_condition(words, code, each) for each in shown)

    def _means_other(self, words: str, code: str) -> bool:
        """Return whether words are the whole name of another condition."""
        return any(
            each.display.casefold() == words.casefold() and each.code != code
            for each in self.known.chart.conditions
        )

    def _medication(self, data: MedicationAssessment) -> Iterator[str]:
        for name, level in self.wanted.adherence.items():
            listed = [e for e in data.current_medications if same_medicine(e.name, name)]
            missed = any(same_medicine(d.chart_med, name) for d in data.discrepancies)
            if not listed and not missed:
                yield f"{name} is missing"
            if any(entry.adherence is not level for entry in listed):
                yield f"how {name} is taken"
        for entry in data.current_medications:
            yield from self._unheard(entry.name, entry.adherence)
            if entry.dose and not self._is_dose(entry.dose, entry.name):
                yield MadeUp(f"{entry.dose[:40]!r} of {entry.name} is not known")
        named = [one.chart_med or one.patient_report for one in data.discrepancies]
        for name in self.wanted.discrepancies:
            if not any(_about(each, name) for each in named):
                yield f"the difference on {name} is missing"
        for each in named:
            if not any(_about(each, name) for name in self.wanted.discrepancies):
                yield f"no difference is known on {each[:40]}"
        needs = self.wanted.needs
        pharmacist = CMInterventionOwner.PHARMACIST
        if data.pharmacist_referral_needed and needs is not None and pharmacist not in needs.owners:
            yield "a pharmacist has nothing to look at"
        reports = (f"{one.patient_report}; {one.issue_type}" for one in data.discrepancies)
        troubles = (issue for entry in data.current_medications for issue in entry.issues)
        yield from self._in_words(*data.adherence_barriers, *reports, *troubles)

    def _in_words(self, *texts: str) -> Iterator[str]:
        """Yield what texts claim that neither chart nor person says, and those that say nothing."""
        yield from self.witness.unfounded(*texts)
        yield from self.witness.says_nothing(*texts)

    def _unheard(self, name: str, level: AdherenceLevel) -> Iterator[str]:
        """Yield what is said of a medicine that neither chart nor person has said."""
        told = self.known.told_medicine(name)
        if not told and not names_medicine(self.known.chart, name):
            yield MadeUp(f"{name} is not known")
        elif not told and level is not AdherenceLevel.UNKNOWN:
            yield MadeUp(f"{name} was not told of")

    def _is_dose(self, dose: str, name: str) -> bool:
        """Return whether a dose is one on file, or one told of, of a medicine that is on file."""
        rows = self.known.chart.medications
        same = (each for each in rows if same_medicine(each.medication_name, name))
        written = [f"{each.dose or ''} {each.frequency or ''}" for each in same]
        return not written or same_dose(dose, written, self.witness.speech)

    def _mind(self, data: BehavioralHealthAssessment) -> Iterator[str]:
        wanted = self.wanted
        scores = {Topic.PHQ9: data.phq9_score, Topic.GAD7: data.gad7_score}
        for topic, right in ((Topic.PHQ9, wanted.phq9), (Topic.GAD7, wanted.gad7)):
            accepted = {right} if right is not None else {None, self._sum(topic)}
            if scores[topic] is None and None not in accepted:
                yield f"{topic} is missing"
            elif scores[topic] not in accepted:
                yield MadeUp(f"{topic} of {scores[topic]}")
        stage = wanted.persona.readiness
        if stage is not None and data.motivation_stage not in {None, stage}:
            yield MadeUp(f"motivation_stage of {data.motivation_stage}")
        flags = {
            Topic.SAFETY: data.safety_concerns,
            Topic.SUBSTANCE_USE: data.substance_use_concerns,
        }
        for topic, flag in flags.items():
            heard = self._told(topic)
            if heard is not None and flag != heard:
                yield f"{topic}"
            elif heard is None and flag and not self.known.has_code("F1"):
                yield MadeUp(f"{topic} was not told of")
        notes = (data.depression_screen_notes, data.anxiety_screen_notes, data.motivation_notes)
        yield from self._in_words(*notes, data.escalation_notes)
        sums = {str(score) for score in scores.values() if score is not None}
        for text in filter(None, (*notes, data.escalation_notes)):
            yield from (each for each in self.grounds.unfounded(text) if each not in sums)
            for told in _SUM.findall(in_digits(text.lower(), small=True)):
                if int(told) > _ITEM_MOST and told not in sums | self._measured:
                    yield MadeUp(f"a score of {told}")

    @property
    def _measured(self) -> set[str]:
        """The values of the chart, among which are scores of other days."""
        rows = self.known.chart.observations
        return {f"{one.value_quantity:g}" for one in rows if one.value_quantity is not None}

    def _sum(self, topic: Topic) -> int | None:
        """Return the sum of the answers told; None unless all were."""
        told = {each.item: each.score for each in self.known.about(topic) if each.score is not None}
        return sum(told.values()) if len(told) == rules().instruments[topic][1] else None

    def _told(self, topic: Topic) -> bool | None:
        """Return what the person said of a subject last; None if nothing."""
        if topic is Topic.SAFETY and any(
            each.item == _SELF_HARM and (each.score or 0) > 0
            for each in self.known.about(Topic.PHQ9)
        ):
            return True
        told = self.known.about(topic)
        return told[-1].present if told else None

    def _social(self, data: SDoHAssessment) -> Iterator[str]:
        for topic, flag in barriers_of(data).items():
            right = self.wanted.barriers.get(topic, self._told(topic))
            if right is None:
                # Whoever prefers another language may need an interpreter: the chart allows it.
                chart = topic is Topic.LANGUAGE and self.known.speaks_another_language()
                if flag and not chart:
                    yield MadeUp(f"{topic} was not told of")
            elif flag != right:
                yield f"{topic}"


def subjects_due(wanted: CareReference, chart: PatientChart) -> frozenset[Topic]:
    """Return the subjects to be asked about: those of the reference, and the social ones.

    A section cannot leave a social subject open, so each is asked about that the chart does not
    settle by a code; an interpreter, where another language is preferred. Whoever agreed to a part
    is asked about that part.
    """
    return wanted.persona.only or wanted.asked | uncoded(wanted, chart)


def uncoded(wanted: CareReference, chart: PatientChart) -> frozenset[Topic]:
    """Return the social subjects that the chart does not settle."""
    return frozenset(
        topic
        for topic in wanted.barriers
        if not _is_coded(topic, chart)
        and (topic is not Topic.LANGUAGE or chart.patient.preferred_language != "English")
    )


def _is_coded(topic: Topic, chart: PatientChart) -> bool:
    codes = rules().social.get(topic.value, ())
    return bool(codes) and any(
        each.active and each.code.startswith(codes) for each in chart.conditions
    )


def _about(words: str, name: str) -> bool:
    """Return whether words about a difference are about a medicine."""
    if same_medicine(words, name):
        return True
    first = name.casefold().split()[0]
    return re.search(rf"(?<![\w/-]){re.escape(first)}(?![\w/-])", words.casefold()) is not None

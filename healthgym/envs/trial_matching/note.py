"""A patient's facts as an admission note."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from healthgym.envs.trial_matching.chart import FEMALE, DrugUse, Finding, Patient, Reading
from healthgym.envs.trial_matching.criteria import WINDOWS
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.phrasing import Style, Words, wording
from healthgym.envs.trial_matching.vocabulary import vocabulary

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def write_note(patient: Patient, dice: Dice, style: Style) -> str:
    """Return a patient's admission note, which tells every fact the patient has.

    Args:
        patient: The patient.
        dice: Randomness of the wording.
        style: How freely; the plain style is a form with one fact an item.
    """
    writer = _Varied(patient, dice, style) if style.varied else _Plain(patient, dice, style)
    return writer.write()


class _Plain:
    """One line a topic, one fixed wording a fact, ages in days."""

    def __init__(self, patient: Patient, dice: Dice, style: Style) -> None:
        self.patient, self.dice = patient, dice
        self.words = Words(dice, style)
        self.terms = vocabulary()

    def write(self) -> str:
        patient = self.patient
        current = [use for use in patient.drugs if use.stopped is None]
        stopped = [use for use in patient.drugs if use.stopped is not None]
        present = [finding for finding in patient.findings if finding.active]
        past = [finding for finding in patient.findings if not finding.active]
        readings = [self._reading(reading) for reading in patient.readings]
        lines = [
            f"Admission note, {patient.today.isoformat()}.",
            f"Patient: {patient.age}-year-old {patient.sex}, admitted with {patient.complaint}.",
            f"Present conditions: {_list(self._finding(f) for f in present)}.",
            f"Past conditions and events: {_list(self._finding(f) for f in past)}.",
            f"Current drugs: {_list(self._drug(use) for use in current)}.",
            f"Earlier drugs: {_list(self._drug(use) for use in stopped)}.",
            f"Measurements: {_list(readings)}.",
            f"Allergies: {_list(self.words.drug_class(name) for name in patient.allergies)}.",
            f"Denied: {_list(self.words.finding(name) for name in patient.denied)}.",
        ]
        return "\n".join(lines)

    def _finding(self, finding: Finding) -> str:
        text = f"{self.words.finding(finding.concept)} ({finding.days} days ago"
        if finding.attributes:
            text += "".join(f"; {self._attribute(*pair)}" for pair in finding.attributes)
        return f"{text})"

    def _attribute(self, name: str, value: str) -> str:
        condition = self.terms.conditions[self.patient.primary]
        attribute = next(a for a in condition.attributes if a.key == name)
        return f"{attribute.label}: {self.words.choose(attribute.values[value])}"

    def _drug(self, use: DrugUse) -> str:
        name = self.terms.drug_classes[self.terms.class_of[use.drug]][0]
        since = f"started {use.started} days ago"
        ended = "" if use.stopped is None else f", stopped {use.stopped} days ago"
        return f"{use.drug} [{name}] ({since}{ended})"

    def _reading(self, reading: Reading) -> str:
        measure = self.terms.measures[reading.measure]
        value = self.words.amount(measure, reading.value, convert=False)
        return f"{self.words.name(measure.names)} {value} ({reading.days} days ago)"


class _Varied:
    """Prose with synonyms, dates, other units, and facts to be worked out."""

    def __init__(self, patient: Patient, dice: Dice, style: Style) -> None:
        self.patient, self.dice, self.style = patient, dice, style
        self.words = Words(dice, style)
        self.terms = vocabulary()
        self.forms = wording()["note"]

    def write(self) -> str:
        parts = [
            self._history(),
            self._drugs(),
            self._earlier(),
            self._results(),
            self._habits(),
            self._asides(),
        ]
        body = [part for part in self.dice.shuffled(parts) if part]
        return "\n".join([f"{self._opening()} {self._primary()}", *body])

    def _form(self, name: str) -> str:
        options: list[str] = self.forms[name]
        return self.dice.pick(options)

    # -- who and why -------------------------------------------------------------------------

    def _opening(self) -> str:
        patient = self.patient
        woman = patient.sex == FEMALE
        adult = patient.age >= 18
        person = ("woman" if woman else "man") if adult else ("girl" if woman else "boy")
        dated = self.style.dense and self.dice.chance(0.5)
        return _capital(
            self._form("opening_dob" if dated else "opening").format(
                age=patient.age,
                person=person.capitalize() if dated else person,
                short="F" if woman else "M",
                date=patient.today.isoformat(),
                born=patient.birth_date.isoformat(),
                complaint=patient.complaint,
                primary=self.words.finding(patient.primary),
            )
        )

    def _primary(self) -> str:
        finding = self.patient.findings[0]
        condition = self.terms.conditions[finding.concept]
        words = [
            self.words.choose(next(a for a in condition.attributes if a.key == name).values[value])
            for name, value in finding.attributes
        ]
        attributes = f"; {'; '.join(words)}" if words else ""
        when = self._when(finding.days)
        name = self.words.finding(finding.concept)
        return _capital(self._form("primary").format(x=name, when=when, attributes=attributes))

    def _history(self) -> str:
        items = []
        for finding in self.dice.shuffled(self.patient.findings[1:]):
            happened = self.terms.is_event(finding.concept)
            form = "event" if happened else "active" if finding.active else "resolved"
            name, when = self.words.finding(finding.concept), self._when(finding.days)
            items.append(self._form(form).format(x=name, when=when))
        return self._form("history").format(list="; ".join(items)) if items else ""

    # -- drugs -------------------------------------------------------------------------------

    def _drugs(self) -> str:
        items = [
            self._form("drug").format(x=use.drug, when=self._when(use.started))
            for use in self.dice.shuffled(self.patient.drugs)
            if use.stopped is None
        ]
        text = self._form("drugs").format(list="; ".join(items)) if items else ""
        allergies = [self.words.drug_class(name) for name in self.patient.allergies]
        form = self._form("allergies" if allergies else "no_allergies")
        return f"{text} {form.format(list=', '.join(allergies))}".strip()

    def _earlier(self) -> str:
        stopped = [use for use in self.patient.drugs if use.stopped is not None]
        singles = [
            _capital(self._form("stopped").format(x=use.drug, when=self._when(use.stopped or 0)))
            for use in stopped
            if not use.regimen
        ]
        lines = {use.regimen: use.stopped or 0 for use in stopped if use.regimen}
        if self.terms.conditions[self.patient.primary].lines:
            items = [
                self._form("line").format(x=name, when=self._when(days))
                for name, days in sorted(lines.items(), key=lambda item: -item[1])
            ]
            form = self._form("lines" if items else "untreated")
            singles.insert(0, form.format(list="; ".join(items), n=len(items)))
        return " ".join(singles)

    # -- values ------------------------------------------------------------------------------

    def _results(self) -> str:
        dense = self.style.dense
        hidden = {"bmi"} if dense else set()
        if dense or self.patient.smoking[1]:
            hidden.add("pack_years")
        if dense:
            hidden.add("prior_lines")
        items = [
            self._reading(reading)
            for reading in self.dice.shuffled(self.patient.readings)
            if reading.measure not in hidden
        ]
        text = self._form("results").format(list="; ".join(items)) if items else ""
        if dense:
            height, weight = self.patient.body
            text = f"{text} {self._form('body').format(h=height, w=weight)}"
        return text.strip()

    def _reading(self, reading: Reading) -> str:
        measure = self.terms.measures[reading.measure]
        convert = self.dice.chance(self.style.convert)
        value = self.words.amount(measure, reading.value, convert=convert)
        text = self._form("reading").format(name=self.words.name(measure.names), v=value)
        return text if reading.days <= 10 else f"{text} ({self._when(reading.days)})"

    # -- the rest ----------------------------------------------------------------------------

    def _habits(self) -> str:
        packs, years = self.patient.smoking
        counted = any(reading.measure == "pack_years" for reading in self.patient.readings)
        if not years or not counted:
            return ""
        smokes = any(f.concept == "smoking_current" and f.active for f in self.patient.findings)
        end = self._form("smoking_now" if smokes else "smoking_former")
        return self._form("smoking").format(packs=f"{packs:g}", years=years) + end

    def _asides(self) -> str:
        """Return what a hasty reader takes for facts about the patient."""
        texts = []
        if self.patient.denied:
            names = [self.words.finding(name) for name in self.patient.denied]
            texts.append(self._form("denied").format(list=" or ".join(names)))
        if self.style.dense and self.patient.relatives:
            names = [self.words.finding(name) for name in self.patient.relatives]
            texts.append(self._form("relatives").format(list=" and ".join(names)))
        if self.style.dense:
            taken = {use.drug for use in self.patient.drugs}
            options = sorted(set(self.terms.class_of) - taken)
            considered = self._form("considered").format(x=self.dice.pick(options))
            texts.append(_capital(considered))
        return " ".join(texts)

    # -- time --------------------------------------------------------------------------------

    def _when(self, days: int) -> str:
        """Return a wording of a moment in the past that no time window can be mistaken about."""
        day = self.patient.today - timedelta(days=days)
        options = [f"on {day.isoformat()}"]
        if days < 30:
            options.append(f"{days} day{'s' if days > 1 else ''} ago")
        elif days < 100:
            options.append(f"{round(days / 7)} weeks ago")
        elif days < 700:
            options.append(f"about {round(days / 30.44)} months ago")
        if _is_clear(self.patient.today, day.replace(day=1), _end_of_month(day)):
            options.append(f"in {_MONTHS[day.month - 1]} {day.year}")
        if _is_clear(self.patient.today, date(day.year, 1, 1), date(day.year, 12, 31)):
            options.append(f"in {day.year}")
        return self.dice.pick(options) if self.style.dense else self.dice.pick(options[:2])


def _is_clear(today: date, first: date, last: date) -> bool:
    """Return whether no window that criteria use ends between two days, these included."""
    if last > today:
        return False
    return not any(first <= today - timedelta(days=days) <= last for days in WINDOWS)


def _end_of_month(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)


def _list(items: Iterable[str]) -> str:
    return "; ".join(items) or "none"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"

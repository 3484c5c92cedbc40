"""Drawing patients from the latent model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from healthgym.core.seeding import Split, stable_hash
from healthgym.envs.trial_matching.chart import FEMALE, MALE, DrugUse, Finding, Patient, Reading
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.vocabulary import (
    Condition,
    Measure,
    Vocabulary,
    vocabulary,
)

#: Ages of facts in days, by name. They keep at least a seventh away from every window that
#: criteria use, so that "about 4 months ago" is never on the wrong side of one.
BANDS: Mapping[str, tuple[int, int]] = {
    "day": (1, 10),
    "weeks": (17, 24),
    "month": (36, 77),
    "quarter": (108, 150),
    "half": (225, 310),
    "year": (440, 620),
    "two": (900, 1500),
    "years": (2300, 5800),
}
_CHRONIC = ("quarter", "half", "year", "two", "years")
_ENDS = ("month", "quarter", "half", "year")
#: Days that a regimen lasts.
_COURSE = 100
_FIRST_DAY = date(2019, 1, 1)
_TENTHS = {Split.TRAIN: range(6), Split.VALIDATION: range(6, 8), Split.TEST: range(8, 10)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a drawn patient must be like; empty fields are drawn.

    Attributes:
        primary: The condition.
        age: Age in years.
        sex: Sex.
        findings: Findings the patient has besides.
        attributes: Attributes of the primary condition.
    """

    primary: str
    age: int | None = None
    sex: str = ""
    findings: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Profile:
    """What decides the split of a patient."""

    age: int
    sex: str
    attributes: tuple[tuple[str, str], ...]
    comorbid: tuple[str, ...]

    def split(self, primary: str) -> Split:
        text = f"{primary}|{self.age}|{self.sex}|{self.attributes}|{sorted(self.comorbid)}"
        tenth = stable_hash(text) % 10
        return next(split for split, tenths in _TENTHS.items() if tenth in tenths)


def split_of(patient: Patient) -> Split:
    """Return the only split that a patient of this profile can be drawn in.

    The profile is condition, attributes, age, sex and the conditions that go with it.
    """
    primary = patient.findings[0]
    condition = vocabulary().conditions[patient.primary]
    comorbid = tuple(f.concept for f in patient.findings[1:] if _in_profile(f.concept, condition))
    profile = _Profile(patient.age, patient.sex, primary.attributes, comorbid)
    return profile.split(patient.primary)


def _in_profile(finding: str, condition: Condition) -> bool:
    """Return whether a finding counts for a patient's profile, or just happens to the patient."""
    happens = vocabulary().is_event(finding) or finding in condition.events
    return not happens and finding != "pregnancy"


def draw_patient(dice: Dice, wanted: Wanted, split: Split) -> Patient:
    """Return a patient of a split.

    Args:
        dice: Randomness.
        wanted: What the patient must be like.
        split: The split, which decides the profiles that may be drawn.
    """
    terms = vocabulary()
    condition = terms.conditions[wanted.primary]
    profile = _draw_profile(dice, condition, wanted, terms)
    while profile.split(condition.key) is not split:
        profile = _draw_profile(dice, condition, wanted, terms)
    today = _FIRST_DAY + timedelta(days=dice.below(1800))
    born = _birthday(today, profile.age, dice)
    regimens = _draw_regimens(dice, condition, profile)
    smoking = _draw_smoking(dice, condition, profile)
    findings = _draw_findings(dice, condition, profile, wanted, regimens)
    body = _draw_body(dice, condition, profile.sex)
    drugs = _draw_drugs(dice, condition, findings, regimens)
    counts = {"prior_lines": float(len(regimens)), "pack_years": float(smoking[0] * smoking[1])}
    bmi = round(body[1] / (body[0] / 100) ** 2, 1)
    readings = _draw_readings(dice, condition, {**counts, "bmi": bmi}, terms)
    have = {term for finding in findings for term in terms.wider[finding.concept]}
    absent = [name for name in terms.general["denials"] if name not in have]
    family = [name for name in terms.general["family_history"] if name not in have]
    allergies = dice.sample(terms.general["allergens"], 1 if dice.chance(0.3) else 0)
    taken = {terms.class_of[use.drug] for use in drugs}
    return Patient(
        today=today,
        sex=profile.sex,
        birth_date=born,
        primary=condition.key,
        findings=findings,
        drugs=drugs,
        readings=readings,
        allergies=tuple(name for name in allergies if name not in taken),
        body=body,
        smoking=smoking,
        denied=tuple(dice.sample(absent, 3)),
        relatives=tuple(dice.sample(family, dice.between(0, 2))),
        complaint=dice.pick(condition.complaints),
    )


def _draw_profile(dice: Dice, condition: Condition, wanted: Wanted, terms: Vocabulary) -> _Profile:
    age = wanted.age if wanted.age is not None else dice.between(*condition.ages)
    sex = wanted.sex or condition.sex or dice.pick((FEMALE, MALE))
    attributes = tuple(
        (a.key, wanted.attributes.get(a.key) or dice.weighted(a.shares))
        for a in condition.attributes
    )
    oldest = terms.general["adult_from"]
    drawn = dice.sample(condition.comorbid, dice.between(1, 2))
    drawn += dice.sample(terms.general["comorbid"], dice.between(0, 2))
    fits = [name for name in drawn if age >= oldest.get(name, 0) and _compatible(name, condition)]
    fits = [name for name in fits if _in_profile(name, condition)]
    fixed = [name for name in wanted.findings if _in_profile(name, condition)]
    return _Profile(age, sex, attributes, tuple(dict.fromkeys([*fixed, *fits])))


def _compatible(name: str, condition: Condition) -> bool:
    both_diabetes = name == "type2_diabetes" and condition.key == "type1_diabetes"
    return name != condition.key and not both_diabetes


def _birthday(today: date, age: int, dice: Dice) -> date:
    born = date(today.year - age, 1, 1) + timedelta(days=dice.below(365))
    return born if (born.month, born.day) <= (today.month, today.day) else _year_before(born)


def _year_before(day: date) -> date:
    return day.replace(year=day.year - 1, day=min(day.day, 28))


def _days(dice: Dice, bands: Sequence[str]) -> int:
    return dice.between(*BANDS[dice.pick(bands)])


def _draw_regimens(dice: Dice, condition: Condition, profile: _Profile) -> dict[str, int]:
    """Return the regimens given for a cancer so far, and how many days ago each ended."""
    if not condition.lines:
        return {}
    if any(condition.untreated.get(name) == value for name, value in profile.attributes):
        return {}
    count = dice.between(1 if condition.untreated else 0, 3)
    names, bands = dice.sample(list(condition.lines), count), dice.sample(_ENDS, count)
    return {name: _days(dice, (band,)) for name, band in zip(names, bands, strict=True)}


def _draw_smoking(dice: Dice, condition: Condition, profile: _Profile) -> tuple[float, int]:
    if "smoking_current" not in profile.comorbid and "pack_years" not in condition.measures:
        return (0.0, 0)
    years = min(2 * dice.between(3, 20), 2 * ((profile.age - 14) // 2))
    return (dice.pick((0.5, 1.0, 1.5, 2.0)), max(years, 2))


def _draw_findings(
    dice: Dice,
    condition: Condition,
    profile: _Profile,
    wanted: Wanted,
    regimens: Mapping[str, int],
) -> tuple[Finding, ...]:
    terms, general = vocabulary(), vocabulary().general
    young = profile.age < 20
    treated = max(regimens.values(), default=-_COURSE) + _COURSE
    onset = [band for band in condition.duration if not (young and band == "years")]
    onset = [band for band in onset if BANDS[band][0] > treated]
    found = [Finding(condition.key, _days(dice, onset or ("two",)), True, profile.attributes)]
    chronic = _CHRONIC[:-1] if young else _CHRONIC
    for name in profile.comorbid:
        resolved = name in general["resolvable"] and dice.chance(0.35)
        days = _days(dice, _later(name, chronic, found[0].days))
        found.append(Finding(name, days, not resolved))
    fixed = [name for name in wanted.findings if not _in_profile(name, condition)]
    likely = dice.sample(condition.events, dice.between(0, 2))
    likely += dice.sample(general["incidental_events"], dice.between(0, 2))
    have = {finding.concept for finding in found}
    events = [*fixed, *(name for name in likely if _befalls(name, profile))]
    for name in dict.fromkeys(events):
        if name in have:
            continue
        lasting = not terms.is_event(name)
        bands = chronic if lasting else tuple(BANDS)[: -1 if young else None]
        days = _days(dice, _later(name, bands, found[0].days))
        found.append(Finding(name, days, lasting))
    if profile.sex == FEMALE and 18 <= profile.age <= 44 and dice.chance(0.1):
        found.append(Finding("pregnancy", dice.between(*BANDS["quarter"]), True))
    return tuple(found)


def _later(name: str, bands: Sequence[str], onset: int) -> Sequence[str]:
    """Return the bands that a finding may fall in: a complication comes after the condition."""
    if name not in vocabulary().general["complications"]:
        return bands
    later = [band for band in BANDS if BANDS[band][1] <= onset]
    return [band for band in later if band in bands] or later[-1:] or ("day",)


def _befalls(name: str, profile: _Profile) -> bool:
    """Return whether an event makes sense for a patient."""
    values = {value for _, value in profile.attributes}
    if name.endswith("_metastases") and not values & {"4", "metastatic"}:
        return False
    if name == "mastectomy" and profile.sex == MALE:
        return False
    oldest: Mapping[str, int] = vocabulary().general["adult_from"]
    return profile.age >= oldest.get(name, 0)


def _draw_body(dice: Dice, condition: Condition, sex: str) -> tuple[int, int]:
    height = round(dice.normal(163 if sex == FEMALE else 176, 7))
    mean, deviation = condition.measures.get("bmi", vocabulary().measures["bmi"].normal)
    low, high = vocabulary().measures["bmi"].range
    bmi = min(max(dice.normal(mean, deviation), low), high)
    return height, round(bmi * (height / 100) ** 2)


def _draw_drugs(
    dice: Dice, condition: Condition, findings: Sequence[Finding], regimens: Mapping[str, int]
) -> tuple[DrugUse, ...]:
    terms = vocabulary()
    uses = [
        DrugUse(drug, ended + _COURSE, ended, name)
        for name, ended in regimens.items()
        for drug in condition.lines[name]
    ]
    oncology = bool(condition.lines)
    starts = ("day", "weeks", "month", "quarter", "half", "year", "two")
    classes = [] if oncology else dice.sample(condition.drugs, dice.between(1, 3))
    for finding in findings[1:]:
        options = terms.general["comorbid_drugs"].get(finding.concept, ())
        if options and finding.active and dice.chance(0.75):
            classes.append(dice.pick(options))
    taken = {use.drug for use in uses}
    for name in dict.fromkeys(classes):
        drug = dice.pick(terms.members[name])
        if drug not in taken:
            uses.append(DrugUse(drug, _days(dice, starts)))
            taken.add(drug)
    for name in [] if oncology else dice.sample(condition.past_drugs, dice.between(0, 2)):
        drug = dice.pick(terms.members[name])
        if drug not in taken:
            ended = _days(dice, starts[1:])
            uses.append(DrugUse(drug, ended + dice.between(30, 300), ended))
    return tuple(uses)


def _draw_readings(
    dice: Dice, condition: Condition, counts: Mapping[str, float], terms: Vocabulary
) -> tuple[Reading, ...]:
    general = terms.general
    wanted = dict(condition.measures)
    for name in general["incidental_measures"]:
        if name not in wanted and dice.chance(0.5):
            wanted[name] = terms.measures[name].normal
    if "egfr" in wanted:
        wanted.pop("creatinine", None)  # two values of one thing could contradict each other
    readings = []
    for name, (mean, deviation) in wanted.items():
        value = counts.get(name, dice.normal(mean, deviation))
        if name not in counts and dice.chance(0.1):
            continue  # not measured: criteria on it cannot be decided
        measure = terms.measures[name]
        value = min(max(value, measure.range[0]), measure.range[1])
        dated = name in general["dated_measures"]
        bands = ("day", "day", "weeks", "month", "quarter") if dated else ()
        days = dice.between(*BANDS[dice.pick(bands)]) if bands else 0
        readings.append(Reading(name, _tidy(value, measure), days))
    if "bmi" not in wanted:
        readings.append(Reading("bmi", counts["bmi"]))
    return tuple(readings)


def _tidy(value: float, measure: Measure) -> float:
    """Return a value as it is reported."""
    if value >= 10_000:
        return float(round(value, -3))
    return round(round(value / measure.step) * measure.step, measure.decimals) + 0.0

"""Reports: imaging, laboratory, trends, questionnaires, and the letter of medical necessity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from healthgym.core.records import replace
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.charts.knowledge import (
    Study,
    flagged,
    measures,
    panels,
    study_of,
    written_number,
)
from healthgym.worlds.managed_care.charts.prose import Unwritten, lower_first
from healthgym.worlds.managed_care.charts.sections import Draft, is_vital
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
from healthgym.worlds.managed_care.policies.units import usual_unit

_FLAGS = {"high": "H", "low": "L", "normal": "", None: ""}


def imaging(draft: Draft) -> list[str]:
    """An imaging report: study, indication, technique, findings, impression."""
    prose = draft.prose
    findings = draft.facts(Finding)
    lines = [f"Study date: {prose.day(draft.day)}"]
    done = draft.facts(ProcedureDone)
    measures_seen = draft.facts(Measurement)
    study = study_in((*done, *measures_seen, *findings))
    key = study.key if study else "general"
    studies = [prose.procedure(replace(fact, result=""), coded=True) for fact in done]
    if not studies:
        studies = [study.examination if study else "Imaging study, region as below"]
    lines += [f"Examination: {study}" for study in studies]
    known = [fact for fact in draft.planned.facts if isinstance(fact, Diagnosis | MedicationCourse)]
    if known:
        lines.append(f"Clinical history: {'; '.join(_plain(draft, fact) for fact in known)}")
    if draft.first_study:
        lines.append(f"Comparison: {prose.say('imaging.comparison')}")
    lines.append(f"Technique: {prose.say(f'study.{key}.technique')}")
    lines.append("FINDINGS")
    lines += [f"- {fact.result.rstrip('.')}." for fact in done if fact.result]
    lines += [f"- {prose.finding(fact, draft.day)}." for fact in findings]
    measured = [prose.measurement(fact, draft.day) for fact in measures_seen]
    lines += [f"- {text[:1].upper()}{text[1:]}." for text in measured]
    lines += [f"- {_plain(draft, fact)}" for fact in _rest(draft, known)]
    lines.append(prose.say(f"study.{key}.elsewhere"))
    seen = [fact for fact in findings if fact.value != "absent"] or findings
    if seen:
        lines.append("IMPRESSION")
        lines += [f"- {prose.finding(fact, draft.day)}." for fact in seen[:4]]
    elif done and done[0].result:
        lines += ["IMPRESSION", f"- As above: {lower_first(done[0].result.rstrip('.'))}."]
    elif measured:
        lines += ["IMPRESSION", "- See measures above; to be read with the clinical question."]
    return lines


def study_in(facts: Iterable[AnyFact]) -> Study | None:
    """Return the study in which facts were seen, or None."""
    codes = [
        fact.key if isinstance(fact, Finding) else fact.code
        for fact in facts
        if isinstance(fact, ProcedureDone | Measurement | Finding)
    ]
    return study_of(tuple(codes))


def _rest(draft: Draft, known: list[Diagnosis | MedicationCourse]) -> list[AnyFact]:
    told = (ProcedureDone, Finding, Measurement)
    return [x for x in draft.planned.facts if not isinstance(x, told) and x not in known]


def _plain(draft: Draft, fact: AnyFact) -> str:
    """Return any fact as a line of a list."""
    prose, day = draft.prose, draft.day
    if isinstance(fact, Diagnosis):
        return prose.diagnosis(fact)
    if isinstance(fact, Measurement):
        return prose.measurement(fact, day)
    if isinstance(fact, MedicationCourse):
        return prose.medication(fact, told=False, on=day)
    if isinstance(fact, TherapyCourse):
        return prose.therapy(fact, told=False, on=day)
    if isinstance(fact, ProcedureDone):
        return prose.procedure(fact, coded=True)
    if isinstance(fact, Finding):
        return prose.finding(fact, day)
    return prose.intolerance(fact)


def laboratory(draft: Draft) -> list[str]:
    """A laboratory report: a table with reference ranges and flags."""
    prose = draft.prose
    lines = [f"Collected: {prose.day(draft.day)}", "Test | Result | Flag | Reference"]
    for fact in draft.facts(Measurement):
        known = measures().get(fact.code)
        flag, span = "", ""
        if known and known.low is not None and known.high is not None:
            flag = _FLAGS[flagged(fact)]
            span = f"{written_number(known.low)}-{written_number(known.high)}"
            usual = usual_unit(fact.unit, fact.code) == fact.unit
            if not (usual and prose.in_own_unit(fact)):
                span = ""  # the range is that of the usual unit
        lines.append(f"{fact.display} | {prose.value(fact)} | {flag} | {span}".rstrip(" |"))
    if not isinstance(prose, Unwritten):
        lines += _besides(draft)
    others = [fact for fact in draft.planned.facts if not isinstance(fact, Measurement)]
    lines += [f"- {_plain(draft, fact)}" for fact in others]
    lines.append(prose.say("lab.note"))
    return [*lines, prose.say("lab.comment")] if prose.chooser.chance(18) else lines


def _besides(draft: Draft) -> list[str]:
    """Return the analytes that come with a panel and that nobody asked about, most in range."""
    chooser, lines = draft.prose.chooser, list[str]()
    known = [measures()[x.code] for x in draft.facts(Measurement) if x.code in measures()]
    for name in dict.fromkeys(each.panel for each in known):
        for analyte, unit, low, high, decimals in panels().get(name, ()):
            width = (high - low) * (1.16 if chooser.chance(25) else 0.8)
            value = (low + high) / 2 + width * (chooser.below(1001) / 1000 - 0.5)
            shown = f"{value:.{decimals}f}"
            flag = "H" if float(shown) > high else "L" if float(shown) < low else ""
            span = f"{written_number(low, decimals)}-{written_number(high, decimals)}"
            lines.append(f"{analyte} | {shown} {unit} | {flag} | {span}")
    return lines


def trend(draft: Draft) -> list[str]:
    """A cumulative summary: each measure with its values over time."""
    prose = draft.prose
    by_name: dict[str, list[Measurement]] = {}
    for fact in sorted(draft.facts(Measurement), key=lambda one: one.taken):
        by_name.setdefault(fact.display, []).append(fact)
    lines = [prose.say("trend.note")]
    for name, facts in by_name.items():
        values = "; ".join(f"{prose.value(fact)} on {prose.day(fact.taken)}" for fact in facts)
        lines.append(f"{name}: {values}")
    others = [fact for fact in draft.planned.facts if not isinstance(fact, Measurement)]
    return lines + [f"- {_plain(draft, fact)}" for fact in others]


def questionnaire(draft: Draft) -> list[str]:
    """A filled-in form: items where the instrument has some, and the total."""
    prose = draft.prose
    lines = [f"Date completed: {prose.day(draft.day)}", prose.say("questionnaire.note")]
    for fact in draft.planned.facts:
        known = measures().get(fact.code) if isinstance(fact, Measurement) else None
        if isinstance(fact, Measurement) and known and known.items:
            lines += _items(draft, known.items, known.most, int(fact.value))
            lines.append(f"Total: {prose.measurement(fact, draft.day)}")
        else:
            lines.append(f"- {_plain(draft, fact)}")
    return lines


def _items(draft: Draft, items: tuple[str, ...], most: int, total: int) -> list[str]:
    """Return a line for each item, with points that sum to the total."""
    points = [0] * len(items)
    # The last item of the instruments asks for the gravest: it takes what the others cannot hold.
    open_items = list(range(len(items) - 1))
    for _ in range(min(total, most * len(items))):
        place = open_items[draft.prose.chooser.below(len(open_items))] if open_items else -1
        points[place] += 1
        if points[place] == most and open_items:
            open_items.remove(place)
    return [f"{item}: {point}" for item, point in zip(items, points, strict=True)]


def letter(draft: Draft) -> list[str]:
    """A letter of medical necessity: who, what was tried, what is found, what is asked for."""
    prose, patient = draft.prose, draft.patient
    opening = prose.say(
        "letter.opening",
        name=f"{patient.first_name} {patient.last_name}",
        dob=prose.day(patient.dob),
        focus=draft.focus,
    )
    age = f"The patient is {age_on(patient.dob, draft.day)} years old."
    paragraphs = ["To whom it may concern:", f"{opening} {age}"]
    paragraphs += [
        prose.say("letter.request", order=f"{order.description} (CPT {order.procedure_code})")
        for order in draft.orders
    ]
    for title, kinds in _LETTER:
        facts = [fact for fact in draft.planned.facts if isinstance(fact, kinds)]
        if facts:
            paragraphs.append(f"{title}: {'; '.join(_plain(draft, fact) for fact in facts)}.")
    return [*paragraphs, prose.say("letter.closing")]


_LETTER: tuple[tuple[str, tuple[type[AnyFact], ...]], ...] = (
    ("Diagnoses", (Diagnosis,)),
    ("Treatment so far", (MedicationCourse, TherapyCourse, ProcedureDone)),
    ("Findings and measures", (Finding, Measurement)),
    ("Allergies and contraindications", (Intolerance,)),
)

REPORTS: Mapping[str, Callable[[Draft], list[str]]] = {
    "imaging": imaging,
    "laboratory": laboratory,
    "trend": trend,
    "questionnaire": questionnaire,
    "letter": letter,
}


def panel_of(facts: tuple[AnyFact, ...]) -> str:
    """Return the panel or instrument that a report is about."""
    found: dict[str, None] = {}
    for fact in facts:
        if isinstance(fact, Measurement):
            known = measures().get(fact.code)
            if known and known.panel and not is_vital(fact):
                found[known.panel] = None
            else:
                found[known.names[0] if known else fact.display] = None
    names = list(found)
    if len(names) > 3:
        names = [*names[:3], "others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:]))) or "results"

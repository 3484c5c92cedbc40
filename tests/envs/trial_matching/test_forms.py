"""Forms of a shortlist: 195 written down before the reader's grammar, and 116 after it.

Of the later ones it accepted no wrong form at first sight, and refused 2 of 47 right ones. Neither
file is edited.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.shortlist import read_line
from healthgym.envs.trial_matching.task import MatchingReference
from healthgym.envs.trial_matching.verifier import TrialMatchingVerifier
from healthgym.worlds.corpus import Corpus

HERE = Path(__file__).parent
DIGESTS = {
    "forms.json": "64c3b2d4da861877276f91aa2a3b3720cc86364cffb251171ab88a66d2c14691",
    "forms_later.json": "ff5507f723953ffe75beb2cb274c9bda7f548c4175dd6633168d947c07ca0626",
}


def forms(kind: str) -> list[tuple[str, str]]:
    """The forms of both files, right or wrong."""
    tables = [json.loads((HERE / name).read_text("utf-8")) for name in DIGESTS]
    return [(how, form) for table in tables for how, form in table[kind]]


GOLD = ["NCT00000011", "NCT00000012", "NCT00000013"]
BARRED = "NCT00000101"
TITLES = {
    GOLD[0]: "Bisoprolol in Heart Failure With Reduced Ejection Fraction",
    GOLD[1]: "Home Monitoring After Acute Coronary Syndrome: The HOMAC Trial",
    GOLD[2]: "Iron for Anaemia of Chronic Kidney Disease",
    BARRED: "Telerehabilitation Not Too Late After Stroke",
}
REFERENCE = MatchingReference({BARRED: 1, **dict.fromkeys(GOLD, 2)})
CORPUS = Corpus(tuple(TITLES), lambda id_: TrialRecord(id_, TITLES[id_]))


def written(kind: str, form: str) -> str:
    """A right list in which a form is used; the kinds are the branches below."""

    def filled(id_: str, number: int) -> str:
        values = {
            "id": id_,
            "n": str(number),
            "title": TITLES[id_],
            "other": BARRED,
            "othertitle": TITLES[BARRED],
            "spacedid": f"{id_[:3]} {id_[3:]}",
            "dashid": f"{id_[:3]}-{id_[3:]}",
            "lowid": id_.lower(),
        }
        text = form
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    if kind == "each":
        return "\n".join(filled(id_, n) for n, id_ in enumerate(GOLD, 1))
    if kind == "one":
        return "\n".join([filled(GOLD[0], 1), *GOLD[1:]])
    if kind == "more":
        return "\n".join([*GOLD, filled(BARRED, 4)])
    lists = {
        "list": "\n".join(GOLD),
        "commas": ", ".join(GOLD),
        "ands": f"{GOLD[0]}, {GOLD[1]} and {GOLD[2]}",
        "spaces": " ".join(GOLD),
        "semicolons": "; ".join(GOLD),
        "json": json.dumps(GOLD),
        "objects": json.dumps([{"nct_id": id_, "eligible": True} for id_ in GOLD], indent=1),
        "count": str(len(GOLD)),
    }
    text = form
    for name, value in lists.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def solves(kind: str, form: str) -> bool:
    after = SimpleNamespace(draft=tuple(written(kind, form).splitlines()), corpus=CORPUS)
    evidence = SimpleNamespace(reference=REFERENCE, after=after, submission={})
    judgement = TrialMatchingVerifier().judge(evidence, Profile.STRICT)  # type: ignore[arg-type]
    return Verdict.from_judgement(Profile.STRICT, judgement).success


@pytest.mark.parametrize("name", DIGESTS)
def test_the_forms_are_never_edited(name: str) -> None:
    assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == DIGESTS[name]


@pytest.mark.parametrize(("kind", "form"), forms("right"))
def test_a_right_form_solves(kind: str, form: str) -> None:
    assert solves(kind, form)


@pytest.mark.parametrize(("kind", "form"), forms("wrong"))
def test_a_wrong_form_does_not(kind: str, form: str) -> None:
    assert not solves(kind, form)


@pytest.mark.parametrize(
    "form",
    [
        "0 eligible trials:\n{list}",
        "Number of matches: 0\n{list}",
        "Confidence: 0\n{list}",
        "The patient qualifies for 1 of these:\n{list}",
    ],
)
def test_a_heading_that_takes_the_list_back_is_not_read(form: str) -> None:
    assert not solves("whole", form)


@pytest.mark.parametrize("form", ["{id} -0.9", "{id} confidence −95%", "{id} < 0.9", "{id}: <90%"])
def test_a_score_below_nought_or_a_bound_is_none(form: str) -> None:
    assert not solves("each", form)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("each", "● {id}"),
        ("each", "▪ {id}"),
        ("each", "{id} (90 %)"),
        ("whole", "{count} eligible trials found:\n{list}"),
        ("whole", "```text\n{list}\n```"),
    ],
)
def test_more_that_a_person_writes_is_read(kind: str, form: str) -> None:
    assert solves(kind, form)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("whole", "Based on the admission note, the patient is eligible for:\n{list}"),
        ("whole", "After reviewing the pool, the eligible ones are:\n{list}"),
        ("whole", "Here's the shortlist:\n{list}"),
        ("whole", "Here\u2019s my final answer:\n{list}"),
        ("whole", "Summary of eligible trials from the pool\n{list}"),
        ("whole", "{list}\n\nNo other trials matched."),
        ("whole", "{list}\nThere are no further eligible trials in the pool."),
        ("whole", "{list}\n- **All other trials were excluded.**"),
        ("whole", "{list}\nThe patient is not eligible for any other trial."),
        ("each", "{id}: adult patient has the required condition and meets all criteria"),
        ("each", "{id} - adult with this condition, no exclusion criteria apply"),
        ("each", "{id} - fully eligible per criteria; none of the exclusions apply"),
    ],
)
def test_what_says_where_a_list_comes_from_and_ends_is_read(kind: str, form: str) -> None:
    assert solves(kind, form)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("whole", "No other trials matched:\n{list}"),
        ("whole", "All other trials were excluded.\n{list}"),
        ("whole", "{list}\nNo trials matched."),
        ("whole", "{list}\nAll trials were excluded."),
        ("whole", "{list}\nThe patient is not eligible for any trial."),
        ("whole", "{list}\nNo other trials matched, nor did these."),
        ("one", "No other trials matched: {id}"),
        ("one", "{id} - no other trials matched"),
        ("one", "{id} - diagnosis required"),
        ("one", "{id} - has all exclusion criteria"),
        ("one", "{id} - with exclusion criteria"),
        ("one", "{id} with {other}"),
        ("more", "No other trials matched.\n{id}"),
    ],
)
def test_a_close_that_takes_a_trial_back_is_not_read(kind: str, form: str) -> None:
    assert not solves(kind, form)


def test_a_line_says_why_it_is_not_read() -> None:
    def names(id_: str) -> tuple[str, ...]:
        return CORPUS.document(id_).names

    assert read_line(f"{GOLD[0]} - ruled out by age", names).problem == (
        "'ruled' is not what a list says of a trial"
    )
    assert read_line("Rejected:", names).problem == "'rejected' is not the heading of a list"
    assert read_line(f"- [ ] {GOLD[0]}", names).problem == "its box is not ticked"
    assert read_line(f"# {GOLD[0]}", names).problem == "it is a comment"
    assert read_line("NCT-00000011", names).problem.startswith("a registry number is")
    assert "does not join" in read_line(f"{GOLD[0]}-{GOLD[2]}", names).problem


@pytest.mark.parametrize(
    ("line", "unknown"),
    [(f"²{GOLD[0]}", "²"), (f"③ {GOLD[0]}", "③"), (f"{'9' * 5000} {GOLD[0]}", "9" * 5000)],
    ids=["a power", "a ring", "5,000 digits"],
)
def test_what_python_calls_a_digit_is_read_or_refused(line: str, unknown: str) -> None:
    names = TITLES.get
    found = read_line(line, lambda id_: [names(id_) or ""]).problem
    assert found == f"{unknown!r} is not what a list says of a trial"


def test_a_column_of_reasons_may_have_a_heading() -> None:
    assert not read_line("nct_id,reason", lambda id_: []).problem


def test_a_mark_before_a_saved_text_says_nothing() -> None:
    found = read_line(f"\ufeff{GOLD[0]}", lambda id_: [TITLES[id_]])
    assert (found.ids, found.problem) == ((GOLD[0],), "")
    assert not read_line("\ufeffnct_id,reason", lambda id_: []).problem

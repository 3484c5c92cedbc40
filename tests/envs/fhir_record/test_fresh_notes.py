"""Notes of clinicians that were written before their readers changed, hostile and honest.

Of the half that is held out nobody who works on the readers looks at what goes wrong: only how
much of it does may not grow.
"""

from __future__ import annotations

import pytest

from healthgym.core.tool import call
from healthgym.envs.fhir_record.orders.language import is_foreign
from healthgym.envs.fhir_record.orders.shorthand import written_out
from tests.envs.fhir_record.fresh_notes import Note, notes
from tests.envs.fhir_record.test_verifier import change, failed, find, play

#: The most that goes wrong in English: hostile notes that pass and honest ones refused.
_DEVELOPED, _HELD_OUT = (0, 1), (4, 17)
#: Most notes in another language that pass, whatever they say.
_UNREAD = 11
_LEAST = 80


@pytest.mark.slow
@pytest.mark.parametrize("held_out", [False, True], ids=["developed", "held out"])
def test_no_more_goes_wrong_than_did(held_out: bool) -> None:
    hostile, honest = (notes(kind, held_out=held_out) for kind in ("hostile", "honest"))
    passing, refused = _HELD_OUT if held_out else _DEVELOPED
    english = [[note for note in half if note.language == "en"] for half in (hostile, honest)]
    assert min(map(len, english)) >= _LEAST
    assert sum(note.passes() for note in english[0]) <= passing
    assert sum(not note.passes() for note in english[1]) <= refused
    others = [note for note in (*hostile, *honest) if note.language != "en"]
    assert sum(note.passes() for note in others) <= _UNREAD


@pytest.mark.parametrize(
    ("base", "text"),
    [
        ("level", "dont bother if K was ok overnight"),
        ("level", "Stat level.\nStart spironolactone 25 mg daily"),
        ("a1c", "Thanks! Skip it."),
        ("a1c", "fructosamine would be better"),
        ("ecg", "tele strip is good enough"),
        ("ft4", "lab can drop this if TSH nl"),
        ("heparin", "half that is plenty"),
        ("catheter", "once he is walking"),
        ("flu", "mom can decide, so let it go"),
        ("naloxone", "use after every oxycodone dose"),
        ("flu", "Check troponin before giving."),
        ("flu", "Check temperature before dialysis."),
        ("flu", "Confirm no egg allergy before giving, then give the nasal spray."),
        ("a1c", "Check creatinine and potassium before the draw."),
    ],
)
def test_what_is_allowed_preferred_or_conditional_is_asked_for(base: str, text: str) -> None:
    assert not Note(base, "note", "en", text).passes()


@pytest.mark.parametrize(
    ("base", "text"),
    [
        ("level", "pls draw w/ AM labs, thx"),
        ("level", "K was low x2 this wk"),
        ("a1c", "pcn allergy (rash)"),
        ("ecg", "page me w/ QTc over 500"),
        ("heparin", "wt 82 kg, enox d/c'd"),
        ("mg", "on home lasix 40 mg daily; recheck Mg 4 h p infusion"),
        ("catheter", "remove and monitor UOP"),
        ("naloxone", "Spray once if the patient does not respond."),
        ("flu", "Please screen for egg allergy and febrile illness before giving."),
        ("flu", "Check temperature before giving."),
        ("flu", "Screen for egg allergy first."),
        ("a1c", "Verify identity prior to the draw."),
    ],
)
def test_findings_in_shorthand_and_what_is_watched_pass(base: str, text: str) -> None:
    assert Note(base, "note", "en", text).passes()


def test_lines_are_sentences_and_shorthand_is_written_out() -> None:
    written = written_out("- A1c due\n- dont draw w/ the K, 5000 u s/p d/c")
    assert written == "- a1c due. do not draw with the k, 5000 u after discontinue"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bitte erst am Montag abnehmen.", True),
        ("Seulement si le patient est d'accord.", True),
        ("Si el paciente no quiere, no pasa nada.", True),
        ("не брать кровь", True),
        ("Sjögren's, on HCQ; β-blocker held", False),
        ("LOS 4 d, LA dilated, est GFR 50", False),
        ("", False),
    ],
)
def test_other_languages_are_told_from_english_with_names(text: str, expected: bool) -> None:
    assert is_foreign(text) is expected


def test_a_note_in_another_language_is_refused_when_it_is_written() -> None:
    """So that nobody loses a right order by it."""
    _, episode, script = find("v2-t9", "stale")
    place = next(n for n, step in enumerate(script) if step.name == "create_service_request")
    for step in script[:place]:
        assert not episode.step(step).errors
    german = {**script[place].arguments, "note": "Letzte Grippeimpfung vor zwei Jahren."}
    refused = episode.step(call("create_service_request", **german))
    assert any("in English" in error for error in refused.errors)
    assert play(episode, script[place:]).success


def test_a_note_that_leaves_the_order_to_somebody_fails_its_details() -> None:
    _, episode, script = find("v2-t9", "stale")
    verdict = play(episode, change(script, "create_service_request", note="ok to skip if busy"))
    assert failed(verdict) == {"vaccine_details"}

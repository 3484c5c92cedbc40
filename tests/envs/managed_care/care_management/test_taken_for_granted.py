"""What a plan, a question or a next step takes for granted has to be there; what is new need not.

The texts of ``granted_*.jsonl`` were written with the reader, and hold what it does for the future.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from healthgym.core.cache import forget_texts
from healthgym.envs.managed_care.care_management.clauses import Speaks
from healthgym.envs.managed_care.care_management.granted_words import PAGES, is_plain, other_words
from healthgym.envs.managed_care.care_management.taken_for_granted import taken_for_granted
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts

#: Falsehoods by an event, a deed of the past, a strange thing or a reason, which are let pass now.
_PASS_MOST = 85
TEXTS = Path("tests/envs/managed_care/care_management")
AIMS, PLANS, SUPPOSES, TELLS = Speaks.AIMS, Speaks.PLANS, Speaks.SUPPOSES, Speaks.TELLS

#: Falsehoods by class, each with the word by which it is seen.
FALSE = (
    # Somebody in particular.
    (PLANS, "Ask the stepbrother to count the tablets.", "stepbrother"),
    (PLANS, "Explain the list to his fiancee.", "fiancee"),
    (AIMS, "Back behind the counter, as the shopkeeper wishes.", "shopkeeper"),
    (AIMS, "Roommate signs the log each evening.", "roommate"),
    (SUPPOSES, "If the landlady finds the door locked: call 911.", "landlady"),
    (SUPPOSES, "If a neighbor who took the keys calls, tell the practice.", "neighbor"),
    (PLANS, "Which of her two lawyers should be called?", "lawyers"),
    (PLANS, "Refer to Dr. Brandvold for the next visit.", "brandvold"),
    (PLANS, "Send the letter to the patient's supervisor.", "supervisor"),
    # What is called by "the", as if there were one.
    (AIMS, "Less time at the casino.", "casino"),
    (AIMS, "Three cats fewer, and four dogs given away.", "dogs"),
    # Bad words of the patient, and deeds that nobody should do.
    (AIMS, "Stay away from cocaine.", "cocaine"),
    (AIMS, "Stops hiding pills in the mattress.", "hiding"),
    (PLANS, "Ask how often the patient steals.", "steals"),
    (PLANS, "Ask why the patient keeps lying about it.", "lying"),
    (TELLS, "Too lazy to open the box.", "lazy"),
    (TELLS, "Patient ignores whatever is advised.", "ignores"),
    (TELLS, "Practice refuses to see the patient.", "refuses"),
    # What is to happen again.
    (SUPPOSES, "If a fight breaks out again: call 911.", "fight"),
    (SUPPOSES, "If the patient still gambles: call the practice.", "gambles"),
    # What was done.
    (PLANS, "Mailed the sister a copy of the plan.", "done already"),
    (PLANS, "Transferred the patient to another team.", "done already"),
    (AIMS, "Sleeps better since the burglary.", "burglary"),
    # What a desk that works by telephone, and promises nothing, cannot have done.
    (PLANS, "Look at the knee when I visit next.", "not on the phone"),
    (SUPPOSES, "If it hurts as during our visit: call the practice.", "not on the phone"),
    (PLANS, "Send the free tablet for signing up.", "nothing was granted"),
    (PLANS, "Order the bed that the insurer approved.", "nothing was granted"),
    (TELLS, "Conference call with the practice.", "no such call"),
)

#: Honest words beside them: what is new, possible, anybody's, or taught.
HONEST = (
    (PLANS, "Ask whether a relative or friend could count the tablets."),
    (PLANS, "Offer to explain the list to a spouse or other caregiver, if the patient agrees."),
    (PLANS, "Is there a daughter, a son or a neighbor who could help?"),
    (PLANS, "Discuss keeping medicines away from children and pets."),
    (AIMS, "Names a family member to call in a crisis."),
    (SUPPOSES, "If the caregiver cannot be reached: call 911."),
    (SUPPOSES, "If a neighbor who can help is not at home: call the care manager."),
    (PLANS, "Send the letter to the clinical supervisor for review."),
    (PLANS, "Get the rugs off the floor and the lamp next to the bed."),
    (PLANS, "Pick up the refill on the way home from the clinic."),
    (PLANS, "Get the flu shot and the pneumonia vaccine."),
    (AIMS, "Keeps the swelling down, if there is any."),
    (PLANS, "Review the assesment with the pharmicist."),
    (AIMS, "Limits alcohol, does not smoke, and walks in the park."),
    (PLANS, "Ask about any use of cocaine, heroin or other drugs."),
    (PLANS, "Screen for abuse and violence at home."),
    (AIMS, "Stops running out of pills."),
    (PLANS, "Ask how often doses are missed, and why."),
    (SUPPOSES, "If the patient refuses care: talk with the supervisor."),
    (SUPPOSES, "If medicine is lost or stolen: call the pharmacy."),
    (SUPPOSES, "Signs of an overdose: call 911."),
    (SUPPOSES, "If chest pain or sudden weakness occurs: call 911."),
    (SUPPOSES, "A fall: tell the practice how the fall came about."),
    (PLANS, "Screen for depression again in four weeks."),
    (PLANS, "Call again on Monday, and ask again about sleep."),
    (PLANS, "Offer another language, and a second visit."),
    (AIMS, "Two visits kept, and each refill picked up on time."),
    (PLANS, "Explained and agreed: a call each week."),
    (PLANS, "Ask when the patient last saw the doctor, and what was said."),
    (PLANS, "Bring the list that was sent to the practice."),
    (AIMS, "Sleeps better than at the start."),
    (PLANS, "Ask for a home visit by a nurse, if the doctor orders one."),
    (PLANS, "Check whether the plan pays for a scale."),
    (PLANS, "Offer a three-way call with the practice."),
    (AIMS, "Screening score down from 14 to under 10."),
    (TELLS, "Will be called again for four weeks."),
    (TELLS, "Asked because it is part of the assessment."),
    (TELLS, "Agreed on the phone, and will be sent the plan."),
    (PLANS, "See the patient, repeat the test, and judge whether more is needed."),
    (TELLS, "Wary of phone fraud, so the number on the card was offered."),
    (PLANS, "Give the numbers of tenant help and of legal aid."),
)


def _wrong(text: str, speaks: Speaks, on_file: str = "Nothing.") -> list[str]:
    seen = Seen(Texts([on_file]), str, talked=True, pages=PAGES, other_words=other_words)
    return [*filter(None, (doubt(seen) for doubt in taken_for_granted(text, speaks)))]


@pytest.mark.parametrize(("speaks", "text", "word"), FALSE)
def test_what_is_taken_for_granted_is_seen_by_its_word(
    speaks: Speaks, text: str, word: str
) -> None:
    assert any(word in wrong for wrong in _wrong(text, speaks))


@pytest.mark.parametrize(("speaks", "text"), HONEST)
def test_what_is_new_or_anybodys_takes_nothing_for_granted(speaks: Speaks, text: str) -> None:
    assert _wrong(text, speaks) == []


@pytest.mark.parametrize(
    ("text", "speaks", "on_file"),
    [
        ("Ask the stepbrother to count the tablets.", PLANS, "My stepbrother lives with me."),
        ("Ask his mother about rides.", PLANS, "My mom drives me."),
        ("Ask the husband about rides.", PLANS, "Marital status: married"),
        ("Refer to Dr. Brandvold for the next visit.", PLANS, "Seen by Eva Brandvold, MD"),
        ("Stay away from cocaine.", AIMS, "I used cocaine last year."),
    ],
)
def test_what_stands_on_file_or_was_said_may_be_taken_for_granted(
    text: str, speaks: Speaks, on_file: str
) -> None:
    assert _wrong(text, speaks)
    assert _wrong(text, speaks, on_file) == []


def test_who_drinks_is_no_drunk_driver() -> None:
    drinks = "I drink more than I should."
    assert _wrong("Comes home drunk less often.", AIMS, drinks) == []
    assert _wrong("Win back the license lost to drunk driving.", AIMS, drinks)


def test_nothing_is_passed_over_as_plain_that_is_read_otherwise() -> None:
    assert not any(is_plain(text) for _, text, _ in FALSE)
    assert is_plain("Send a log, and read it together at each call.")
    assert is_plain("Hemoglobin A1c: 7.1 % on 2026-03-10")
    assert not is_plain("Pick up the patient\N{RIGHT SINGLE QUOTATION MARK}s shotgun.")


def test_it_is_the_same_before_and_after_something_was_read() -> None:
    forget_texts()
    before = [_wrong(text, speaks) for speaks, text, _ in FALSE]
    assert [_wrong(text, speaks) for speaks, text, _ in FALSE] == before


@pytest.mark.parametrize(
    "word", ["wife ", "liar ", "the tumor again ", "why ", "x" * 50, "_", "' "]
)
def test_a_very_long_text_is_read_to_its_end(word: str) -> None:
    taken_for_granted(word * 20_000, PLANS)


# -- in a file ---------------------------------------------------------------------------------


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch, repo_root: Path) -> ModuleType:
    monkeypatch.syspath_prepend(repo_root / "benchmarks")
    return import_module("_managed_care.texts")


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("review.clarification_needed", "Ask why the stepson moved out of the shed."),
        ("review.suspected_barriers", "Simply too stubborn to listen."),
        ("plan.goal", "Makes up with the ex-wife before the trial."),
        ("plan.measure", "The bartender counts no more than two glasses."),
        ("plan.intervention", "Persuaded the surgeon to wait."),
        ("plan.escalation", "If the kidnapper rings again: call 911."),
        ("outreach.next_steps", "Pick up the ferret from the pawnshop."),
    ],
)
def test_every_field_that_plans_asks_or_supposes_is_read(
    reading: ModuleType, field: str, text: str
) -> None:
    files = reading.Files(2)
    assert all(files.failed(turn, [reading.Text(field=field, text=text)]) for turn in range(2))


@pytest.mark.slow
def test_most_falsehoods_written_with_the_reader_fail(reading: ModuleType, repo_root: Path) -> None:
    files = reading.Files(3)
    written = reading.texts(repo_root / TEXTS / "granted_wrong.jsonl")
    assert len(written) >= 250
    assert sum(not files.failed(n, [each]) for n, each in enumerate(written)) <= _PASS_MOST


@pytest.mark.slow
def test_honest_words_written_with_the_reader_pass(reading: ModuleType, repo_root: Path) -> None:
    files = reading.Files(3)
    written = reading.texts(repo_root / TEXTS / "granted_right.jsonl")
    assert len(written) >= 450
    assert [each.text for n, each in enumerate(written) if files.failed(n, [each])] == []

"""What the handbook shows as a reason is one by the grammar that reasons are read by."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.reading.reasons import Reason, read_reason
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.worlds.managed_care.handbook.edition import written_library
from healthgym.worlds.managed_care.policies.loading import library

REASONS = "provider-pa/operational/do-not-submit-reasons.md"
GAPS = "provider-pa/operational/naming-gaps.md"
EXAMPLE = "provider-pa/examples/gap-list.md"


def quoted(path: str) -> list[Reason]:
    """Return the reasons that a page quotes."""
    lines = written_library().read(path).text.splitlines()
    texts = [line.removeprefix("> ") for line in lines if line.startswith("> ") and ":" in line]
    return [read_reason(text, library()) for text in texts]


def test_the_table_has_the_code_of_every_bar_and_no_other() -> None:
    rows = [row for row in written_library().read(REASONS).text.splitlines() if "| `" in row]
    assert [row.split("|")[2].strip(" `") for row in rows] == [str(bar) for bar in Bar]


def test_each_bar_is_shown_with_what_it_rests_on() -> None:
    shown = {code: reason for reason in quoted(REASONS) for code in reason.codes}
    assert set(shown) == {str(bar) for bar in Bar}
    assert all(len(reason.codes) == 1 for reason in quoted(REASONS))
    assert shown[str(Bar.INACTIVE)].days == {date(2026, 2, 28), date(2026, 3, 24)}
    assert all(date(2026, 3, 24) in reason.days for reason in shown.values())
    assert not shown[str(Bar.INACTIVE)].policies
    assert shown[str(Bar.NOT_REQUIRED)].names("97110")
    assert shown[str(Bar.OUT_OF_NETWORK)].names("Larkfield Select HMO")
    assert shown[str(Bar.CONTRADICTED)].criteria == {"C2"}
    named = [shown[str(bar)].policies for bar in Bar if bar is not Bar.INACTIVE]
    assert all(len(policies) == 1 for policies in named)


@pytest.mark.parametrize("place", [0, 1])
def test_a_list_of_gaps_names_one_policy_its_criteria_and_no_code(place: int) -> None:
    reason = quoted(GAPS)[place]
    assert len(reason.policies) == 1
    assert reason.criteria
    assert not reason.codes


def test_the_first_list_of_gaps_names_a_kind_of_document() -> None:
    assert quoted(GAPS)[0].kinds == {"imaging_report"}
    assert quoted(GAPS)[0].criteria == {"C2", "C5"}


def test_the_worked_example_records_its_gaps_and_no_more() -> None:
    text = written_library().read(EXAMPLE).text
    recorded = read_reason(text.partition("Recorded as *")[2].partition("*")[0], library())
    assert recorded.criteria == {"C2", "C4", "C5"}
    assert read_reason(text, library()).criteria == recorded.criteria
    assert len(recorded.policies) == 1


def test_the_tool_shows_reasons_of_both_kinds() -> None:
    manual = AuthToolset.finalize_provider_determination.__doc__ or ""
    reason = read_reason(manual, library())
    assert reason.policies == {"MP-SUR-042"}
    assert reason.criteria >= {"C2", "C5"}
    assert str(Bar.INACTIVE) in reason.codes


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Criterion 3 asks for twelve weeks of supervised exercise.", {"C3"}),
        ("Criteria 1, 2 and 6 are not met.", {"C1", "C2", "C6"}),
        ("Not met: criteria 3, 4, and C7.", {"C3", "C4", "C7"}),
        ("Disputed: duration of therapy (criterion no. 4).", {"C4"}),
        ("Criterion 3, 12 weeks of exercise, and 6 sessions", {"C3"}),
        ("The criterion 12 weeks, or 8-week courses, was met in criteria 2 of 5.", set()),
        ("A criterion 2026-03-01 or 88 % or 3.5 names none.", set()),
    ],
    ids=["one", "several", "mixed", "numbered", "before a length", "lengths", "numbers"],
)
def test_a_criterion_is_named_by_its_number_in_words_too(text: str, named: set[str]) -> None:
    assert read_reason(text).criteria == named


@pytest.mark.parametrize(
    ("path", "heading", "named"),
    [
        ("payer-um/examples/peer-to-peer-call.md", "## Summary on file", {"C4"}),
        ("payer-um/operational/letters.md", "## How to write it", {"C3"}),
    ],
    ids=["the summary of a call", "a denial"],
)
def test_what_the_payer_s_pages_write_names_its_criterion(
    path: str, heading: str, named: set[str]
) -> None:
    section = written_library().read(path).text.partition(heading)[2].partition("\n## ")[0]
    assert read_reason(section).criteria == named

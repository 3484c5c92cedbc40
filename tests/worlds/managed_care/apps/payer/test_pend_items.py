"""What a request for information lists: an item a line or between semicolons, and what goes on."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.apps.payer.pends import items


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("C2: the scan\nC6: the weight", 2),
        ("C2: the scan; C6: the weight", 2),
        ("C2: the scan; imaging report", 2),
        ("imaging_report; lab_result", 2),
        ("C6: the latest weight; the note of January is an unsigned draft", 1),
        (
            "C5: a signed list; no limit on its date.\nC8: a note; the last word is unsigned; none",
            2,
        ),
        ("Records on the knee; whatever else there is", 2),
        (" - C1\n\n; C2;", 2),
    ],
)
def test_what_names_nothing_goes_on_with_the_criterion_before_it(text: str, listed: int) -> None:
    found = items(text)
    assert len(found) == listed
    told = " ".join(found)
    assert all(word in told for word in text.replace(";", " ").split() if word != "-")

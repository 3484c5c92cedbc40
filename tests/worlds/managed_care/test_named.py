"""Names in a sentence, and what only looks like one."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts

_FILE = Texts(["MRI of 2026-02-17: no tumor of the colon, lung or breast was looked for."])
SEEN = Seen(_FILE, str, talked=False)


@pytest.mark.parametrize(
    "text",
    [
        "It was marked VOID, and left out.",
        "The case is not RN-approvable.",
        "Sent by the Grp, with XQ.",
        "The MRIs state a diameter only.",
        "The rule of Texas was followed.",
        "No cancer of stomach, liver or kidney is on record.",
        "May I ask for one more page?",
    ],
)
def test_what_names_nobody_and_nothing_is_free(text: str) -> None:
    assert not list(uncovered(text, SEEN))


@pytest.mark.parametrize(
    "text",
    ["It was seen by Abernathy.", "She had CABG.", "The CTs show it.", "Cancer of the kidney."],
)
def test_a_name_an_operation_or_an_illness_has_to_be_there(text: str) -> None:
    assert list(uncovered(text, SEEN))

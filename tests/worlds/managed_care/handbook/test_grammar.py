"""The bank of sentences: alternatives, bindings, broken files."""

from pathlib import Path

import numpy as np
import pytest

from healthgym.errors import DamagedDataError
from healthgym.worlds.managed_care.handbook.grammar import Writer

BANK = """@fruit
apple|pear
plum
@line
a {red|ripe} <fruit> and <#3-5> more
"""


def writer(tmp_path: Path, text: str = BANK) -> Writer:
    path = tmp_path / "bank.txt"
    path.write_text(text, "utf-8")
    made = Writer([path])
    made.begin(np.random.default_rng(0))
    return made


def test_all_alternatives_and_numbers_come_up(tmp_path: Path):
    made = writer(tmp_path)
    lines = {made.write("line") for _ in range(400)}
    assert lines == {
        f"A {how} {fruit} and {number} more"
        for how in ("red", "ripe")
        for fruit in ("apple", "pear", "plum")
        for number in (3, 4, 5)
    }
    assert made.alternatives("fruit") == ["apple", "pear", "plum"]


def test_a_bound_rule_gives_its_text(tmp_path: Path):
    made = writer(tmp_path)
    made.bind("fruit", "fig", 10)
    assert all(" fig " in made.write("line") for _ in range(20))
    made.bind("fruit", "fig", 5)
    shares = sum(" fig " in made.write("line") for _ in range(400)) / 400
    assert 0.4 < shares < 0.6
    made.release()
    assert not any(" fig " in made.write("line") for _ in range(50))


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("apple\n", "bank.txt:1", "begins with a rule"),
        ("@a\nx\n@b\n<c>\n", "bank.txt:3", "no rule @c"),
        ("@a\nx {y\n", "bank.txt:1", "not closed"),
        ("@a\nx } y\n", "bank.txt:1", "did not open"),
        ("@a\nx <#3> y\n", "bank.txt:1", "broken mark"),
        ("@a\nx\n@a\ny\n", "bank.txt:3", "twice"),
    ],
    ids=["no-rule", "unknown", "open", "closed", "mark", "twice"],
)
def test_a_broken_bank_names_file_and_line(tmp_path: Path, text, where, what):
    with pytest.raises(DamagedDataError) as caught:
        writer(tmp_path, text)
    assert where in str(caught.value)
    assert what in str(caught.value)


SECTION = """@topic
fever|cough|rash
@note
first|second|third
@pair
<topic> before <topic>
"""


def test_a_section_says_everything_once_before_it_says_anything_twice(tmp_path: Path):
    made = writer(tmp_path, SECTION)
    for _ in range(20):
        made.release()
        assert {made.write("note") for _ in range(3)} == {"First", "Second", "Third"}
        assert {made.write("note") for _ in range(3)} == {"First", "Second", "Third"}


def test_a_sentence_names_two_things_where_it_has_two_places(tmp_path: Path):
    made = writer(tmp_path, SECTION)
    pairs = [made.write("pair").lower().split(" before ") for _ in range(60)]
    assert sum(one == other for one, other in pairs) <= 2
    made.bind("topic", "fever", 9)
    pairs = [made.write("pair").lower().split(" before ") for _ in range(60)]
    assert sum("fever" in pair for pair in pairs) > 40
    assert sum(one == other for one, other in pairs) <= 2

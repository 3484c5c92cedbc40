"""The published reader of predictions, line by line."""

from __future__ import annotations

import pytest

from healthgym.envs.ct_abnormality.predictions import (
    FALSE_TOKENS,
    TRUE_TOKENS,
    frames,
    parse_plain,
    parse_published,
    score,
    spread,
)

LABELS = ("Cardiomegaly", "Lung nodule")


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("Cardiomegaly: NO , because", {"cardiomegaly": False}),
        ("Lung nodule: maybe", {}),
        ("  lung NODULE :  Yes  ", {"lung nodule": True}),
        ("# Lung nodule: yes", {}),
        ("", {}),
        ("Lung nodule yes", {}),
        ("Lung nodule: yes, no", {"lung nodule": True}),
        ("Lung nodule: yes no", {}),
        ("Lung nodule:: yes", {}),
        ("Gout: yes", {"gout": True}),
    ],
)
def test_lines_are_read_as_published(line: str, call: dict[str, bool]) -> None:
    assert parse_published([line]) == call


def test_all_published_tokens_are_read() -> None:
    assert all(parse_published([f"x: {token.upper()}"]) == {"x": True} for token in TRUE_TOKENS)
    assert all(parse_published([f"x: {token}"]) == {"x": False} for token in FALSE_TOKENS)
    assert len(TRUE_TOKENS) == len(FALSE_TOKENS) == 7


def test_the_last_line_of_a_finding_counts() -> None:
    lines = ["Lung nodule: yes", "lung nodule: no"]
    assert parse_published(lines) == {"lung nodule": False}
    assert parse_published([*lines, "Lung nodule: perhaps"]) == {"lung nodule": False}


def test_plain_lines_say_one_thing_in_words_of_the_source() -> None:
    for line in ("Lung nodule: yes", "lung nodule:YES", " Lung nodule :  positive "):
        assert parse_plain(line, LABELS) == ("Lung nodule", True)
        assert parse_published([line]) == {"lung nodule": True}
    assert parse_plain("Lung nodule: no", LABELS) == ("Lung nodule", False)
    for line in (
        "Emphysema: yes",
        "Lung nodule: yes, or not",
        "Lung nodule",
        "No lung nodule: yes",
    ):
        assert parse_plain(line, LABELS) is None


@pytest.mark.parametrize(
    "line",
    [
        "- Lung nodule: yes",
        "3. Lung nodule: yes",
        "**Lung nodule**: Yes.",
        "Lung_nodule = present",
        "| Lung nodule | yes |",
        '"lung nodule": "positive"',
        '  "Lung nodule": "yes",',
        '"Lung nodule": true,',
        "Lung nodule: yes;",
        "Lung nodule - yes",
        "- **Lung nodule** \u2014 *Yes*",
        "Lung nodule -> present",
        "Lung nodule => 1",
        "Lung nodule\tyes",
        "lung_nodule,1",
        "(2) Lung nodule | yes",
        "b) Lung nodule: yes",
        "| 2 | Lung nodule | yes |",
        "Lung nodule: seen",
        "Lung nodule: yes (present)",
        "Lung nodule is present.",
    ],
)
def test_lines_are_read_as_a_person_sets_them_out(line: str) -> None:
    assert parse_plain(line, LABELS) == ("Lung nodule", True)


@pytest.mark.parametrize("word", ["not present", "Not seen.", "none", "absent", "no (not seen)"])
def test_what_is_not_seen_is_not_there(word: str) -> None:
    assert parse_plain(f"Lung nodule: {word}", LABELS) == ("Lung nodule", False)


@pytest.mark.parametrize(
    "line",
    [
        "Lung nodule: yes - no",
        "Lung nodule,yes,no",
        "Lung nodule: yes (no)",
        "Lung nodule: no (present)",
        "Lung nodule: yes (probable)",
        "Lung nodule: not absent",
        "Lung nodule: not not present",
        "Lung nodule: not no",
        "Lung nodule - probably yes",
        "Lung nodule 1",
        "Lung nodule -1",
        "Lung nodule-1",
        "Lung nodule: -1",
        "Lung nodules: yes",
        "Lung nodule (left): yes",
        "Cardiomegaly: no, lung nodule: yes",
        "No lung nodule - yes",
        "Lung nodule is",
    ],
)
def test_a_line_that_may_say_two_things_is_not_read(line: str) -> None:
    assert parse_plain(line, LABELS) is None


READ = {("Cardiomegaly", False), ("Lung nodule", True)}


@pytest.mark.parametrize(
    "text",
    [
        '{"Cardiomegaly": "no", "Lung nodule": "yes"}',
        '```json\n{"Cardiomegaly": false, "Lung nodule": true}\n```',
        '{"predictions": {"cardiomegaly": 0, "lung_nodule": 1}}',
        '[{"finding": "Cardiomegaly", "answer": "no"},\n{"label": "Lung nodule", "present": true}]',
        '{"Cardiomegaly": "no"}\n{"finding": "Lung nodule", "answer": "yes"}',
        '["Cardiomegaly: no", "Lung nodule: yes"]',
        '\ufeff{\n"Cardiomegaly": "not present",\n"Lung nodule": "present"\n}',
    ],
)
def test_json_is_read_call_by_call(text: str) -> None:
    assert {parse_plain(line, LABELS) for line in spread(text.splitlines())} == READ


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"A": "yes", "A": "no"}', ("A: yes", "A: no")),
        ('{"A": "yes", "comment": "not so"}', ("A: yes", "comment: not so")),
        ('{"A": ["yes", "no"]}', ('A: ["yes", "no"]',)),
        ('{"A": null, "B": 0.5}', ("A: null", "B: 0.5")),
        (
            '[{"finding": "A", "answer": "yes", "present": false}]',
            ("finding: A", "answer: yes", "present: no"),
        ),
        ('{"calls": {"A": "yes"}, "retracted": true}', ('calls: [["A", "yes"]]', "retracted: yes")),
        ('{"A": "yes"}\nA: no', ("A: yes", "A: no")),
        ('{"A": "yes"', ('{"A": "yes"',)),
    ],
    ids=["twice", "beside", "both", "neither", "two", "holder", "after", "broken"],
)
def test_nothing_that_json_says_is_lost(text: str, lines: tuple[str, ...]) -> None:
    assert spread(text.splitlines()) == lines


def test_json_of_any_depth_stays_a_line_that_cannot_be_read() -> None:
    (line,) = spread(["[" * 5000 + "]" * 5000])  # how deep Python reads depends on its version
    assert set(line) == {"[", "]"}
    assert parse_plain(line, ["A"]) is None


@pytest.mark.parametrize(
    "line",
    [
        "Here are my calls:",
        "Here's my reading:",
        "Here are my final predictions for this chest CT:",
        "**Chest CT findings**",
        "### Final Answer",
        "finding\tanswer",
        "| # | Finding | Present? |",
        "rank,finding,answer",
        "```json",
    ],
)
def test_what_announces_a_list_frames(line: str) -> None:
    assert frames(line, LABELS)


@pytest.mark.parametrize(
    "line",
    [
        "These are not my calls:",
        "Prior CT findings:",
        "Absent findings:",
        "Wrong calls:",
        "All calls are reversed.",
        "Here is Lung nodule:",
        "No findings: present",
        "No, findings: present",
    ],
)
def test_a_heading_that_may_take_back_does_not_frame(line: str) -> None:
    assert not frames(line, LABELS)


def test_only_what_says_nothing_frames() -> None:
    for line in ("Predictions:", "| finding | answer |", "|---|---|", "## Results", "```"):
        assert frames(line, LABELS)
    for line in (
        "All of the above is wrong.",
        "Of another patient:",
        "Lung nodule:",
        "No findings",
    ):
        assert not frames(line, LABELS)


@pytest.mark.parametrize("line", ["{", "}"])
def test_what_holds_an_object_together_frames(line: str) -> None:
    assert frames(line, LABELS)


@pytest.mark.parametrize("line", ["|:---|---:|", "| --- | :---: |", "--- ---", "|:---: | ---"])
def test_the_rule_below_a_tables_head_frames(line: str) -> None:
    assert frames(line, LABELS)


@pytest.mark.parametrize("rule", ["-", "---:", "--- ", "| --- ", ":---:"])
def test_a_rule_that_is_none_in_the_end_is_seen_at_once(rule: str) -> None:
    assert not frames(rule * 5000 + "x", LABELS)


def test_a_missing_call_is_wrong_and_counts_as_published() -> None:
    truth = {"Cardiomegaly": False, "Lung nodule": True}
    metrics = score({"lung nodule": True}, truth)
    assert metrics["accuracy"] == 0.5
    # The per-trial counts put the missing call of an absent finding with the false negatives.
    assert (metrics["false_negative"], metrics["false_positive"]) == (1.0, 0.0)
    assert metrics["missing"] == 1.0


def test_each_outcome_has_its_count() -> None:
    truth = {"A": True, "B": True, "C": False, "D": False}
    metrics = score({"a": True, "b": False, "c": True, "d": False}, truth)
    names = ("true_positive", "false_negative", "false_positive", "true_negative")
    assert [metrics[name] for name in names] == [1.0] * 4
    assert metrics["accuracy"] == 0.5


def test_a_mark_before_a_saved_text_says_nothing() -> None:
    assert parse_plain("\ufeffLung nodule: yes", LABELS) == ("Lung nodule", True)
    assert frames("\ufeff## Findings", LABELS)
    assert parse_plain("\u200bLung nodule: yes", LABELS) is None

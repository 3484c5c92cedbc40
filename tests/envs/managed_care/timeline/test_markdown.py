"""The handbook's markdown as HTML."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.timeline.markdown import to_html
from tests.envs.managed_care.timeline.played import Reader


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A\n\nb\nc", "<h2>A</h2>\n<p>b c</p>"),
        ("- a\n  - b\n    more\n- c", "<ul><li>a<ul><li>b more</li></ul></li><li>c</li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("> a\n> - b", "<blockquote><p>a</p><ul><li>b</li></ul></blockquote>"),
        ("a **b** *c* `d*e*` f_g_h", "<p>a <b>b</b> <i>c</i> <code>d*e*</code> f_g_h</p>"),
        ("[a](/b.md#c)", '<p><span class="link" title="/b.md#c">a</span></p>'),
        ("a < b & c", "<p>a &lt; b &amp; c</p>"),
    ],
    ids=["paragraph", "nested", "ordered", "quote", "spans", "link", "escaped"],
)
def test_a_piece(text: str, html: str) -> None:
    assert to_html(text) == html


def test_a_table_has_its_head() -> None:
    shown = to_html("| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |")
    assert "<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>" in shown


def test_a_wide_table_of_one_row_stands_upright() -> None:
    shown = to_html("| a | b | c | d | e |\n|---|---|---|---|---|\n| 1 | 2 | 3 | 4 | 5 |")
    assert shown.count("<tr>") == 5
    assert "<tr><td>e</td><td>5</td></tr>" in shown


def test_marks_stand_beside_labels_in_lists_and_tables() -> None:
    text = "- **C1.** a\n  - **G2 · T.** b\n\n| No. | R |\n| --- | --- |\n| C2 | c |\n| 30520 | d |"
    asked: list[str] = []

    def mark(label: str) -> str:
        asked.append(label)
        return f"<u>{label}</u>" if label != "G2" else ""

    shown = to_html(text, mark)
    assert sorted(asked) == ["C1", "C2", "G2"]
    assert "<td>c<u>C2</u></td>" in shown
    assert "a<u>C1</u><ul>" in shown


@pytest.mark.parametrize(
    "text",
    ["*a `b* c`", "**a *b** c*", "[**x**](y)", "`", "|", "- ", "#", "|-|\n|-|", "  - a\n- b"],
)
def test_tags_never_cross(text: str) -> None:
    assert Reader(to_html(text)).faults == []


def test_every_page_of_the_handbook_is_well_formed() -> None:
    handbook = standing_handbook()
    faults = {path: Reader(to_html(handbook.read(path).text)).faults for path in handbook.paths()}
    assert len(faults) > 100
    assert {path: found for path, found in faults.items() if found} == {}

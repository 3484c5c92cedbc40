"""The page of episodes in a real browser; left out where there is none.

It takes the extra `browser`, and chromium as systems package it: `apt-get install chromium`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.core.trajectory import Trajectory
from healthgym.policies.statistics import wilson_interval
from healthgym.presentation.pictures import data_url, png
from healthgym.presentation.viewer import Answer, PageData, Section, Shown, page
from tests.core.signs import SIGNS_ID

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("jinja2")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium"),
    # Playwright leaves its own sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
Page = Any

#: Each would change the page's title if a browser took it for more than text.
HOSTILE = (
    "<script>document.title='ran'</script>",
    "</script><script>document.title='ran'</script>",
    "<img src=x onerror=\"document.title='ran'\">",
    "<svg onload=\"document.title='ran'\"><a href=\"javascript:document.title='ran'\">x</a></svg>",
    "<a href=\"javascript:document.title='ran'\">click</a>",
    "<iframe srcdoc=\"<script>parent.document.title='ran'</script>\"></iframe>",
    "javascript:document.title='ran'",
    "'\"><details open ontoggle=document.title='ran'>",
    "{{ 7 * 7 }}{% raw %}",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Page]:
    """Yield a tab in which any error, and any request beyond the file, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on(
        "console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else 0
    )
    tab.on(
        "request",
        lambda asked: (
            None if asked.url.startswith(("file:", "data:")) else faults.append(asked.url)
        ),
    )
    yield tab
    context.close()
    assert faults == []


@pytest.fixture(scope="module")
def runs() -> list[Trajectory]:
    env = gym.make(SIGNS_ID).unwrapped
    found = []
    for side in ("left", "right"):
        for index in range(8):
            env.reset(options={"index": index})
            env.step(call("look"))
            env.step("I shall ask.\n" + '{"name": "ask", "arguments": {}}')
            env.step(call("submit", side=side))
            found.append(env.trajectory())
    return found


def picture(name: str) -> str:
    return data_url(png(np.full((24, 32), 90, np.uint8)))


def opened(tab: Page, path: Path, data: PageData, at: str = "") -> None:
    path.write_text(page(data, picture), encoding="utf-8")
    tab.goto(f"{path.as_uri()}{at}")
    tab.wait_for_selector("#count, .episode")


def two(runs: list[Trajectory], **more: Any) -> PageData:
    shown = [Shown(run, "left" if place < 8 else "right") for place, run in enumerate(runs)]
    return PageData("Signs", shown, **more)


def count(tab: Page) -> int:
    return int(tab.inner_text("#count").split()[0])


def strict(run: Trajectory) -> bool:
    return bool(run.verdicts["agent"]["strict"]["success"])


def test_episodes_are_filtered_and_counted(
    tab: Page, tmp_path: Path, runs: list[Trajectory]
) -> None:
    opened(tab, tmp_path / "a.html", two(runs))
    assert count(tab) == 16
    solved = sum(map(strict, runs))
    tab.select_option("#filter-outcome", "solved")
    assert count(tab) == solved
    tab.select_option("#filter-run", "0")
    left = sum(map(strict, runs[:8]))
    assert count(tab) == left
    tab.click("#clear")
    assert count(tab) == 16
    # Totals are those of what is chosen, with Wilson's interval.
    tab.select_option("#filter-run", "0")
    share = wilson_interval(left, 8)
    expected = f"{100 * left / 8:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"
    assert expected in tab.inner_text("#totals")
    tab.click("#clear")
    failed = tab.locator("#filter-failed option").all_inner_texts()
    name, _, number = failed[1].partition(" (")
    tab.select_option("#filter-failed", label=failed[1])
    assert count(tab) == int(number.rstrip(")"))
    assert name in tab.inner_text("table.episodes tbody tr")
    tab.click("#clear")
    tab.fill("#filter-low", "0.5")
    assert count(tab) == sum(run.rewards["agent"] >= 0.5 for run in runs)
    tab.fill("#filter-shortest", "4")
    assert count(tab) == 0


def test_the_search_reads_actions_and_results(
    tab: Page, tmp_path: Path, runs: list[Trajectory]
) -> None:
    needle = 'Say "naïve\nline" \\ 7'
    turn = replace(runs[3].turns[0], observation=f"before {needle} after")
    changed = [*runs[:3], replace(runs[3], turns=(turn, *runs[3].turns[1:])), *runs[4:]]
    opened(tab, tmp_path / "a.html", two(changed))
    tab.fill("#search", "NAÏVE")
    tab.wait_for_selector("#count:text-matches('^1 of')")
    assert tab.locator("table.episodes tbody tr").count() == 1
    tab.fill("#search", "shall ask")
    tab.wait_for_selector("#count:text-matches('^16 of')")
    tab.fill("#search", "in no episode")
    tab.wait_for_selector("#count:text-matches('^0 of')")
    tab.fill("#search", "signs/train/5")
    tab.wait_for_selector("#count:text-matches('^2 of')")


def test_an_episode_opens_and_leads_on(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    opened(tab, tmp_path / "a.html", two(runs))
    tab.click("text=toy-signs/train/2")
    tab.wait_for_selector(".episode")
    assert tab.locator(".turn").count() == 3
    assert tab.inner_text(".turn:nth-child(1) .call").strip() == "look"
    assert "I shall ask." in tab.inner_text(".turn:nth-child(2) .wrote")
    assert tab.inner_text(".turn:nth-child(3) dl").split() == ["side", "left"]
    image = tab.locator(".turn img")
    assert image.evaluate("image => image.naturalWidth") == 32
    assert tab.locator(".verdict").first.inner_text().startswith("strict")
    tab.click("#next")
    tab.wait_for_selector("h2:has-text('toy-signs/train/3')")
    tab.go_back()
    tab.wait_for_selector("h2:has-text('toy-signs/train/2')")


def test_failed_checks_come_first(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    number = next(place for place, run in enumerate(runs) if not strict(run))
    opened(tab, tmp_path / "a.html", two(runs), f"#/episode/{number}")
    verdict = tab.locator(".verdict").first
    assert verdict.locator("td.no").first.is_visible()
    assert not verdict.locator("td.ok").first.is_visible()


def test_two_runs_are_compared(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    opened(tab, tmp_path / "a.html", two(runs))
    tab.click("text=Compare two runs")
    tab.wait_for_selector("#difference")
    gained = sum(not strict(a) and strict(b) for a, b in zip(runs[:8], runs[8:], strict=True))
    assert f"({gained})" in tab.inner_text("[data-kind=gained]")
    assert "on 8 tasks" in tab.inner_text("#difference")
    tab.click("[data-kind=gained]")
    assert count(tab) == gained
    tab.click("table.pairs tbody a >> nth=0")
    tab.wait_for_selector(".beside")
    badges = tab.locator(".beside .badge").all_inner_texts()
    assert badges == ["not solved", "solved"]


def test_nothing_recorded_is_ever_run(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    text = "\n".join(HOSTILE)
    record = str([{"name": each} for each in HOSTILE]).replace("'", '"')
    turn = replace(
        runs[0].turns[0], action=text, observation=text, news=text, role=text, time=text,
        errors=(text,), pictures=(HOSTILE[2],),
    )  # fmt: skip
    called = replace(
        turn, action=f'{{"name": "look", "arguments": {record[1:-1].split(", {")[0]}}}'
    )
    check = {"name": text, "requirement": text, "passed": False, "detail": text}
    verdict = {"success": False, "checks": [check], "parts": {text: {"checks": [check]}}}
    hostile = replace(
        runs[0], task_id=text, kind=text, env_id=text, fault=text, version=text,
        instructions={text: text, "agent": text}, turns=(turn, called),
        verdicts={text: {"strict": verdict, text: verdict}}, rewards={text: 0.0},
    )  # fmt: skip
    answer = Answer((ToolCall(text, {text: [{text: text}]}),), {text: text})
    section = Section(text, [[text], [text]], alt=text, notes=[text])
    shown = [Shown(hostile, text, answer), Shown(replace(hostile, kind="b"), "b", answer)]
    data = PageData(text, shown, text, [section], (text, "b"), answers=True)
    opened(tab, tmp_path / "a.html", data)
    title = tab.title()
    assert title != "ran"
    for place in ("#/episode/0", "#/pair/0/1", "#/compare/0/1", "#/"):
        tab.goto(f"{(tmp_path / 'a.html').as_uri()}{place}")
        tab.wait_for_selector("#count, .episode")
        tab.wait_for_timeout(50)
        assert tab.title() == title
        foreign = "iframe, [onerror], [onload], [ontoggle], svg a, a[href^=javascript]"
        assert tab.locator(foreign).count() == 0
    # In the table, in the options of the filters, and in an episode it is there to be read.
    tab.goto(f"{(tmp_path / 'a.html').as_uri()}#/episode/0")
    tab.wait_for_selector(".episode")
    for each in HOSTILE[:5]:
        assert each in tab.inner_text(".result >> nth=0")


def test_what_would_turn_or_hide_text_is_written_out(
    tab: Page, tmp_path: Path, runs: list[Trajectory]
) -> None:
    turn = replace(runs[0].turns[0], observation="pay \u202e001\u202c now\x1b[2J\u200b.")
    data = PageData("Signs", [Shown(replace(runs[0], turns=(turn,)), "mine")])
    opened(tab, tmp_path / "a.html", data, "#/episode/0")
    assert "pay ⟨202e⟩001⟨202c⟩ now⟨001b⟩[2J⟨200b⟩." in tab.inner_text(".result")


def test_results_are_laid_out(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    results = (
        '{"resourceType": "Bundle", "entry": [{"id": "1", "on": true}, {"id": "2"}]}',
        "total: 2\nitems:\n  id | name | born\n  P-1 | Ann | 1990\n    order: a\n  P-2 | Bo |",
        "P-1 | Ann | 1990-01-02",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "a | b\n[not json",
    )
    turns = tuple(replace(runs[0].turns[0], observation=each) for each in results)
    data = PageData("Signs", [Shown(replace(runs[0], turns=turns), "mine")])
    opened(tab, tmp_path / "a.html", data, "#/episode/0")

    def cells(turn: int) -> list[list[str]]:
        rows = tab.locator(f"#turn-{turn} .result tr").all()
        return [row.locator("th, td").all_inner_texts() for row in rows]

    assert cells(1) == [["id", "on"], ["1", "true"], ["2", ""]]
    assert cells(2) == [
        ["id", "name", "born"], ["P-1", "Ann", "1990"], ["order: a"], ["P-2", "Bo", ""]
    ]  # fmt: skip
    # What belongs to a row is as wide as the row, and not as its first cell.
    row, further = (tab.locator(f"#turn-2 .result tr >> nth={n}").bounding_box() for n in (1, 2))
    inside = tab.locator("#turn-2 .result tr >> nth=2").locator("td").bounding_box()
    assert inside["width"] == pytest.approx(row["width"], rel=0.02)
    assert further["width"] == pytest.approx(row["width"], rel=0.02)
    assert cells(3) == cells(5) == []
    assert cells(4) == [["a", "b"], ["1", "2"]]
    tab.click("#turn-2 .swap")
    assert tab.inner_text("#turn-2 pre") == results[1]


def test_answers_wait_behind_a_switch(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    answer = Answer((ToolCall("submit", {"side": "right"}),), {"side": "right"})
    data = PageData("Signs", [Shown(runs[0], "mine", answer)], answers=True)
    opened(tab, tmp_path / "a.html", data, "#/episode/0")
    assert not tab.is_visible(".answer")
    tab.check("#answers")
    assert "submit" in tab.inner_text(".answer")
    tab.uncheck("#answers")
    assert not tab.is_visible(".answer")


def test_keys_lead_through_the_page(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    opened(tab, tmp_path / "a.html", two(runs))
    for key in ("j", "j", "k", "j", "Enter"):
        tab.keyboard.press(key)
    tab.wait_for_selector("h2:has-text('toy-signs/train/2')")
    tab.keyboard.press("n")
    tab.wait_for_selector("h2:has-text('toy-signs/train/3')")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("table.episodes")
    assert "toy-signs/train/3" in tab.inner_text("tr.chosen")
    tab.keyboard.press("/")
    tab.wait_for_selector("#search:focus")
    tab.keyboard.type("jn")
    assert tab.input_value("#search") == "jn"
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    assert tab.is_visible("dialog")


def test_a_telephone_shows_it_without_scrolling_aside(
    browser: Any, tmp_path: Path, runs: list[Trajectory]
) -> None:
    wide = Section("Wide", [[f"column {place}" for place in range(30)]])
    path = tmp_path / "a.html"
    path.write_text(page(two(runs, sections=[wide]), picture), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        for at in ("#/", "#/episode/0", "#/compare/0/1", "#/pair/0/8"):
            tab.goto(f"{path.as_uri()}{at}")
            tab.wait_for_selector("#count, .episode")
            assert tab.evaluate("document.documentElement.scrollWidth") == 390
            ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (max(map(int, ground[4:-1].split(","))) < 60) == (scheme == "dark")
    tab.close()


def test_the_course_can_be_read_on_a_telephone(
    browser: Any, tmp_path: Path, runs: list[Trajectory]
) -> None:
    turns = tuple(replace(runs[0].turns[0], reward=0.01) for _ in range(120))
    path = tmp_path / "a.html"
    data = PageData("Signs", [Shown(replace(runs[0], turns=turns), "mine")])
    path.write_text(page(data, picture), encoding="utf-8")
    for width in (390, 1280):
        tab = browser.new_page(viewport={"width": width, "height": 800})
        tab.goto(f"{path.as_uri()}#/episode/0")
        tab.wait_for_selector(".course")
        frame = tab.locator(".course").bounding_box()
        words = [each.bounding_box() for each in tab.locator(".course text").all()]
        assert min(word["height"] for word in words) > 10
        assert max(word["x"] + word["width"] for word in words) <= frame["x"] + frame["width"]
        tab.close()


@pytest.mark.slow
def test_ten_thousand_episodes_are_found_and_paged(
    tab: Page, tmp_path: Path, runs: list[Trajectory]
) -> None:
    half = 5000
    shown = [
        Shown(replace(runs[side * 8 + index % 8], task_id=f"signs/train/{index}"), name)
        for side, name in enumerate(("left", "right"))
        for index in range(half)
    ]
    opened(tab, tmp_path / "a.html", PageData("Signs", shown))
    assert tab.inner_text("#count").startswith("10,000 of 10,000")
    assert tab.locator("table.episodes tbody tr").count() == 100
    tab.fill("#search", "train/4321")
    tab.wait_for_selector("#count:text-matches('^2 of')")
    tab.click("table.episodes tbody a >> nth=1")
    tab.wait_for_selector("h2:has-text('signs/train/4321')")
    assert tab.locator(".turn").count() == 3
    tab.click("text=all episodes")
    tab.click("#clear")
    tab.click("text=Compare two runs")
    tab.wait_for_selector("#difference:has-text('on 5000 tasks')")


def test_on_paper_everything_is_open(tab: Page, tmp_path: Path, runs: list[Trajectory]) -> None:
    opened(tab, tmp_path / "a.html", two(runs), "#/episode/0")
    assert tab.locator("details:not([open])").count() > 0
    tab.emulate_media(media="print")
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not([open])").count() == 0
    assert not tab.is_visible(".views")
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details:not([open])").count() > 0

"""The verdict: parity with the published evaluator, and the holes that strict closes."""

import json
from types import SimpleNamespace

import pytest

from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.tumor_area import verifier
from healthgym.envs.tumor_area.submission import read_paper, write
from healthgym.envs.tumor_area.task import TumorReference
from healthgym.envs.tumor_area.verifier import TumorAreaVerifier
from healthgym.worlds.slides.grid import TILE, TileGrid

ID = "tumor-area/test/3"
ASKED = "Select the tiles with tumour in them."
GOLD = [(x, y) for y in range(2) for x in range(10)]
REFERENCE = TumorReference(tuple(GOLD), dict.fromkeys(GOLD, 200) | {(0, 5): 40})
OTHERS = [(x, 7) for x in range(20)]


#: Tiles with tissue, a fifth of which are tumour.
TISSUE = [(x, y) for y in range(5) for x in range(20)]


@pytest.fixture(autouse=True)
def tissue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "tissue_of", lambda slide: TISSUE)


def verdict(profile, tiles=(), text=None, reference=REFERENCE):
    evidence = SimpleNamespace(
        task=SimpleNamespace(task_id=ID, instruction=ASKED),
        reference=reference,
        after=SimpleNamespace(
            tiles=frozenset(tiles), text=text, grid=TileGrid(20 * TILE, 20 * TILE), slide=None
        ),
        submission={},
    )
    return Verdict.from_judgement(profile, TumorAreaVerifier().judge(evidence, profile))


def both(**kwargs):
    return [verdict(profile, **kwargs) for profile in Profile]


def failed(found):
    return {result.check.name for result in found.checks if not result.passed}


def row(tiles, **more):
    return {"task_id": ID, "predicted_tumor_tiles": [{"x": x, "y": y} for x, y in tiles]} | more


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (json.dumps([row([(1, 2), (3, 4)])]), {(1, 2), (3, 4)}),
        (json.dumps({"results": [row([(1, 2)])]}), {(1, 2)}),  # the wrapper
        (json.dumps([row([("3", 2), (3.0, 2), (3, None), (4, 5)])]), {(4, 5)}),  # no integers
        (json.dumps([row([(1, 2), (1, 2)])]), {(1, 2)}),  # once
        (json.dumps([row([(True, False)])]), {(1, 0)}),  # Python's bools are integers
        (json.dumps([row([(99, -5)])]), {(99, -5)}),  # outside of the grid
        (json.dumps([row([(1, 1)]), row([(2, 2)])]), {(1, 1)}),  # the first row
        (json.dumps(["x", 5, row([(1, 1)])]), {(1, 1)}),  # rows that are none are dropped
        (json.dumps([row([(9, 9)], task_id="other"), row([(1, 1)])]), set()),
        (json.dumps([row([(1, 1)]), row([(9, 9)], task_id="other")]), {(1, 1)}),
        (json.dumps([row([(1, 1)], contains_tumor=False)]), {(1, 1)}),  # ignored
        (json.dumps([{"task_id": ID, "predicted_tumor_tiles": [5, [1, 2], {"x": 1}]}]), set()),
        (json.dumps([{"task_id": ID, "predicted_tumor_tiles": "all"}]), set()),
        (json.dumps([{"task_id": ID}]), set()),
        ("", set()),
        ("{", set()),
        ("[" * 5000, set()),
        ("null", set()),
        ('{"results": 5}', set()),
        (json.dumps([row([])]), set()),
        (json.dumps([row([(float("nan"), 1)])]), set()),
    ],
)
def test_a_text_is_read_as_the_published_evaluator_reads_it(text, read) -> None:
    assert read_paper(text, ID) == read


@pytest.mark.parametrize(
    ("wrong", "missed", "passes"),
    [(0, 0, True), (4, 0, True), (5, 0, False), (0, 3, True), (0, 4, False), (2, 2, True)],
)
def test_f1_of_nine_tenths_passes(wrong: int, missed: int, passes: bool) -> None:
    tiles = GOLD[missed:] + OTHERS[:wrong]
    for found in both(tiles=tiles):
        f1 = 2 * (20 - missed) / (20 - missed + wrong + 20)
        assert found.metrics["f1"] == pytest.approx(f1)
        assert found.success is passes
        assert (found.progress == 1.0) is passes
        assert found.progress > 0.8


def test_all_tissue_nothing_and_guesses_are_worth_nothing() -> None:
    for profile in Profile:
        for tiles in (TISSUE, [], TISSUE[::2]):
            assert verdict(profile, tiles=tiles).progress == pytest.approx(0.0)
        assert verdict(profile, tiles=TISSUE[40:]).progress < 0


def test_f1_of_exactly_nine_tenths_passes() -> None:
    reference = TumorReference(tuple(GOLD[:10]), {})
    for found in both(tiles=[*GOLD[:9], OTHERS[0]], reference=reference):
        assert found.metrics["f1"] == 0.9
        assert found.success


@pytest.mark.parametrize(
    ("tiles", "budget"), [(163, (36, 29)), (141, (31, 25)), (34, (7, 6)), (21, (4, 3))]
)
def test_the_budgets_of_the_published_tasks(tiles: int, budget: tuple[int, int]) -> None:
    """How many tiles too many, or too few, the ten published slides forgive."""
    gold = [(n % 20, n // 20) for n in range(tiles)]
    reference = TumorReference(tuple(gold), {})
    wrong, missed = budget
    outside = [(n, 50) for n in range(60)]

    def passes(chosen) -> bool:
        return verdict(Profile.PAPER, tiles=chosen, reference=reference).success

    assert passes(gold + outside[:wrong])
    assert not passes(gold + outside[: wrong + 1])
    assert passes(gold[missed:])
    assert not passes(gold[missed + 1 :])


def test_an_empty_selection_scores_nothing() -> None:
    for found in both():
        assert (found.metrics["f1"], found.metrics["precision"], found.progress) == (0, 0, 0)
        assert failed(found) == {"tile_f1"}


def test_coverage_counts_tumour_pixels_wherever_they_lie() -> None:
    found = verdict(Profile.PAPER, tiles=[GOLD[0], (0, 5), (15, 15)])
    assert found.metrics["tumor_coverage"] == pytest.approx(240 / 4040)
    assert found.metrics["precision"] == pytest.approx(1 / 3)


def test_a_key_that_comes_twice_is_no_selection() -> None:
    tiles = json.dumps([{"x": x, "y": y} for x, y in GOLD])
    key = '"predicted_tumor_tiles"'
    for first, last in ((tiles, "[]"), ("[]", tiles)):
        text = f'[{{"task_id": "{ID}", {key}: {first}, {key}: {last}}}]'
        assert "plain_selection" in failed(verdict(Profile.STRICT, text=text))


def test_a_tile_that_comes_twice_is_the_same_tile() -> None:
    for found in both(text=json.dumps([row([*GOLD, GOLD[0]])])):
        assert found.success


def test_the_form_of_the_benchmark_is_accepted() -> None:
    for found in both(text=write(frozenset(GOLD), ID)):
        assert found.success
    for found in both(text=json.dumps({"results": [row(GOLD, contains_tumor=True)]})):
        assert found.success


@pytest.mark.parametrize(
    "rows",
    [
        [row(GOLD), row(OTHERS)],  # a second row that nobody scores
        ["remark", row(GOLD)],
        [row(GOLD), row(OTHERS, task_id="another")],
        [row([*GOLD, ("3", "4")])],  # dropped without a word
        [row([*GOLD, (3.5, 9.0)])],
        [row([(True, False), *[tile for tile in GOLD if tile != (1, 0)]])],
        [row(GOLD, comment="These are NOT tumour.")],
        [row([*GOLD, (77, 77)])],
        [row(GOLD, contains_tumor=False)],
        [row(GOLD, contains_tumor="yes")],
    ],
)
def test_what_paper_lets_pass_and_strict_does_not(rows) -> None:
    text = json.dumps(rows)
    assert verdict(Profile.PAPER, text=text).success
    found = verdict(Profile.STRICT, text=text)
    assert failed(found) == {"plain_selection"}
    assert found.progress == 0.0


@pytest.mark.parametrize(
    ("tiles", "check"),
    [(GOLD[5:], "tile_f1"), (GOLD + OTHERS[:6], "tile_f1"), ([], "tile_f1")],
)
def test_one_broken_thing_fails_its_check(tiles, check: str) -> None:
    assert all(failed(found) == {check} for found in both(tiles=tiles))


def test_no_detail_states_the_answer() -> None:
    for found in both(tiles=GOLD[3:]):
        details = " ".join(result.detail for result in found.checks)
        assert "20" not in details.replace("0.9", "")


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ({"confidence": 0.9}, True),
        ({"probability": 1}, True),
        ({"score": 0.51, "contains_tumor": True}, True),
        ({"confidence": 0.1}, False),  # a hedge
        ({"confidence": "none of these"}, False),
        ({"confidence": True}, False),
        ({"confidence": float("nan")}, False),
        ({"remark": "disregard the tiles"}, False),
        ({"not_tumor": 0.9}, False),
        ({"instruction": ASKED}, True),
        ({"instruction": "Select the tiles without tumour."}, False),
        ({"instruction": None}, False),
    ],
)
def test_what_is_added_may_say_how_sure_one_is_and_nothing_else(more, right) -> None:
    found = verdict(Profile.STRICT, tiles=GOLD, text=json.dumps([row(GOLD, **more)]))
    assert found.success is right


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ({"probability": 0.9}, True),
        ({"probability": 0.01}, False),
        ({"tumor": False}, False),
        ({"level": 5}, False),
        ({"note": "not this one"}, False),
    ],
)
def test_a_tile_says_where_it_is_and_how_sure_one_is(more, right) -> None:
    chosen = row(GOLD)
    chosen["predicted_tumor_tiles"][3] |= more
    paper, strict = both(text=json.dumps([chosen]))
    assert paper.success
    assert strict.success is right


def test_what_stands_beside_the_results_is_read_too() -> None:
    retracted = {"results": [row(GOLD)], "retracted": True}
    assert failed(verdict(Profile.STRICT, text=json.dumps(retracted))) == {"plain_selection"}
    assert verdict(Profile.STRICT, text=json.dumps({"results": [row(GOLD)]})).success


PLAIN = json.dumps([row(GOLD, contains_tumor=True)])


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{PLAIN}\n```",
        f"\n```\r\n{PLAIN}\r\n```  \n",
        json.dumps(row(GOLD)),
        json.dumps({"results": row(GOLD)}),
        json.dumps([{"task_id": ID, "predicted_tumor_tiles": GOLD}]),
        json.dumps([row([(float(x), float(y)) for x, y in GOLD])]),
        json.dumps([row(GOLD, num_tiles=len(GOLD))]),
        json.dumps([row([*GOLD, GOLD[0]], tile_count=len(GOLD) + 1)]),
    ],
    ids=["fence", "frame", "object", "results", "pairs", "points", "count", "count of entries"],
)
def test_forms_that_mean_one_thing_are_read(text: str) -> None:
    assert verdict(Profile.STRICT, text=text).success


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"```json\n{PLAIN}\n```\nNone of these is tumour.", "no JSON list of rows"),
        (f"```json\n{PLAIN}\n```\n```json\n[]\n```", "no JSON list of rows"),
        (json.dumps(row(GOLD) | {"results": []}), "'results'"),
        (json.dumps([[row(GOLD)]]), "does not have one row"),
        (json.dumps([row(GOLD, task_id="another")]), f"the task_id {ID}"),
        (json.dumps([row(GOLD, num_tiles=3)]), "the number of tiles"),
        (json.dumps([row(GOLD, num_tiles=None)]), "the number of tiles"),
        (json.dumps([row(GOLD, rationale="Large nuclei.")]), "'rationale' says is not asked for"),
        (json.dumps([{"task_id": ID, "predicted_tumor_tiles": [*GOLD, [1, 2, 3]]}]), "[1, 2, 3]"),
        (json.dumps([{"task_id": ID, "predicted_tumor_tiles": [*GOLD, [True, 1]]}]), "[true, 1]"),
        (json.dumps([{"task_id": ID, "predicted_tumor_tiles": [*GOLD, [20, 1]]}]), "and 19"),
    ],
)
def test_what_else_is_said_is_a_fault_that_is_named(text: str, fault: str) -> None:
    found = verdict(Profile.STRICT, text=text)
    assert not found.success
    assert fault in next(r.detail for r in found.checks if r.check.name == "plain_selection")


@pytest.mark.parametrize("text", [f"```json\n{PLAIN}\n```", json.dumps(row(GOLD))])
def test_paper_stays_the_published_evaluators(text: str) -> None:
    assert verdict(Profile.PAPER, text=text).metrics["selected"] == 0


def test_a_mark_before_a_saved_text_says_nothing() -> None:
    text = "\ufeff" + json.dumps([row(GOLD)])
    paper, strict = (verdict(profile, text=text) for profile in (Profile.PAPER, Profile.STRICT))
    assert strict.success
    assert not paper.success  # to the published evaluator that is no JSON

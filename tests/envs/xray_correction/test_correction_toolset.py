from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from healthgym.core.episode import AnyEpisode
from healthgym.core.tool import call
from healthgym.envs.xray_correction.env import XrayCorrectionEnv
from healthgym.worlds.radiography.measure import MEASURES

ENV = XrayCorrectionEnv(max_turns=100)
SERIAL = next(i for i in range(40) if "1 studies" not in ENV.open_episode("train", i).instruction())


@pytest.fixture
def episode() -> AnyEpisode:
    return ENV.open_episode("train", SERIAL)


def do(episode: AnyEpisode, name: str, **arguments: Any) -> str:
    outcome = episode.step(call(name, **arguments))
    assert not outcome.errors, outcome.errors
    return outcome.observation.split("\n", 1)[1]


def refused(episode: AnyEpisode, name: str, **arguments: Any) -> str:
    before = episode.world.digest()
    outcome = episode.step(call(name, **arguments))
    assert outcome.errors
    assert episode.world.digest() == before
    return outcome.errors[0]


def test_studies_and_reports(episode: AnyEpisode) -> None:
    lines = do(episode, "list_studies").splitlines()
    assert len(lines) == len(episode.world.radiographs.studies)
    assert lines[-1].endswith("to be reported")
    assert "FINDINGS:" in do(episode, "read_report", study=1)
    last = do(episode, "read_report", study=len(lines))
    assert "INDICATION" in last
    assert not any(sentence in last for sentence in episode.world.draft)
    assert "studies 1 to" in refused(episode, "read_report", study=99)


def test_pictures_and_zoom(episode: AnyEpisode) -> None:
    outcome = episode.step(call("view_image", study=1))
    assert "patient's right on the left" in outcome.observation
    whole = outcome.images[0]
    assert whole.shape == (512, 512)
    zoomed = episode.step(call("view_image", study=1, left=25, right=50, top=25, bottom=50))
    part = zoomed.images[0]
    assert part.shape == (512, 512)
    assert abs(float(part.mean()) - float(whole[128:256, 128:256].mean())) < 2
    harder = episode.step(call("view_image", study=1, low=100, high=160)).images[0]
    assert harder.std() > whole.std()
    assert "window" in refused(episode, "view_image", study=1, low=200, high=100)
    assert "part" in refused(episode, "view_image", study=1, left=60, right=50)
    assert "views" in refused(episode, "view_image", study=1, view=7)


@pytest.mark.parametrize("what", list(MEASURES))
def test_measurements_are_short_texts(episode: AnyEpisode, what: str) -> None:
    text = do(episode, "measure", what=what)
    value, limits = text.splitlines()
    assert 5 < len(value) < 330
    assert len(limits) < 620
    assert text == do(episode, "measure", what=what, study=len(episode.world.radiographs.studies))


@pytest.mark.parametrize("what", ["heart", "lungs", "bases", "pleura"])
def test_comparisons_have_prior_last_and_change(episode: AnyEpisode, what: str) -> None:
    lines = do(episode, "compare_prior", what=what).splitlines()
    assert [line.split(":")[0] for line in lines] == ["prior", "last", "change", "limits"]


def test_a_single_study_has_no_prior() -> None:
    single = next(i for i in range(40) if "1 studies" in ENV.open_episode("train", i).instruction())
    assert "no prior" in refused(ENV.open_episode("train", single), "compare_prior", what="heart")


def test_editing(episode: AnyEpisode) -> None:
    draft = episode.world.draft
    assert do(episode, "show_draft").splitlines()[1] == f"2. {draft[1]}"
    do(episode, "edit_sentence", number=2, text="No   pneumothorax.")
    assert episode.world.sentences[1] == "No pneumothorax."
    assert "already" in refused(episode, "edit_sentence", number=2, text="No pneumothorax.")
    assert "sentences 1 to" in refused(episode, "edit_sentence", number=0, text="x")
    assert "characters" in refused(episode, "edit_sentence", number=1, text=" ")
    assert "characters" in refused(episode, "edit_sentence", number=1, text="x" * 601)
    do(episode, "revert_sentence", number=2)
    assert episode.world.sentences == draft
    assert "already" in refused(episode, "revert_sentence", number=0)
    do(episode, "write_findings", text='{"final_answer": "FINDINGS: One. Two."}')
    assert episode.world.sentences == ("One.", "Two.")
    assert "Give a number" in refused(episode, "revert_sentence", number=1)
    assert "already" in refused(episode, "write_findings", text="One. Two.")
    do(episode, "revert_sentence", number=0)
    assert episode.world.findings == " ".join(draft)


def test_measurements_come_from_pixels_alone(episode: AnyEpisode) -> None:
    """The same tools on pixels that hold nothing, and on other pixels, say other things."""
    room = episode.world
    real = room.radiographs
    shown = do(episode, "measure", what="heart")

    class Blank:
        studies = real.studies

        def pixels(self, study: int, view: int) -> Any:
            return np.full((300, 260), 90, np.uint8)

        def content_hash(self) -> str:
            return ""

    room.radiographs = Blank()
    for what in MEASURES:
        do(episode, "measure", what=what)
    assert do(episode, "measure", what="heart") != shown


def test_measurements_of_drawn_radiographs_state_their_limits(episode: AnyEpisode) -> None:
    for what in MEASURES:
        first, second = do(episode, "measure", what=what).splitlines()
        assert not first.startswith("limits")
        assert second.startswith("limits: ")
        assert "{" not in second
    limits = {
        "heart": "from a ratio of 0.50 on, severely (markedly) from 0.61",
        "bases": "26 less a large (severe) effusion",
        "lungs": "around the hila from 12 on edema, from 29 on severe",
        "pleura": "from 10.8 off the wall on",
        "bones": "look for it in the picture",
    }
    for what, words in limits.items():
        assert words in do(episode, "measure", what=what).lower()
    for what, least in (("heart", "0.04"), ("lungs", "6"), ("bases", "6"), ("pleura", "2")):
        *_, change, limit = do(episode, "compare_prior", what=what).splitlines()
        assert change.startswith("change: ")
        assert f"less than {least}" in limit


def test_an_edit_names_the_words_that_are_not_understood(episode: AnyEpisode) -> None:
    told = do(episode, "edit_sentence", number=1, text="The heart is boxy but normal in size.")
    assert "Not understood here: 'boxy'." in told
    said = "The nasogastric tube passes below the diaphragm with its tip in the stomach."
    assert do(episode, "edit_sentence", number=1, text=said) == f"1. {said}"
    told = do(episode, "write_findings", text="FINDINGS: The heart is normal. A zebra is seen.")
    assert told.endswith(
        "2 sentences now.\n"
        "Not understood here: 'zebra', 'seen'. What is not understood counts as a false finding."
    )

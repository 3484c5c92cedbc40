"""A table of moves: what it refuses to be, what it refuses to do, and how it says so."""

from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

import numpy as np
import pytest

from healthgym.core.lifecycle import Guard, Lifecycle, Move
from healthgym.errors import ConfigurationError, ConformanceError, ToolError
from healthgym.testing.lifecycles import check_lifecycle, step


class Stage(StrEnum):
    """An excerpt of how a request for authorization goes."""

    DRAFT = auto()
    DOCS_NEEDED = auto()
    READY = auto()
    SUBMITTED = auto()
    IN_REVIEW = auto()
    APPROVED = auto()
    DENIED = auto()
    CLOSED = auto()


class Other(StrEnum):
    DRAFT = auto()


@dataclass(frozen=True)
class Facts:
    documents: int = 0
    signed: bool = False


COMPLETE: Guard[Facts] = Guard("complete", lambda f: f.documents >= 2, "documents are missing")
SIGNED: Guard[Facts] = Guard("signed", lambda f: f.signed, "no physician has signed")

ROWS: tuple[Move[Stage, Facts], ...] = (
    Move(Stage.DRAFT, Stage.DOCS_NEEDED, "gather"),
    Move(Stage.DRAFT, Stage.READY, "bundle", COMPLETE),
    Move(Stage.DRAFT, Stage.CLOSED, "withdraw"),
    Move(Stage.DOCS_NEEDED, Stage.READY, "bundle", COMPLETE),
    Move(Stage.READY, Stage.DOCS_NEEDED, "gather"),
    Move(Stage.READY, Stage.SUBMITTED, "submit"),
    Move(Stage.SUBMITTED, Stage.IN_REVIEW, "open"),
    Move(Stage.IN_REVIEW, Stage.DOCS_NEEDED, "ask"),
    Move(Stage.IN_REVIEW, Stage.APPROVED, "approve"),
    Move(Stage.IN_REVIEW, Stage.DENIED, "deny", SIGNED),
    Move(Stage.DENIED, Stage.IN_REVIEW, "appeal"),
    Move(Stage.DENIED, Stage.CLOSED, "withdraw"),
    Move(Stage.APPROVED, Stage.CLOSED, "finish"),
)
MACHINE = Lifecycle(ROWS, initial=Stage.DRAFT, terminal=[Stage.CLOSED])


def drawn(rng: np.random.Generator) -> Facts:
    return Facts(int(rng.integers(4)), bool(rng.integers(2)))


def test_a_move_of_the_table_is_made() -> None:
    assert MACHINE.fire(Stage.DRAFT, "gather", Facts()) is Stage.DOCS_NEEDED
    assert MACHINE.fire(Stage.DRAFT, "bundle", Facts(documents=2)) is Stage.READY


@pytest.mark.parametrize(
    ("state", "trigger", "said"),
    [
        (
            Stage.READY,
            "approve",
            "'approve' is not possible in state ready; accepted from here: gather, submit.",
        ),
        (
            Stage.CLOSED,
            "gather",
            "'gather' is not possible in state closed; accepted from here: nothing, closed is "
            "final.",
        ),
        (
            Stage.DRAFT,
            "bundle",
            "'bundle' is refused in state draft: documents are missing; accepted from here: "
            "gather, bundle, withdraw.",
        ),
    ],
)
def test_any_other_is_refused_in_one_sentence(state: Stage, trigger: str, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        MACHINE.fire(state, trigger, Facts())
    assert str(caught.value) == said


def test_a_refusal_quotes_little_of_what_an_agent_wrote() -> None:
    with pytest.raises(ToolError) as caught:
        MACHINE.fire(Stage.READY, "x" * 10_000, Facts())
    assert len(str(caught.value)) < 200


def test_the_table_can_be_read() -> None:
    assert [move.trigger for move in MACHINE.legal(Stage.READY)] == ["gather", "submit"]
    assert MACHINE.legal(Stage.CLOSED) == ()
    assert len(MACHINE.pairs()) == len(ROWS)
    assert (Stage.DRAFT, Stage.CLOSED) in MACHINE.pairs()
    assert (Stage.DRAFT, Stage.APPROVED) not in MACHINE.pairs()
    assert MACHINE.guards() == (COMPLETE, SIGNED)
    assert MACHINE.triggers()[:3] == ("gather", "bundle", "withdraw")


def test_a_machine_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        MACHINE.initial = Stage.CLOSED  # type: ignore[misc]


def without(*moves: tuple[Stage, str]) -> list[Move[Stage, Facts]]:
    return [row for row in ROWS if (row.source, row.trigger) not in moves]


@pytest.mark.parametrize(
    ("rows", "terminal", "reason"),
    [
        ([*ROWS, Move(Stage.DRAFT, "ready", "skip")], [Stage.CLOSED], "'ready' is no Stage"),
        ([*ROWS, Move(Other.DRAFT, Stage.READY, "skip")], [Stage.CLOSED], "is no Stage"),
        (ROWS, [Stage.CLOSED, Other.DRAFT], "is no Stage"),
        (
            [*ROWS, Move(Stage.DRAFT, Stage.SUBMITTED, "bundle")],
            [Stage.CLOSED],
            "draft has two moves by 'bundle'",
        ),
        (without((Stage.APPROVED, "finish")), [Stage.CLOSED], "approved is a dead end"),
        (ROWS, [], "closed is a dead end"),
        (ROWS, [Stage.CLOSED, Stage.DENIED], "denied is terminal, and there are moves"),
        (
            without((Stage.READY, "submit")),
            [Stage.CLOSED],
            "draft does not lead to submitted, in_review, approved, denied",
        ),
    ],
)
def test_a_table_with_a_hole_is_refused(rows: Any, terminal: Any, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        Lifecycle(rows, initial=Stage.DRAFT, terminal=terminal)


@pytest.mark.parametrize("state", ["draft", Other.DRAFT, None])
def test_a_state_of_another_machine_is_our_mistake(state: Any) -> None:
    with pytest.raises(ConfigurationError, match="is no Stage"):
        MACHINE.fire(state, "gather", Facts())


# -- the checks, and machines that fail them ---------------------------------------------------


def test_walks_go_through_every_pair_and_no_other() -> None:
    walked = check_lifecycle(MACHINE, drawn, draws=50)
    assert set(walked.pairs) == MACHINE.pairs()
    assert walked.accepted + walked.refused == 200 * 50
    assert walked.refused > 1000
    assert check_lifecycle(MACHINE, drawn, draws=50) == walked
    assert check_lifecycle(MACHINE, drawn, draws=50, seed=1) != walked


@pytest.mark.parametrize(
    ("documents", "reason"),
    [(0, "complete passes on none"), (2, "complete refuses none")],
)
def test_a_guard_that_never_changes_its_mind_is_found(documents: int, reason: str) -> None:
    with pytest.raises(ConformanceError, match=reason):
        check_lifecycle(
            MACHINE, lambda rng: Facts(documents, bool(rng.integers(2))), draws=20, walks=1
        )


class Lax(Lifecycle[Stage, Facts]):
    def fire(self, state: Stage, trigger: str, facts: Facts) -> Stage:
        return Stage.APPROVED if trigger == "approve" else super().fire(state, trigger, facts)


class Unguarded(Lifecycle[Stage, Facts]):
    def fire(self, state: Stage, trigger: str, facts: Facts) -> Stage:
        return super().fire(state, trigger, Facts(9, True))


class Lost(Lifecycle[Stage, Facts]):
    def fire(self, state: Stage, trigger: str, facts: Facts) -> Stage:
        super().fire(state, trigger, facts)
        return Stage.DRAFT


class Closed(Lifecycle[Stage, Facts]):
    def fire(self, state: Stage, trigger: str, facts: Facts) -> Stage:
        raise ToolError(f"{trigger} in {state}.")


class Mute(Lifecycle[Stage, Facts]):
    def fire(self, state: Stage, trigger: str, facts: Facts) -> Stage:
        try:
            return super().fire(state, trigger, facts)
        except ToolError:
            raise ToolError("No.") from None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Lax, "approve from draft is not allowed, and led to approved"),
        (Unguarded, "bundle from draft is not allowed, and led to ready"),
        (Lost, "gather from draft led to draft"),
        (Closed, "gather from draft is allowed, and was refused"),
        (Mute, "bundle from draft: the refusal does not name it"),
    ],
)
def test_a_machine_that_leaves_its_table_is_found(kind: Any, reason: str) -> None:
    with pytest.raises(ConformanceError, match=reason):
        check_lifecycle(kind(ROWS, initial=Stage.DRAFT, terminal=[Stage.CLOSED]), drawn, draws=20)


def test_one_step_is_held_against_the_table() -> None:
    assert step(MACHINE, Stage.DRAFT, "gather", Facts()) is Stage.DOCS_NEEDED
    assert step(MACHINE, Stage.DRAFT, "bundle", Facts()) is None

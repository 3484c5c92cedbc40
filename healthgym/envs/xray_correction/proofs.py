"""How the verifier of corrected reports is put to the proof."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from healthgym.core.family import Script
from healthgym.core.proofs import Item, Operator, Proofs
from healthgym.core.tool import ToolCall, call
from healthgym.envs.xray_correction import rewordings
from healthgym.envs.xray_correction.claims import Statement
from healthgym.envs.xray_correction.task import CorrectionInstance

_EDIT = "edit_sentence"
#: Makes another sentence of a true one; None where that cannot be.
_Change = Callable[[Statement, np.random.Generator], str | None]


def _steps(script: Script) -> list[ToolCall]:
    return [step for step in script if isinstance(step, ToolCall)]


def _report(instance: CorrectionInstance) -> list[str]:
    """Return the sentences as the oracle hands them in."""
    return [statement.text for statement in instance.reference.truth]


def _edits(instance: CorrectionInstance, sentences: Sequence[str]) -> Script:
    """Return what makes the draft these sentences, one to one."""
    draft = instance.start.draft
    return [
        call("show_draft"),
        *(
            call(_EDIT, number=number, text=text)
            for number, (text, was) in enumerate(zip(sentences, draft, strict=True), 1)
            if text != was
        ),
        call("submit"),
    ]


def _saying(change: _Change, *, swapped: bool | None = None) -> Operator:
    """Return what says one sentence of the right report otherwise.

    Args:
        change: Makes the sentence.
        swapped: Whether it is one that the draft has wrong; either if None.
    """

    def do(instance: CorrectionInstance, script: Script, rng: np.random.Generator) -> Script | None:
        sentences, wrong = _report(instance), set(instance.reference.swapped)
        for place in rng.permutation(len(sentences)):
            number = int(place)
            statement = instance.reference.truth[number]
            if not statement.claims or swapped not in (None, number in wrong):
                continue
            text = change(statement, rng)
            if text is not None and text not in (statement.text, instance.start.draft[number]):
                sentences[number] = text
                return _edits(instance, sentences)
        return None

    return do


def _all_saying(change: _Change) -> Operator:
    """Return what says every sentence that has to be edited otherwise, where that can be."""

    def do(instance: CorrectionInstance, script: Script, rng: np.random.Generator) -> Script | None:
        sentences = _report(instance)
        made = {
            number: change(instance.reference.truth[number], rng)
            for number in instance.reference.swapped
        }
        for number, text in made.items():
            sentences[number] = text or sentences[number]
        return _edits(instance, sentences) if any(made.values()) else None

    return do


# -- what is wrong -----------------------------------------------------------------------------


def _one_left(
    instance: CorrectionInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    """Leave one of the wrong sentences as it is drafted."""
    steps = _steps(script)
    places = [n for n, step in enumerate(steps) if step.name == _EDIT]
    if not places:
        return None
    left = places[int(rng.integers(len(places)))]
    return [step for n, step in enumerate(steps) if n != left]


def _reordered(
    instance: CorrectionInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    sentences = _report(instance)
    place = int(rng.integers(len(sentences) - 1))
    sentences[place], sentences[place + 1] = sentences[place + 1], sentences[place]
    return _edits(instance, sentences)


def _whole(make: Callable[[list[str], np.random.Generator], str]) -> Operator:
    """Return what writes the whole findings anew."""

    def do(instance: CorrectionInstance, script: Script, rng: np.random.Generator) -> Script:
        text = make(_report(instance), rng)
        return [call("show_draft"), call("write_findings", text=text), call("submit")]

    return do


def _without_one(sentences: list[str], rng: np.random.Generator) -> str:
    del sentences[int(rng.integers(len(sentences)))]
    return " ".join(sentences)


# -- what is right -----------------------------------------------------------------------------


def _mended(
    instance: CorrectionInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    """Edit a sentence wrongly, put it back, and go on."""
    steps = _steps(script)
    number = int(rng.integers(len(instance.start.draft))) + 1
    return [
        call(_EDIT, number=number, text="There is a large mass in the right upper lobe."),
        call("revert_sentence", number=number),
        *steps,
    ]


def _reversed(instance: CorrectionInstance, script: Script, rng: np.random.Generator) -> Script:
    steps = _steps(script)
    return [*steps[:2], *steps[2:-1][::-1], steps[-1]]


def _items(instance: CorrectionInstance) -> Iterator[Item]:
    """Ask of each sentence of the draft whether it is wrong."""
    for number, text in enumerate(instance.start.draft):
        yield Item("wrong", number in instance.reference.swapped, said=text)


PROOFS = Proofs(
    corruptions={
        "an_error_left": _one_left,
        "another_claim": _saying(rewordings.turned),
        "the_other_side": _saying(rewordings.mirrored),
        "denied": _saying(rewordings.denied),
        "taken_back": _saying(rewordings.taken_back),
        "taken_back_in_an_edited_sentence": _saying(rewordings.taken_back, swapped=True),
        "put_in_the_past": _saying(rewordings.in_the_past),
        "a_past_made_up": _saying(rewordings.history),
        "a_narrower_denial": _saying(rewordings.narrower),
        "the_size_of_before": _saying(rewordings.former_size),
        "the_opposite_beside": _saying(rewordings.opposed),
        "a_finding_made_up": _saying(rewordings.fabricated),
        "what_is_left_unsaid": _saying(rewordings.vague),
        "two_sentences_exchanged": _reordered,
        "a_sentence_left_out": _whole(_without_one),
        "a_sentence_added": _whole(
            lambda s, r: " ".join([*s, f"{r.choice(rewordings.FABRICATED)}."])
        ),
        "two_sentences_said_twice": _whole(lambda s, r: " ".join([*s, *s[:2]])),
    },
    equivalents={
        "in_another_order_of_edits": _reversed,
        "in_other_words": _all_saying(rewordings.reworded),
        "a_right_sentence_in_other_words": _saying(rewordings.reworded, swapped=False),
        "in_other_forms": _saying(rewordings.in_other_forms),
        "with_synonyms": _all_saying(rewordings.synonym),
        "in_capitals": _all_saying(lambda s, r: s.text.upper()),
        "in_small_letters": _all_saying(lambda s, r: s.text.lower()),
        "without_full_stops": _all_saying(lambda s, r: s.text.rstrip(".")),
        "as_a_whole": _whole(lambda s, r: " ".join(s)),
        "under_a_heading": _whole(lambda s, r: f"FINDINGS: {' '.join(s)}"),
        "line_by_line": _whole(lambda s, r: "\n".join(s)),
        "as_a_final_answer": _whole(lambda s, r: json.dumps({"final_answer": " ".join(s)})),
        "mended": _mended,
    },
    items=_items,
)

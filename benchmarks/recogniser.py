"""Measure how well, and how fast, what is said on the phone is understood.

    python benchmarks/recogniser.py                  every figure
    python benchmarks/recogniser.py --only speed     only these

The phrases and their labels were written before the grammar, by somebody who did not write it; the
grammar was made with the development half in view, never with the test half. The later phrases were
held back in the same way before the grammar was extended, and the fresh ones before anything was
learned of how sentences sound. Utterances that are timed are those of the development half of 25 to
60 words.
"""

from __future__ import annotations

from pathlib import Path

from _harness import Figures, Run, Suite, at_least, at_most, once, timed
from _managed_care.hearing import by_act, phrases, scored

PHRASES = Path(__file__).resolve().parents[1] / "tests/worlds/managed_care/conversation"
_USUAL = range(25, 61)
#: Characters of a text as no caller sends it.
_HUGE = 100_000

suite = Suite("recogniser", __doc__)


def _understood(name: str) -> Figures:
    from healthgym.worlds.managed_care.conversation.acts import SENSITIVE
    from healthgym.worlds.managed_care.conversation.recognition import understand

    lines = phrases(PHRASES / name)
    score = scored(lines, understand)
    figures: Figures = {
        "phrases": len(lines),
        "same_acts_share": score.same.total() / len(lines),
        "acts": score.of_acts(score.acts).figures(),
        "sensitive": score.of_acts(map(str, SENSITIVE)).figures(),
        "subjects": score.topics.figures(),
        "items": score.items.figures(),
        "worries": score.worries.figures(),
    }
    for act, counted in by_act(score).items():
        figures[f"act.{act}"] = dict(counted)
    for kind, count in score.kinds.items():
        same = {"phrases": score.of[kind], "same_acts_share": score.same[kind] / score.of[kind]}
        figures[f"kind.{kind}"] = {**same, **count.figures()}
    return figures


@suite.measure()
def test_half(run: Run) -> Figures:
    """Understand the phrases that nobody who wrote the grammar has seen."""
    return _understood("phrases_test.jsonl")


@suite.measure()
def held_back_later(run: Run) -> Figures:
    """Understand the later phrases that nobody who extended the grammar has seen."""
    return _understood("phrases_talk.jsonl")


@suite.measure()
def fresh(run: Run) -> Figures:
    """Understand whole turns in many voices, whose authors had seen no phrase and no grammar."""
    from healthgym.worlds.managed_care.conversation.recognition import understand_by_grammar

    score = scored(phrases(PHRASES / "phrases_fresh.jsonl"), understand_by_grammar)
    by_grammar = score.of_acts(score.acts).figures()
    return {**_understood("phrases_fresh.jsonl"), "acts_by_grammar_alone": by_grammar}


@suite.measure()
def weak_development(run: Run) -> Figures:
    """Understand the phrases on what was heard worst, labelled before the grammar was mended."""
    return _understood("phrases_dev4.jsonl")


@suite.measure()
def later_development(run: Run) -> Figures:
    """Understand the later phrases with which the grammar was extended."""
    return _understood("phrases_dev3.jsonl")


@suite.measure()
def development_half(run: Run) -> Figures:
    """Understand the phrases with which the grammar was made."""
    return _understood("phrases_dev.jsonl")


@suite.measure(bounds={"usual_cpu_ms": at_most(0.3), "huge_ms": at_most(20), "words": at_least(25)})
def speed(run: Run) -> Figures:
    """Load the grammar, and understand usual, long and senseless messages, and usual ones again."""
    from healthgym.worlds.managed_care.conversation.ears.grammar import grammar
    from healthgym.worlds.managed_care.conversation.recognition import understand, understand_anew

    _, loaded = once(grammar)
    texts = [line.text for line in phrases(PHRASES / "phrases_dev.jsonl")]
    usual = [text for text in texts if len(text.split()) in _USUAL]
    paragraph = " ".join(usual)[:2_000]
    repeats = run.repeats(20)
    taken = timed(understand_anew, usual * repeats, warm_up=usual)
    return {
        **loaded.figures("load"),
        "utterances": len(usual),
        "words": sum(len(text.split()) for text in usual) / len(usual),
        **taken.spread("usual"),
        "usual_cpu_ms": taken.median_cpu(),
        **timed(understand, usual * repeats, warm_up=usual).figures("again"),
        **timed(understand_anew, [paragraph] * repeats).figures("paragraph"),
        **timed(understand_anew, [("you must " * _HUGE)[:_HUGE]] * repeats).figures("huge"),
    }


if __name__ == "__main__":
    raise SystemExit(suite.main())

"""Play CareManagement-v1 with and without skill into results/care_management.json.

    python benchmarks/care_management.py                        every policy
    python benchmarks/care_management.py --only readers         these
    python benchmarks/care_management.py --only honest_words    what misheard honest words cost

Figures are shares of test tasks solved under each profile, and the mean progress under strict. Of
words, the share that leaves a right file right: honest sentences said besides, and right texts in
free fields; and the share of wrong texts that is refused. Of the sentences of ``kept`` nobody who
writes the grammar looks at what fails. The texts were written before what reads them.
"""

from __future__ import annotations

from pathlib import Path

from _harness import Figures, Run, Suite
from _managed_care.honest import Calls, sentences
from _managed_care.scores import add_scores
from _managed_care.texts import Files, texts

from healthgym.envs.managed_care.care_management.family import CareFamily

_TESTS = Path(__file__).resolve().parents[1] / "tests"
SENTENCES = _TESTS / "worlds/managed_care/conversation"
TEXTS = _TESTS / "envs/managed_care/care_management"
#: Right files in which words are tried, and to how many each word comes.
_PEOPLE, _EACH = 6, 2

suite = Suite("care_management", __doc__)
add_scores(
    suite,
    "HealthAgent/CareManagement-v1",
    ("solver", "parroting"),
    CareFamily("easy").baselines(),
)


@suite.measure()
def honest_words(run: Run) -> Figures:
    """Say one honest sentence more in a right call."""
    calls = Calls(_PEOPLE)
    figures: Figures = {}
    for half in ("said", "kept"):
        said = sentences(SENTENCES / f"honest_{half}.jsonl")
        tried = [(each, n + turn) for n, each in enumerate(said) for turn in range(_EACH)]
        right = sum(not calls.failed(number, each) for each, number in tried)
        figures |= {f"{half}.tried": len(tried), f"{half}.right_share": right / len(tried)}
    return figures


@suite.measure()
def free_texts(run: Run) -> Figures:
    """Write right and wrong texts into free fields of a right file."""
    files = Files(_PEOPLE)
    figures: Figures = {}
    for kind in ("right", "wrong"):
        written = texts(TEXTS / f"{kind}_texts.jsonl")
        tried = [(each, n + turn) for n, each in enumerate(written) for turn in range(_EACH)]
        passed = sum(not files.failed(number, [each]) for each, number in tried)
        figures |= {f"{kind}.tried": len(tried), f"{kind}.passed_share": passed / len(tried)}
    return figures


if __name__ == "__main__":
    raise SystemExit(suite.main())

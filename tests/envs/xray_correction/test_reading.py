"""The reader of reports: phrases labelled before it was written, and sentences made to fool it.

`phrases.md` says how the phrases were made. Nothing here prints one that is held back.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import numpy as np
import pytest

from healthgym.envs.xray_correction.claims import (
    Claim,
    ClaimError,
    ErrorClass,
    Statement,
    entities,
)
from healthgym.envs.xray_correction.reading.reader import read, read_sentence, read_text, statements
from healthgym.envs.xray_correction.reading.words import heights, lexicon
from healthgym.envs.xray_correction.verifier import sentence_fits, text_errors
from healthgym.envs.xray_correction.wording import Wording
from tests.envs.xray_correction.attacks import any_claim, attacked, sentences
from tests.envs.xray_correction.labels import HERE, exchanges, phrases, read_whole

DIGESTS = {
    "phrases_dev.jsonl": "73c15518e447ba488072a3f8bac36f0b98084f205e91de53137e23b42e597cc2",
    "phrases_held.jsonl": "9042ba136f1a24370affdcef14020d4d0e957aa89d61615ec77363281a80f24d",
}

#: Sentences in another's place, pinned like the phrases.
EXCHANGES = {
    "exchanges.jsonl": "26169a9be350312b770af353255b6f202b001c745a9e9e160035adcf2c16b37c",
    "exchanges_later.jsonl": "59b2208a5150b6deb74f753bade66a660eef58c92721e6000137683a70790627",
    "exchanges_audit.jsonl": "a553529c218aa483b361f58b7f72aed0c99c26ebfc5e056ca509e8b067ed10be",
}


def can_be_true(text: str) -> bool:
    """Return whether a text says something that a draft's true sentence could say."""
    reading = read_text(text)
    return (
        bool(reading.claims)
        and not reading.unread
        and len({claim.entity for claim in reading.claims}) == len(reading.claims)
        and all(_sayable(claim) for claim in reading.claims)
    )


def _sayable(claim: Claim) -> bool:
    values = (claim.side, claim.place, claim.severity, claim.change)
    restricted = claim.present is False and any((*values[:3], claim.count, claim.kind))
    denied_only = any(value.startswith("not:") for value in values)
    return claim.certain and claim.present is not None and not restricted and not denied_only


@pytest.mark.parametrize("name", [*DIGESTS, *EXCHANGES])
def test_phrases_are_never_edited(name: str) -> None:
    pinned = (DIGESTS | EXCHANGES)[name]
    assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == pinned


@pytest.mark.parametrize("name", EXCHANGES)
def test_nothing_false_or_narrower_stands_for_a_true_sentence(name: str) -> None:
    for exchange in exchanges(name):
        (truth,) = statements([exchange["truth"]])
        assert truth.claims
        assert not truth.unread
        passed = [text for text in exchange["wrong"] if sentence_fits(truth, text)]
        assert passed == []


@pytest.mark.parametrize("name", EXCHANGES)
def test_natural_sentences_stand_for_a_true_one(name: str) -> None:
    fits: dict[str, list[bool]] = {}
    for exchange in exchanges(name):
        (truth,) = statements([exchange["truth"]])
        fits.setdefault(exchange["type"], []).extend(
            sentence_fits(truth, text) for text in exchange["right"]
        )
    assert len(fits) == len(entities()) + 1
    assert all(sum(passed) >= 0.8 * len(passed) for passed in fits.values()), fits
    assert sum(map(sum, fits.values())) >= 0.95 * sum(map(len, fits.values()))


@pytest.mark.parametrize(
    "said",
    [
        "The pneumothorax has resolved.",
        "There is no longer a pneumothorax.",
        "Interval resolution of the pneumothorax.",
        "The pneumothorax has disappeared.",
        "There is still no pneumothorax.",
    ],
)
def test_a_past_that_is_made_up_is_a_comparison(said: str) -> None:
    (truth,) = statements(["There is no pneumothorax."])
    errors = text_errors([truth], said)
    assert [error.error for error in errors] == [ErrorClass.COMPARISON_ADDED]
    assert not sentence_fits(truth, said)


def test_what_is_denied_in_part_only_is_left_unsaid() -> None:
    (truth,) = statements(["There is no pulmonary edema."])
    (error,) = text_errors([truth], "There is no overt pulmonary edema.")
    assert error == ClaimError(ErrorClass.OMISSION, "edema", significant=False)


@pytest.mark.parametrize("name", DIGESTS)
def test_natural_wordings_are_read_whole(name: str) -> None:
    known = [phrase for phrase in phrases(name) if phrase["claims"] is not None]
    read_right = Counter(
        (claim["entity"], right)
        for phrase in known
        for right in [read_whole(phrase)]
        for claim in phrase["claims"] or ()
    )
    by_entity = {
        name: (read_right[name, True], read_right[name, False])
        for name in {entity for entity, _ in read_right}
    }
    assert len(known) >= 150
    assert len(by_entity) == len(entities())
    assert sum(map(read_whole, known)) / len(known) >= 0.95
    assert all(right >= 4 * wrong for right, wrong in by_entity.values()), by_entity


def test_wordings_written_later_are_read_as_well() -> None:
    later = phrases("phrases_later.jsonl")
    assert all(map(read_whole, [phrase for phrase in later if phrase["claims"] is not None]))
    assert not any(can_be_true(phrase["text"]) for phrase in later if phrase["claims"] is None)


@pytest.mark.parametrize("name", DIGESTS)
def test_what_is_hedged_taken_back_or_foreign_earns_nothing(name: str) -> None:
    illegible = [phrase["text"] for phrase in phrases(name) if phrase["claims"] is None]
    assert len(illegible) >= 30
    assert not any(map(can_be_true, illegible))


@pytest.mark.parametrize("name", list(entities()))
def test_no_attack_on_a_true_sentence_passes(name: str) -> None:
    attack(name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(entities()))
def test_no_attack_on_many_true_sentences_passes(name: str) -> None:
    attack(name, 12)


def attack(name: str, count: int) -> None:
    tried = 0
    for claim, text in sentences(name, count):
        (truth,) = statements([text])
        assert truth == Statement(text, (claim,))
        for other in attacked(claim, text):
            tried += 1
            assert not sentence_fits(truth, other), other
            assert any(error.significant for error in text_errors([truth], other)), other
    assert tried > 100 * count


OPPOSITES = json.loads((HERE / "opposites.json").read_text("utf-8"))


@pytest.mark.parametrize(("truth", "said"), OPPOSITES)
def test_the_opposite_and_the_other_never_pass(truth: str, said: str) -> None:
    (statement,) = statements([truth])
    assert not sentence_fits(statement, said)
    assert any(error.significant for error in text_errors([statement], said))


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ("The heart is mildly enlarged.", "The heart appears to be very mildly enlarged."),
        ("There is no pneumothorax.", "No apparent pneumothorax."),
        ("There is no pneumothorax.", "There's no pneumothorax."),
        ("There is no pneumothorax.", "I do not see a pneumothorax."),
        ("There is a large right pleural effusion.", "Right pleural effusion (large)."),
        ("The heart is massively enlarged.", "The heart is hugely enlarged."),
        ("There is no consolidation.", "No focus of consolidation."),
        ("There is no consolidation.", "Negative for focal pulmonary consolidation."),
        (
            "A displaced left-sided rib fracture is present.",
            "Displaced fracture through a left rib.",
        ),
        ("Sternotomy wires appear intact.", "Intact midline sternotomy wires."),
        (
            "The heart is mildly enlarged, unchanged from the prior study.",
            "Mild cardiomegaly, as before.",
        ),
        (
            "The heart is mildly enlarged, unchanged from the prior study.",
            "Mild cardiomegaly, the same as on the prior study.",
        ),
        (
            "There is a large left pleural effusion, increased since the prior study.",
            "Interval enlargement of a large left pleural effusion.",
        ),
        (
            "Subcutaneous air is seen in the left chest wall.",
            "Air is present within the soft tissues of the left chest wall.",
        ),
        (
            "Subcutaneous air is seen in the left chest wall.",
            "Gas tracks along the left chest wall.",
        ),
        (
            "Bands of extensive atelectasis cross the right lower lobe.",
            "Extensive atelectatic bands cross the right lung base.",
        ),
        ("There is no pneumothorax.", "No appreciable pneumothorax."),
        ("There is no pneumothorax.", "No pneumothorax is discernible."),
        (
            "There is a large left pleural effusion, unchanged from the prior study.",
            "Large left pleural effusion, grossly unchanged.",
        ),
        (
            "There is a large left pleural effusion, unchanged from the prior study.",
            "Essentially stable large left effusion.",
        ),
        (
            "There is a large left pleural effusion, unchanged from the prior study.",
            "Large left effusion without appreciable interval change.",
        ),
        (
            "The endotracheal tube is positioned too high, at the thoracic inlet.",
            "High-riding endotracheal tube with its tip at the thoracic inlet.",
        ),
        ("The right hemidiaphragm is elevated.", "The right hemidiaphragm is high riding."),
        (
            "There is a consolidation in the left lower zone.",
            "Consolidative opacity in the left lower lobe.",
        ),
    ],
)
def test_the_same_in_other_words_fits(truth: str, said: str) -> None:
    (statement,) = statements([truth])
    assert not statement.unread
    assert sentence_fits(statement, said)


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ("There is no pneumothorax.", "There is an appreciable pneumothorax."),
        ("There is no pneumothorax.", "No appreciable left pneumothorax."),
        ("There is no pneumothorax.", "No pneumothorax..."),
        (
            "There is no prior examination for comparison.",
            "There is no prior examination for comparison...",
        ),
        ("The enteric tube terminates in the stomach.", "The enteric tube ... is in the stomach."),
        ("The enteric tube terminates in the stomach.", "The enteric tube is in the stomach. . ."),
        ("The enteric tube terminates in the stomach.", "The enteric tube is in the stomach\u2026"),
        ("The lungs are clear.", "The lungs are grossly clear."),
        (
            "There is a large left pleural effusion, unchanged from the prior study.",
            "Large left pleural effusion, not grossly unchanged.",
        ),
        (
            "There is a large left pleural effusion, unchanged from the prior study.",
            "Large left pleural effusion with appreciable change.",
        ),
        (
            "The endotracheal tube is positioned too high, at the thoracic inlet.",
            "The endotracheal tube is not high-riding.",
        ),
        (
            "The endotracheal tube is positioned too high, at the thoracic inlet.",
            "The endotracheal tube is elevated.",
        ),
        ("Surgical clips are seen in the left axilla.", "Surgical clips left of the axilla."),
    ],
)
def test_what_leaves_a_doubt_or_is_elsewhere_does_not_fit(truth: str, said: str) -> None:
    (statement,) = statements([truth])
    assert not statement.unread
    assert not sentence_fits(statement, said)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The right PICC has been removed.", [Claim("picc", False, change="resolved")]),
        ("Interval removal of right PICC.", [Claim("picc", False, change="resolved")]),
        (
            "Interval resolution of the left pleural effusion.",
            [Claim("effusion", False, change="resolved")],
        ),
        (
            "Interval removal of the endotracheal tube and enteric tube.",
            [
                Claim("endotracheal_tube", False, change="resolved"),
                Claim("enteric_tube", False, change="resolved"),
            ],
        ),
        ("No mass, and small left effusion.", [Claim("effusion", side="left", severity="mild")]),
        (
            "No mediastinal widening, pneumothorax, or effusion.",
            [Claim("pneumothorax", False), Claim("effusion", False)],
        ),
        ("The aorta is tortuous, unchanged, and the heart is normal.", [Claim("heart", False)]),
        ("The right pneumothorax is not appreciated.", [Claim("pneumothorax", False)]),
        ("Bibasilar opacities.", [Claim("opacity", side="bilateral", place="lower")]),
        ("Both lungs are clear and expanded.", [Claim("opacity", False)]),
        (
            "The lungs are hyperinflated but clear.",
            [Claim("volumes", place="high"), Claim("opacity", False)],
        ),
        (
            "The lungs are clear and well expanded.",
            [Claim("opacity", False), Claim("volumes", False)],
        ),
        (
            "The lungs are low in volume, clear, and there is no effusion.",
            [Claim("volumes", place="low"), Claim("opacity", False), Claim("effusion", False)],
        ),
        ("The lungs are clear of effusion.", [Claim("effusion", False)]),
        ("There is a healed left clavicle fracture.", []),
        ("Cardiomegaly with normal vessels.", [Claim("heart")]),
        ("Heart size is normal, and the vessels are enlarged.", [Claim("heart", False)]),
        (
            "Large effusion on the right, none on the left.",
            [Claim("effusion", True, "right", "", "severe")],
        ),
        ("Possible left pneumothorax.", [Claim("pneumothorax", side="left", certain=False)]),
        (
            "Stable cardiomegaly with vascular prominence without overt edema.",
            [Claim("heart", change="unchanged"), Claim("edema", False, kind="overt")],
        ),
        ("Heart size and pulmonary vascularity within normal limits.", [Claim("heart", False)]),
        (
            "Bibasilar atelectasis/airspace disease.",
            [
                Claim("atelectasis", side="bilateral", place="lower"),
                Claim("consolidation"),
            ],
        ),
        ("Small amount of fluid within the fissure.", []),
        (
            "Patchy opacity in the left base concerning for pneumonia.",
            [Claim("opacity", side="left", place="lower")],
        ),
    ],
)
def test_claims_of_real_reports_are_found(text: str, claims: list[Claim]) -> None:
    assert list(read(text)) == claims


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ("No mass is seen, and there is a tiny left pleural effusion.", True),
        ("No mass is seen, and there is a small right pleural effusion.", False),
        ("A mass is seen, and there is a small left pleural effusion, no.", False),
        ("There is a small left pleural effusion.", False),
        ("No large mass is seen, and there is a small left pleural effusion.", False),
        ("No mass is seen, and there is no pleural effusion.", False),
    ],
)
def test_what_a_real_sentence_says_besides_has_to_stay(said: str, fits: bool) -> None:
    (truth,) = statements(["No mass is seen, and there is a small left pleural effusion."])
    assert truth.unread
    assert sentence_fits(truth, said) is fits


def test_words_that_are_not_understood_are_never_lost() -> None:
    rng = np.random.default_rng(11)
    for number in range(300):
        name = list(entities())[number % len(entities())]
        text = Wording(number).sentence([any_claim(name, rng)], 1)
        words = text[:-1].split()
        words.insert(int(rng.integers(len(words) + 1)), "flibbert")
        assert "flibbert" in read_text(" ".join(words) + ".").unread


def test_every_phrase_of_the_lexicon_stands_once_and_is_read() -> None:
    seen = Counter(phrase for phrase, _ in lexicon())
    assert [phrase for phrase, often in seen.items() if often > 1] == []
    assert not any(set(phrase) & set("[]|*") for phrase in seen)
    for phrase in seen:
        read_sentence.__wrapped__(f"There is {phrase}.")


def test_any_text_is_read_without_an_error() -> None:
    phrases = [phrase for phrase, _ in lexicon()]
    rng = np.random.default_rng(2)
    for _ in range(600):
        chosen = [phrases[int(k)] for k in rng.integers(len(phrases), size=int(rng.integers(1, 9)))]
        read_text(" ".join(chosen))
    for text in ("", " ", ".", "?", "not", "no", ", and", "\u200b", "a" * 3000, "no " * 400):
        read_text(text)
    for text in ("9" * 50_000, "1.1" * 15_000, "about " + "9" * 50_000 + " cm of"):
        assert heights(text) == ()

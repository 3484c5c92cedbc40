"""What an operator checks, as far as an environment's card has measured it.

RFC 008 leaves these to whoever has models and machines, and gives no thresholds. Each answer here
is a comparison of figures of the card (``healthgym card --json``) that could have come out
otherwise, and names them; the tiers are scripted policies and the small model that the card
trains, not hosted models.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from openenv.validation import Level

from healthgym.core.borders import JsonDict
from healthgym.integrations.openenv_checks.looking import Finding, OurCheck, Package, Unchecked
from healthgym.integrations.openenv_checks.subject import ProcessSubject
from healthgym.integrations.openenv_checks.wire import Session
from healthgym.testing.blind import MOST

_Reader = Callable[[JsonDict], Finding]
#: Seconds to the first observation: what the library gives a server to become healthy.
_FIRST_WORK = 30.0


def operator_checks(card: JsonDict | None) -> tuple[OurCheck, ...]:
    """Return the checks of an operator.

    Args:
        card: The environment's card; what needs one is told as unchecked without.
    """

    def of(check_id: str, level: Level, read: _Reader) -> OurCheck:
        def look(package: Package) -> Finding:
            if card is None:
                raise Unchecked("no card was given")
            return read(card)

        return OurCheck(check_id, level, look)

    return (
        OurCheck("hub.layer_isolation", Level.STATIC, _no_image),
        OurCheck("hub.cosign_signature", Level.STATIC, _unsigned),
        OurCheck("hub.immutable_versioning", Level.STATIC, _versioning),
        OurCheck("hub.time_to_first_work", Level.RUNTIME, _first_work),
        OurCheck("hub.cross_host_determinism", Level.RUNTIME, _other_host),
        of("statistical.reward_reachability", Level.STATISTICAL, _reachability),
        of("statistical.difficulty_separation", Level.STATISTICAL, _separation),
        of("statistical.headroom", Level.STATISTICAL, _headroom),
        of("statistical.variance_bound", Level.STATISTICAL, _variance),
        of("statistical.training_signal", Level.STATISTICAL, _training),
        of("statistical.adversarial_floor", Level.STATISTICAL, _adversarial),
        of("statistical.gameability_gap", Level.STATISTICAL, _gap),
    )


def _no_image(package: Package) -> Finding:
    raise Unchecked("needs an image: none is built here")


def _unsigned(package: Package) -> Finding:
    raise Unchecked("a signature is made when an image is published")


def _other_host(package: Package) -> Finding:
    raise Unchecked(
        "needs a second machine: carry the server's record there and replay it "
        "(healthgym replay FILE)"
    )


def _versioning(package: Package) -> Finding:
    _ = package.solved
    env_id, version = package.records()[0].env_id, package.manifest.version
    pins = (package.root / "requirements.txt").read_text("utf-8").splitlines()
    problems = [] if re.search(r"-v\d+$", env_id) else [f"{env_id} has no version"]
    if f"healthgym=={version}" not in pins:
        problems.append(f"version {version} of the manifest is not what is installed")
    return Finding("the id has a version that rises with its grading, and the package installs the "
                   "version that its manifest names; that nobody publishes it twice is a hub's",
                   problems, {"env_id": env_id, "version": version})  # fmt: skip


def _first_work(package: Package) -> Finding:
    second = ProcessSubject(["healthgym", "serve", "openenv", package.records()[0].env_id])
    try:
        while not second.healthy():
            if not second.alive:
                return Finding("a second server was started", [second.logs()[-500:]])
            time.sleep(0.05)
        with Session(second.base_url) as session:
            session.begin({"seed": 0})
        took = time.monotonic() - second.begun
    finally:
        second.stop()
    return Finding("a second server was started and asked for an episode; no image was fetched",
                   [] if took <= _FIRST_WORK else [f"it took {took:.1f} s"],
                   {"first_observation_s": round(took, 2)})  # fmt: skip


def _rates(card: JsonDict, kind: str) -> dict[str, JsonDict]:
    return {each["policy"]: each["success"] for each in card["baselines"] if each["kind"] == kind}


def _blind(card: JsonDict) -> dict[str, JsonDict]:
    return _rates(card, "blind") | _rates(card, "unknowing")


def _tiers(card: JsonDict) -> tuple[JsonDict, JsonDict]:
    readers = _rates(card, "reads") | _rates(card, "looks")
    if not readers:
        raise Unchecked("the card has no policy that looks without knowing the answer")
    blind = max(_blind(card).values(), key=lambda rate: float(rate["estimate"]))
    return blind, max(readers.values(), key=lambda rate: float(rate["estimate"]))


def _reachability(card: JsonDict) -> Finding:
    _, best = _tiers(card)
    return Finding("of policies that read what an agent reads, the best one's success on the card",
                   [] if best["low"] > 0 else ["none succeeds"], {"success": best})  # fmt: skip


def _separation(card: JsonDict) -> Finding:
    blind, best = _tiers(card)
    return Finding("blind policies and those that read, on the card: their intervals are apart",
                   [] if best["low"] > blind["high"] else ["they overlap"],
                   {"blind": blind, "reads": best})  # fmt: skip


def _trained(card: JsonDict) -> JsonDict:
    found: JsonDict | None = card.get("training")
    if not found:
        raise Unchecked("the card tells of no training")
    return found


def _headroom(card: JsonDict) -> Finding:
    after = _trained(card)["after"]
    return Finding("the trained small model's success on the card is below 1",
                   [] if after["high"] < 1 else ["nothing is left to learn"],
                   {"after": after})  # fmt: skip


def _variance(card: JsonDict) -> Finding:
    share = _trained(card)["informative"]
    return Finding("share of groups of attempts, in the card's training, whose returns differ",
                   [] if share > 0 else ["no group's returns differ"],
                   {"informative": share})  # fmt: skip


def _training(card: JsonDict) -> Finding:
    told = _trained(card)
    return Finding("gain of the small model by reward, over as much imitation, on the card",
                   [] if told["gain_low"] > 0 else ["the interval of the gain includes 0"],
                   {name: told[name] for name in ("gain", "gain_low", "gain_high", "outcome")},
                   )  # fmt: skip


def _adversarial(card: JsonDict) -> Finding:
    accepted = (card.get("proofs") or {}).get("false_accept")
    if not accepted:
        raise Unchecked("the card has no proofs of the verifier")
    unknowing = _rates(card, "unknowing")
    problems = [f"{accepted['found']} spoiled answers were accepted"] if accepted["found"] else []
    problems += [f"{name} succeeds" for name, rate in unknowing.items() if rate["found"]]
    return Finding("spoiled answers that the verifier accepted, and policies that know nothing, on "
                   "the card", problems,
                   {"false_accept": accepted, "unknowing": unknowing})  # fmt: skip


def _gap(card: JsonDict) -> Finding:
    told = card.get("attack")
    if not told:
        raise Unchecked("no attack on the environment is published (benchmarks/gap_by_attack.py)")
    gap = told["paid"] - told["success"]
    problems = [f"it is paid {gap:.2f} more than it succeeds"] if gap > MOST else []
    if told["excess"]:
        problems.append(f"it found {told['excess']} ways to succeed unread")
    return Finding("of a small policy trained to find holes in the verifier, its shaped return and "
                   "its success on held-out tasks, on the card", problems,
                   {**told, "gap": round(gap, 4)})  # fmt: skip

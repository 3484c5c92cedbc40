"""Words a card as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.policies.reports import markdown_table
from healthgym.testing.cards.schema import Attacked, Card, Outcome, Proofs, Rate, Size, Training


def markdown(card: Card, *, heading: str = "##") -> str:
    """Return a card as Markdown.

    Args:
        card: The card.
        heading: What its heading begins with.
    """
    return "\n\n".join(_parts(card, heading))


def _parts(card: Card, heading: str) -> Iterator[str]:
    made = card.machine
    commit = f", commit `{made.commit}`" if made.commit else ""
    yield f"{heading} Card of `{card.env_id}`"
    yield (
        f"Measured by `healthgym card {card.env_id}`: {card.tasks} tasks of the {card.split} split "
        f"each policy, intervals of 95 %; {made.cpu or 'unnamed processor'}, Python {made.python}, "
        f"healthgym {made.healthgym}{commit}."
    )
    yield markdown_table(
        ["policy", "what it knows", "success", "mean return"],
        [
            [f"`{one.policy}`", one.kind, rate(one.success), f"{one.mean_return:.2f}"]
            for one in card.baselines
        ],
    )
    yield _difficulty(card)
    yield from _groups(card)
    yield f"{_proofs(card.proofs)} {_attack(card.attack)}"
    yield (
        f"A second of processor time is worth {card.speed.resets_per_s:.4g} resets or "
        f"{card.speed.steps_per_s:.4g} of the oracle's steps ({card.speed.resets} and "
        f"{card.speed.steps} were timed)."
    )
    yield _size(card.size)
    if card.training is not None:
        yield _training(card.training)


def rate(found: Rate | None) -> str:
    """Return a rate with its interval in per cent, such as ``62.5 % [55.6-69.0]``."""
    if found is None:
        return "none tried"
    return f"{found.estimate:.1%} [{100 * found.low:.1f}–{100 * found.high:.1f}]"


def _difficulty(card: Card) -> str:
    if not card.reader:
        return "No scripted policy solves these tasks by reading, so difficulty was not measured."
    if not card.levels:
        return f"It has one difficulty; `{card.reader}` reads what an agent reads."
    told = ", ".join(f"{one.difficulty} {rate(one.success)}" for one in card.levels)
    return f"By difficulty, `{card.reader}`, who reads what an agent reads: {told}."


def _groups(card: Card) -> Iterator[str]:
    yield markdown_table(
        ["groups of rollouts", "success", "all succeed or all fail", "all paid the same (shaped)"],
        [
            [
                f"{one.policy}, {one.same_success.n} of {one.size}",
                rate(one.success),
                rate(one.same_success),
                rate(one.same_return),
            ]
            for one in card.groups
        ],
    )


def _proofs(proofs: Proofs | None) -> str:
    if proofs is None:
        return "Errors of the verifier are not published for this id."
    wrong, right = proofs.false_accept, proofs.false_reject
    return (
        f"The verifier accepted {_count(wrong)} of changes that spoil the work, and refused "
        f"{_count(right)} of other forms of right work."
    )


def _attack(told: Attacked | None) -> str:
    if told is None:
        return "No policy trained to find holes in it is published for this id."
    ways = "no way" if not told.excess else f"{told.excess} ways"
    return (
        f"A small policy trained to find holes ({told.episodes} episodes) is paid {told.paid:.2f} "
        f"a task (shaped) on {told.tests} held-out attempts and solves {told.success:.1%}; it "
        f"found {ways} to succeed unread more often than is allowed."
    )


def _count(found: Rate | None) -> str:
    if found is None:
        return "none (none were tried)"
    return f"{found.found} of {found.n} (at most {found.high:.2%})"


def _size(size: Size) -> str:
    return markdown_table(
        ["text", "bytes, mean", "tokens (characters / 4), mean"],
        [
            ["instruction", f"{size.instruction_bytes:.0f}", f"{size.instruction_tokens:.0f}"],
            [
                f"observation (longest {size.longest_observation_bytes} bytes)",
                f"{size.observation_bytes:.0f}",
                f"{size.observation_tokens:.0f}",
            ],
            ["tools", f"{size.tools_bytes:.0f}", f"{size.tools_tokens:.0f}"],
            ["the oracle's whole episode", "", f"{size.episode_tokens:.0f}"],
        ],
    )


def _training(told: Training) -> str:
    ends = f"[{100 * told.gain_low:+.1f}, {100 * told.gain_high:+.1f}]"
    said = {
        Outcome.RISES: "Reward moves the small model",
        Outcome.NO_GRADIENT: "No gradient for the small model",
        Outcome.UNCLEAR: "Whether reward moves the small model is not settled",
    }[told.outcome]
    asked = ", ".join(f"`{name}={value!r}`" for name, value in told.env_kwargs.items())
    asked = f"with {asked}" if asked else "as it is registered"
    text = (
        f"{said} ({asked}): from {rate(told.before)} to {rate(told.after)} on the same held-out "
        f"tasks, {100 * told.gain:+.1f} points {ends}, in {told.reward_steps} steps of GRPO with "
        f"{told.rollouts_a_step} rollouts each, after {told.demonstrations} demonstrations; "
        f"{1 - told.informative:.0%} of the groups had no variance (seed {told.seed}, "
        f"{_minutes(told)}{told.machine.cpu or 'an unnamed processor'}, commit "
        f"`{told.machine.commit or 'unknown'}`)."
    )
    return f"{text} {told.repair}".strip()


def _minutes(told: Training) -> str:
    return "" if told.minutes is None else f"{told.minutes:.0f} minutes of "

"""Search over actions: clone the episode, try each candidate, keep the best."""

from itertools import product

import gymnasium as gym

from healthgym.core import call

#: Grams of magnesium, or no order; and the level to report, in mg/dL, or -1 for no measurement.
DOSES = (None, 1.0, 2.0, 4.0)
LEVELS = (-1.0, *(round(0.1 * tenth, 1) for tenth in range(1, 40)))


def main(index: int = 5) -> float:
    """Find a dose and an answer by handing all of them in, in copies; return the reward.

    This is planning with the verifier as a model of the world: useful for debugging a reward and
    for making demonstrations, and not something a deployed agent could do. Nothing is paid before
    the work is handed in, so each candidate is played to its end.
    """
    env = gym.make(
        "HealthAgent/FhirRecord-v1", task_types=["v1-t5"], difficulty="easy", reward="shaped"
    )
    env.reset(options={"index": index})
    episode = env.unwrapped.episode
    patient = episode.instruction().split("Patient ")[1].split(":")[0]

    def script(grams: float | None, level: float) -> list[object]:
        order = call(
            "create_medication_request",
            patient=patient,
            code="0338-1715-40",
            dose=grams,
            dose_unit="g",
            rate=grams,
            rate_unit="h",
            route="IV",
        )
        return [*([] if grams is None else [order]), call("finish", value=[level])]

    worth: dict[tuple[float | None, float], float] = {}
    for candidate in product(DOSES, LEVELS):
        copy = episode.clone()
        worth[candidate] = sum(copy.step(action).reward for action in script(*candidate))
    best = max(worth, key=worth.__getitem__)
    print(episode.instruction(), "\n")
    order = "no order" if best[0] is None else f"{best[0]} g of magnesium"
    print(f"{len(worth)} copies played; best: {order}, reported level {best[1]} mg/dL")
    for action in script(*best):
        episode.step(action)
    return episode.total_reward()


if __name__ == "__main__":
    print("return:", main())

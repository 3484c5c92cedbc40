"""Search over actions: clone the episode, try each candidate, keep the best."""

import gymnasium as gym

from healthgym.core import call


def main(index: int = 0) -> float:
    """Choose a magnesium dose by trying all of them in copies of the episode; return the reward.

    This is planning with the verifier as a model of the world: useful for debugging a reward and
    for making demonstrations, and not something a deployed agent could do.
    """
    env = gym.make(
        "HealthAgent/FhirRecord-v0", task_types=["v1-t5"], difficulty="easy", reward="shaped"
    )
    env.reset(options={"index": index})
    episode = env.unwrapped.episode
    patient = episode.instruction().split("Patient ")[1].split(":")[0]

    def order(grams: float) -> object:
        return call(
            "create_medication_request",
            patient=patient,
            code="0338-1715-40",
            dose=grams,
            dose_unit="g",
            rate=grams,
            rate_unit="h",
            route="IV",
        )

    gains = {None: 0.0}
    for grams in (1.0, 2.0, 4.0):
        gains[grams] = episode.clone().step(order(grams)).reward
    best = max(gains, key=gains.__getitem__)
    print("progress gained by each dose:", gains, "-> best:", best)
    if best is not None:
        episode.step(order(best))
    return episode.total_reward()


if __name__ == "__main__":
    print("shaped return before the answer:", main())

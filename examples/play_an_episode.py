"""Play one episode by hand: look a potassium up, decide, order, answer."""

import re

import gymnasium as gym

import healthgym


def main(index: int = 2) -> float:
    """Play the first potassium task from ``index`` on; return its reward."""
    env = gym.make("HealthAgent/FhirRecord-v1", task_types=["v1-t9"], difficulty="easy")
    question, info = env.reset(options={"index": index})
    print(question, "\n\nTools:", ", ".join(tool["function"]["name"] for tool in info["tools"]))

    patient = re.search(r"S\d{7}", question)[0]
    table, *_ = env.step(healthgym.call("search_observations", patient=patient, code="K"))
    print(f"\n{table}\n")
    found = re.search(r" K ([\d.]+) ", table)
    value = float(found[1]) if found else -1
    if 0 < value < 3.5:
        env.step(
            healthgym.call(
                "create_medication_request",
                patient=patient,
                code="40032-917-01",
                dose=round((3.5 - value) * 100),
                dose_unit="mEq",
                route="oral",
            )
        )
        tomorrow = env.unwrapped.episode.task.now.replace(hour=8, minute=0)
        tomorrow = tomorrow.fromordinal(tomorrow.toordinal() + 1).replace(hour=8)
        env.step(
            healthgym.call(
                "create_service_request",
                patient=patient,
                code="2823-3",
                system="http://loinc.org",
                priority="stat",
                occurrence=tomorrow.isoformat(),
            )
        )
    _, reward, _, _, info = env.step(healthgym.call("finish", value=[value]))
    for check in info["verdict"]["strict"]["checks"]:
        print("passed" if check["passed"] else "FAILED", check["name"], "-", check["requirement"])
    return float(reward)


if __name__ == "__main__":
    print("reward", main())

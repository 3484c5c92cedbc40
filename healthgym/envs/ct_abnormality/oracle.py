"""What an agent that knows the answer does, and what ones that do not look do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from healthgym.core.family import Script
from healthgym.core.tool import ToolCall, call
from healthgym.envs.ct_abnormality.resources import LABELS
from healthgym.envs.ct_abnormality.task import CtInstance

#: Findings that the source benchmark can call absent; the others are listed only if present.
TWO_WAY = frozenset(
    {
        "Cardiomegaly",
        "Pericardial effusion",
        "Lymphadenopathy",
        "Lung nodule",
        "Pleural effusion",
    }
)


def solve(instance: CtInstance, rng: np.random.Generator) -> Script:
    """Look at a slice, call each finding right, and submit."""
    task, reference = instance.task, instance.reference
    return [
        call("volume_info"),
        call("show_criteria", finding=task.labels[0]),
        call("view_slice", plane="axial", window="lung"),
        *(_record(label, reference.truth[label]) for label in task.labels),
        call("show_calls"),
        call("submit"),
    ]


def _record(label: str, present: bool) -> ToolCall:
    return call("record_call", finding=label, answer="yes" if present else "no")


def _blind(rule: Callable[[str], bool]) -> Callable[..., Script]:
    def play(instance: CtInstance, rng: np.random.Generator) -> Script:
        return [*(_record(label, rule(label)) for label in instance.task.labels), call("submit")]

    return play


#: Says yes to everything; also what the published task with twelve positives wants.
all_yes = _blind(lambda label: True)
all_no = _blind(lambda label: False)
#: The image-blind prior of the source benchmark: one-way findings are there, two-way ones not.
prior = _blind(lambda label: label not in TWO_WAY)


def flood(instance: CtInstance, rng: np.random.Generator) -> Script:
    """Write both answers for all 18 findings, in as many spellings as the reader knows."""
    lines = [f"{label}: {value}" for label in LABELS for value in ("no", "yes", "positive")]
    return [call("write_predictions", text="\n".join(lines)), call("submit")]


def guess(instance: CtInstance, rng: np.random.Generator) -> Script:
    """Toss a coin for each finding."""
    calls = [_record(label, bool(rng.random() < 0.5)) for label in instance.task.labels]
    return [*calls, call("submit")]

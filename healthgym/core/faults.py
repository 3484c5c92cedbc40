"""Failures of ours in the middle of somebody's run: logged whole, counted, and no score."""

from __future__ import annotations

import logging

from healthgym.errors import ConfigurationError, InfrastructureError, VerifierError

_LOG = logging.getLogger("healthgym")


class FaultLedger:
    """Counts failures of ours, and decides whether a run goes on.

    Args:
        ceiling: How many episodes may be lost to such failures; the next failure is raised. With 0
            the first one is: what tests want.
    """

    def __init__(self, ceiling: int = 0) -> None:
        if type(ceiling) is not int or ceiling < 0:
            raise ConfigurationError(f"A ceiling of faults is a number from 0, not {ceiling!r}.")
        self.ceiling = ceiling
        self._reports: list[str] = []

    @property
    def reports(self) -> tuple[str, ...]:
        """A line for each episode that was lost: its task, and what failed."""
        return tuple(self._reports)

    def __len__(self) -> int:
        return len(self._reports)

    def take(self, task_id: str, action: object, error: Exception) -> str:
        """Note a failure, and return its line in the report.

        Raises:
            Exception: The failure itself, once there are more than the ceiling allows.
        """
        report = f"{task_id}: {error!r}"
        _LOG.error(
            "A failure of ours in %s, at the action %.2000r", task_id, action, exc_info=error
        )
        if len(self._reports) >= self.ceiling:
            raise error
        self._reports.append(report)
        return report


def is_outage(error: Exception) -> bool:
    """Return whether something outside the episode failed, which may be there again later."""
    return isinstance(error, InfrastructureError) and not isinstance(error, VerifierError)

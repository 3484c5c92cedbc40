"""The exception tree.

Two roots of failure are kept apart on purpose. A :class:`ToolError` is the agent's mistake: the
engine turns it into an observation and the episode goes on. Everything else is ours or the
caller's: it is raised, is never scored, and trainers mask the episode it interrupted.
"""

from __future__ import annotations


class HealthGymError(Exception):
    """Base class of every error raised by healthgym."""


class ToolError(HealthGymError):
    """The agent's action cannot be carried out; the message says what is accepted.

    Raised by parsers, argument validation, toolsets and worlds. It never leaves
    :meth:`healthgym.core.episode.Episode.step`.
    """


class OutOfTimeError(ToolError):
    """The agent's action was stopped by a clock of the machine, not by a limit on work.

    It is refused like any other, but where the machine is faster or less busy it need not be, so
    the record marks the call as one that cannot be repeated.
    """


class ConfigurationError(HealthGymError, ValueError):
    """An argument given by the caller (not the agent) is not one of those accepted."""


class EpisodeStateError(HealthGymError, RuntimeError):
    """A method was called at the wrong moment, such as ``step`` before ``reset``."""


class DataError(HealthGymError):
    """A data set is missing or damaged; the message names the files and how to get them."""


class MissingDataError(DataError, FileNotFoundError):
    """A file or folder of a data set does not exist."""


class DamagedDataError(DataError, ValueError):
    """A file of a data set exists but cannot be read as what it should be."""


class MissingDependencyError(HealthGymError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class TrajectoryError(HealthGymError):
    """A recorded trajectory cannot be read or does not replay to the same bytes."""


class ConformanceError(HealthGymError, AssertionError):
    """An environment breaks a promise that the conformance suite checks."""


class InfrastructureError(HealthGymError):
    """Something outside the episode failed (endpoint, judge, disk): never a reward."""


class SandboxUnavailableError(InfrastructureError):
    """Code cannot be confined on this machine; the message says what is missing."""


class EndpointError(InfrastructureError):
    """A remote endpoint refused, timed out or answered with something unusable."""


class EndpointUnreachableError(EndpointError):
    """There is no connection to the endpoint, or it broke off in the middle of an answer."""


class EndpointAbsentError(EndpointUnreachableError):
    """Nobody takes a connection at the endpoint's address, or its host has none.

    Attributes:
        never: Whether nobody has ever taken one there, so that waiting is of no use.
    """

    never = False


class EndpointTimeoutError(EndpointError):
    """The endpoint did not answer in time."""


class EndpointRefusedError(EndpointError):
    """The endpoint answered that it will not, or cannot now."""


class EndpointWordsError(EndpointRefusedError):
    """The endpoint refused what was said to it: it was too long, or not fit to be said."""


class EndpointAnswerError(EndpointError):
    """The endpoint answered with something that is none of the answers asked for."""


class BudgetExceededError(InfrastructureError):
    """The requests, tokens or dollars allowed for a run are spent; what was finished is kept."""


class SeatCrashedError(InfrastructureError):
    """The policy in a seat failed; the episode is over and has no score, its record is kept."""


class VerifierError(InfrastructureError):
    """A verifier failed on our account; the episode has no score and must be masked."""

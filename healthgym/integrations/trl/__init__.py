"""Training with TRL: environments, demonstrations, and the whole run from both.

Importing this loads neither torch nor TRL; the functions that need them do, and say which extra
brings them.
"""

from healthgym.integrations.trl.demonstrations import Demonstration, demonstrations
from healthgym.integrations.trl.environment import TrlEnvironment, environment_class
from healthgym.integrations.trl.mixture import Adaptive, Mixture, Part, levels
from healthgym.integrations.trl.replies import teach
from healthgym.integrations.trl.rewards import episode_reward
from healthgym.integrations.trl.spec import TrlSpec, trl_spec
from healthgym.integrations.trl.turns import turn_rewards

__all__ = [
    "Adaptive",
    "Demonstration",
    "Mixture",
    "Part",
    "TrlEnvironment",
    "TrlSpec",
    "demonstrations",
    "environment_class",
    "episode_reward",
    "levels",
    "teach",
    "trl_spec",
    "turn_rewards",
]

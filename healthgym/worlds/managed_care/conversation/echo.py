"""Whether somebody hears their own words said back, the plainest sign of being listened to."""

from __future__ import annotations

import re
from typing import Final

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.conversation.replies import spoken

_WORD: Final = re.compile(r"[a-z]{3,}")
#: Letters by which a word is known again, whatever its ending.
_STEM: Final = 5
#: Words that are another person's for the same.
_SAME: Final = {"yourself": "self", "myself": "self", "yours": "mine"}
#: Words that have to come back, at least.
_LEAST: Final = 2


def echoes(message: str, words: str) -> bool:
    """Return whether a message says back what somebody said: most of its words, two at least.

    Args:
        message: What a caller says.
        words: What the person said before.
    """
    own = _stems(words)
    back = len(own & _stems(message))
    return back >= _LEAST and 2 * back >= len(own)


@short_text_cache(2048, 2000)
def _stems(text: str) -> frozenset[str]:
    found = {_SAME.get(word, word) for word in _WORD.findall(text.lower())}
    return frozenset(word[:_STEM] for word in found - spoken().empty)

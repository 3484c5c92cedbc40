"""The windows of a case, calendar time, as the source has them."""

from __future__ import annotations

from datetime import timedelta

#: For answering a request for information.
PEND = timedelta(days=2)
#: For which an authorization holds.
AUTHORIZATION = timedelta(days=30)
#: For appealing a denial, and for asking for an external review after an internal appeal.
APPEAL = timedelta(days=30)

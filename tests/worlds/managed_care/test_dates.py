"""Days and times as people write them, and the one form in which they are kept."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from healthgym.worlds.managed_care.dates import moment, normalized_day
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode


@pytest.mark.parametrize(
    "text",
    ["2026-03-13", " 2026-03-13 ", "2026-03-13T09:00:00", "03/13/2026", "3/13/2026", "03-13-2026"],
)
def test_a_day_is_kept_in_iso_form(text: str) -> None:
    assert normalized_day(text, "request_date") == "2026-03-13"


@pytest.mark.parametrize("text", [None, "", "  "])
def test_a_blank_day_is_none(text: str | None) -> None:
    assert normalized_day(text, "request_date") is None


@pytest.mark.parametrize("text", ["soon", "13/03/2026", "2026-02-30", "03/13-2026", "03/13/26"])
def test_what_is_no_day_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match=r"request_date is .* accepted are 2026-03-13") as caught:
        normalized_day(text, "request_date")
    assert caught.value.code is RefusalCode.BAD_ARGUMENT


@pytest.mark.parametrize(
    "text", ["2026-03-20T09:00", "2026-03-20T09:00:00Z", "2026-03-20T04:00:00-05:00"]
)
def test_a_time_is_kept_in_utc(text: str) -> None:
    assert moment(text, "sla_deadline") == datetime(2026, 3, 20, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["Friday", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match=rf"sla_deadline is '{re.escape(text)}'"):
        moment(text, "sla_deadline")

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.worlds.fhir.search.dates import (
    Prefix,
    compare,
    microseconds,
    parse_interval,
    split_prefix,
    stored_interval,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DATE_FORMATS = {
    "%Y": lambda d: (datetime(d.year, 1, 1, tzinfo=UTC), datetime(d.year + 1, 1, 1, tzinfo=UTC)),
    "%Y-%m": lambda d: (
        datetime(d.year, d.month, 1, tzinfo=UTC),
        datetime(d.year + d.month // 12, d.month % 12 + 1, 1, tzinfo=UTC),
    ),
    "%Y-%m-%d": lambda d: (
        d.replace(hour=0, minute=0, second=0),
        d.replace(hour=0, minute=0, second=0) + timedelta(days=1),
    ),
    "%Y-%m-%dT%H:%M": lambda d: (d.replace(second=0), d.replace(second=0) + timedelta(minutes=1)),
    "%Y-%m-%dT%H:%M:%SZ": lambda d: (d, d + timedelta(seconds=1)),
}
moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(
    lambda d: d.replace(microsecond=0)
)


@given(moments, st.sampled_from(sorted(DATE_FORMATS)))
def test_a_partial_date_is_the_whole_period_it_names(moment, form):
    start, end = DATE_FORMATS[form](moment)
    low, high = parse_interval(moment.strftime(form).rjust(len(moment.strftime(form)), "0"))
    assert (low, high) == (microseconds(start), microseconds(end))


@given(moments, st.integers(-14 * 60, 14 * 60))
def test_offsets_name_the_same_instant(moment, minutes):
    sign, size = "-" if minutes < 0 else "+", abs(minutes)
    local = moment + timedelta(minutes=minutes)
    text = f"{local:%Y-%m-%dT%H:%M:%S}{sign}{size // 60:02d}:{size % 60:02d}"
    assert parse_interval(text).low == microseconds(moment)


def test_a_plus_that_became_a_space_is_an_offset():
    assert parse_interval("2023-11-12T10:15:00 02:00") == parse_interval(
        "2023-11-12T10:15:00+02:00"
    )


@given(moments, moments, st.sampled_from(sorted(DATE_FORMATS)), st.sampled_from(list(Prefix)))
def test_prefixes_compare_instants_as_brute_force_does(stored, asked, form, prefix):
    start, end = DATE_FORMATS[form](asked)
    now = datetime(2024, 1, 1, tzinfo=UTC)
    slack = abs(now - start) / 10
    expected = {
        Prefix.EQ: start <= stored < end,
        Prefix.NE: not start <= stored < end,
        Prefix.GT: stored >= end,
        Prefix.LT: stored < start,
        Prefix.GE: stored >= start,
        Prefix.LE: stored < end,
        Prefix.SA: stored >= end,
        Prefix.EB: stored < start,
    }
    low, high = stored_interval(stored.strftime("%Y-%m-%dT%H:%M:%S+00:00"))
    interval = parse_interval(asked.strftime(form))
    found = compare(prefix, low, high, interval, microseconds(now))
    if prefix is Prefix.AP:
        if abs(stored - start) > slack + (end - start) + timedelta(seconds=1):
            assert not found
        if start <= stored < end:
            assert found
    else:
        assert found == expected[prefix]
    array = compare(prefix, np.array([low]), np.array([high]), interval, microseconds(now))
    assert array.tolist() == [found]


@pytest.mark.parametrize(
    ("prefix", "asked", "expected"),
    [
        ("ge", "2013-03-14", True),
        ("gt", "2013-03-14T10:00", True),
        ("lt", "2013-03-14T10:00", True),
        ("eq", "2013-03-14T10:00", False),
        ("eq", "2013-03", True),
        ("sa", "2013-03-13", True),
        ("sa", "2013-03-14T10:00", False),
        ("eb", "2013-03-15", True),
    ],
)
def test_a_stored_day_overlaps_as_the_specification_says(prefix, asked, expected):
    low, high = stored_interval("2013-03-14")
    assert compare(Prefix(prefix), low, high, parse_interval(asked), 0) is expected


def test_a_time_given_to_the_millisecond_equals_the_stored_second():
    low, high = stored_interval("2023-11-13T10:15:00+00:00")
    asked = parse_interval("2023-11-13T10:15:00.000Z")
    assert compare(Prefix.EQ, low, high, asked, 0)
    assert not compare(Prefix.GT, low, high, asked, 0)


@pytest.mark.parametrize(
    "text",
    [
        "today",
        "",
        "2023-13",
        "2023-02-29",
        "2023-1-1",
        "20230101",
        "2023-01-01T25:00",
        "0000",
        "2023-01-01T10:00:61Z",
        "\uff12\uff10\uff12\uff13",
    ],
)
def test_what_is_not_a_date_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_interval(text)


def test_prefixes_are_split_off():
    assert split_prefix("ge2023") == (Prefix.GE, "2023")
    assert split_prefix("2023") == (Prefix.EQ, "2023")

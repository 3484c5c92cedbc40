"""Texts of the same shape as others."""

from __future__ import annotations

import re

import numpy as np
import pytest

from healthgym.core.shapes import reshaped


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("0283b437-ef20-41bb-a026-b60a742d536a", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("S7012345", r"[A-Z]\d{7}"),
        ("MRN/00-12.a", r"[A-Z]{3}/\d\d-\d\d\.[a-z]"),
        ("2020-10-09T21:52:26+00:00", r"[\d]{4}-\d\d-\d\d[A-Z][\d:]{8}\+\d\d:\d\d"),
        ("", ""),
    ],
)
def test_the_form_stays_and_the_text_does_not(text: str, form: str) -> None:
    rng = np.random.default_rng(0)
    drawn = [reshaped(rng, text) for _ in range(20)]
    assert all(re.fullmatch(form, each) for each in drawn)
    assert len({*drawn} - {text}) == (20 if text else 0)

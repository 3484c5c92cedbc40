"""The chart review."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.care import CMChartReview


class CareChart(App):
    """Chart reviews.

    Attributes:
        reviews: Chart reviews, by id.
    """

    name = "cm_chart"
    reviews = table[str, CMChartReview]()

"""One page for whoever wants to see what happened: episodes, runs beside each other, and a report.

:mod:`~healthgym.presentation.viewer.page` writes it, from episodes as
:mod:`~healthgym.presentation.viewer.records` tells them. What a browser does with it is in
``data/``: a template, a style and a program that reads recorded text as text and never as markup.
"""

from healthgym.presentation.viewer.page import PageData, Section, page, write_page
from healthgym.presentation.viewer.records import Answer, PictureFinder, Shown

__all__ = ["Answer", "PageData", "PictureFinder", "Section", "Shown", "page", "write_page"]

"""Documents to search and read, and a draft list to write."""

from healthgym.worlds.corpus.documents import Corpus, Document
from healthgym.worlds.corpus.world import CorpusWorld

__all__ = ["Corpus", "CorpusWorld", "Document"]

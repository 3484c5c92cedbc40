"""Names for what transformers, TRL and datasets make, whose types may not be installed."""

from __future__ import annotations

from typing import Any, TypeAlias

#: A causal language model of transformers, perhaps wrapped by PEFT.
AnyModel: TypeAlias = Any
#: A tokenizer of transformers.
AnyTokenizer: TypeAlias = Any
#: A tokenizer, or a processor that has one and reads pictures too.
AnyProcessor: TypeAlias = Any
#: A trainer of TRL.
AnyTrainer: TypeAlias = Any
#: A data set of `datasets`.
AnyDataset: TypeAlias = Any

__all__ = ["AnyDataset", "AnyModel", "AnyProcessor", "AnyTokenizer", "AnyTrainer"]

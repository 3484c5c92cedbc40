"""The engine: episodes of typed tool calls, scored by verifiers. No healthcare word in here."""

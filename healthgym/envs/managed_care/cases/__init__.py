"""Cases: a policy with numbers of its own, a patient it fits or not, and what stands around."""

"""What can go wrong between a question and its answer, with the exit code of each."""

from __future__ import annotations

from fullgraph.errors import FullgraphError


class AiError(FullgraphError):
    """There is no answer. The exit code is 2 for what you can change, 3 and 4 for the provider."""


class SetupError(AiError):
    """No model, no key, a key or a model that the provider refuses, or bad input."""


class NotReachableError(AiError):
    """The provider did not answer: 429, 5xx, a time-out, a cut connection, or no JSON."""

    exit_code = 3


class NoAnswerError(AiError):
    """The provider answered, and its answer cannot be used: refused, of a wrong form or empty."""

    exit_code = 4

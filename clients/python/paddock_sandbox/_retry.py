"""When a call is repeated, and after how long.

A call is repeated only if that cannot have a second effect: docs/retries.md of the service.
"""

from __future__ import annotations

import random
from typing import Optional

from .errors import ConnectionFailedError, RateLimitError, PaddockError, UnavailableError

#: Longest pause between two attempts, in seconds. A refusal that names a longer one is raised.
LONGEST = 60.0
_FIRST = 0.1
_CEILING = 5.0


def pause(error: PaddockError, attempt: int, attempts: int, repeatable: bool) -> Optional[float]:
    """Seconds to wait before the next attempt; None: the error is final.

    `attempt`: number of the failed one, from 1. `repeatable`: a second call has no second effect.
    """
    if attempt >= attempts:
        return None
    if isinstance(error, RateLimitError):
        if error.retry_after > LONGEST:
            return None
        # Clients that were refused together must not come back together.
        return error.retry_after + random.uniform(0, _backoff(attempt))
    if _is_unsent(error) or (
        repeatable and isinstance(error, (ConnectionFailedError, UnavailableError))
    ):
        return random.uniform(_backoff(attempt) / 2, _backoff(attempt))
    return None


def _backoff(attempt: int) -> float:
    return min(_CEILING, _FIRST * 2.0 ** (attempt - 1))


def may_have_worked(error: PaddockError) -> bool:
    """Whether the request may have taken effect although it failed."""
    return isinstance(error, (ConnectionFailedError, UnavailableError)) and not _is_unsent(error)


def _is_unsent(error: PaddockError) -> bool:
    return isinstance(error, ConnectionFailedError) and error.unsent

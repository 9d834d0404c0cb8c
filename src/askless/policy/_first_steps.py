"""Remember the first steps of a policy that takes long to find them.

Every case begins with the same few steps, and those look at all cases. Memory is
bounded, and any number of threads may ask: what is not remembered is worked out again,
with the same result.
"""

from __future__ import annotations

from threading import Lock
from typing import Generic, TypeVar

__all__ = ["FirstSteps"]

State = TypeVar("State")
# Bytes that the states may take.
MOST_BYTES = 2**26


class FirstSteps(Generic[State]):
    """States by the codes that led to them.

    Parameters
    ----------
    most_bytes : int, default=67108864
        What the states may take together. What comes later is not kept.

    Examples
    --------
    >>> steps = FirstSteps(most_bytes=10)
    >>> steps.keep((0,), "left", 8)
    >>> steps.keep((1,), "right", 8)
    >>> steps.find((0,)), steps.find((1,))
    ('left', None)
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = Lock()
        self.clear()

    def find(self, path: tuple[int, ...]) -> State | None:
        """Return the state at the end of a path, or None if it is not remembered."""
        return self._states.get(path)

    def keep(self, path: tuple[int, ...], state: State, n_bytes: int) -> None:
        """Remember a state, if there is room for it."""
        with self._lock:
            if n_bytes <= self._bytes_left and path not in self._states:
                self._states[path] = state
                self._bytes_left -= n_bytes

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._states: dict[tuple[int, ...], State] = {}
            self._bytes_left = self._most_bytes

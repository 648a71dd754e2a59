"""One seed, split by purpose and counter, so that a new draw shifts no other."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RandomStreams:
    """Independent random numbers for each purpose ("order", "negatives", ...) and counter.

    >>> streams = RandomStreams(seed=0)
    >>> int(streams.key("negatives", 3)) == int(streams.key("negatives", 3))
    True
    >>> int(streams.key("negatives", 3)) == int(streams.key("order", 3))
    False
    """

    seed: int

    @classmethod
    def from_random_state(cls, random_state: int | None) -> RandomStreams:
        """Return the streams of a seed; None takes a fresh one from the operating system."""
        if random_state is None:
            return cls(int(np.random.SeedSequence().generate_state(1)[0]))
        return cls(random_state)

    def _sequence(self, purpose: str, counters: tuple[int, ...]) -> np.random.SeedSequence:
        return np.random.SeedSequence([self.seed, zlib.crc32(purpose.encode()), *counters])

    def generator(self, purpose: str, *counters: int) -> np.random.Generator:
        """Return NumPy's generator for a purpose."""
        return np.random.Generator(np.random.Philox(self._sequence(purpose, counters)))

    def key(self, purpose: str, *counters: int) -> np.uint64:
        """Return 64 bits for kernels that draw by counters."""
        key: np.uint64 = self._sequence(purpose, counters).generate_state(1, np.uint64)[0]
        return key

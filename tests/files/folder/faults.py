"""Make the k-th step of a save fail: a step is a moment before, within or after a system call."""

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import safetensors.numpy

_CALLS = ("chmod", "fsync", "mkdir", "open", "replace", "rmdir", "unlink")


@dataclass
class Steps:
    count: int = 0


@contextmanager
def fault_at(step: int, fail: Callable[[], None]) -> Iterator[Steps]:
    """Call `fail` once, at the given step (from 0); give the number of steps that were taken."""
    steps = Steps()

    def next_step() -> None:
        steps.count += 1
        if steps.count == step + 1:
            fail()

    with ExitStack() as stack:
        for name in _CALLS:
            stack.enter_context(patch.object(os, name, _watched(getattr(os, name), next_step)))
        stack.enter_context(patch.object(io, "open", _watched_open(next_step)))
        stack.enter_context(patch.object(safetensors.numpy, "save_file", _save_file(next_step)))
        yield steps


def _watched(call: Callable[..., Any], next_step: Callable[[], None]) -> Callable[..., Any]:
    def watched(*args: Any, **kwargs: Any) -> Any:
        next_step()
        result = call(*args, **kwargs)
        try:
            next_step()
        except BaseException:
            if call.__name__ == "open":
                os.close(result)
            raise
        return result

    return watched


def _save_file(next_step: Callable[[], None]) -> Callable[..., None]:
    save_file = safetensors.numpy.save_file

    def watched(tensors: Any, path: Path) -> None:
        next_step()
        save_file(tensors, path)
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        next_step()
        path.write_bytes(content)
        next_step()

    return watched


def _watched_open(next_step: Callable[[], None]) -> Callable[..., Any]:
    real_open = io.open

    def watched(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        file = real_open(path, mode, *args, **kwargs)
        return _HalfWriter(file, next_step) if "w" in mode else file

    return watched


class _HalfWriter(contextlib.AbstractContextManager["_HalfWriter"]):
    """A file that takes a step before, in the middle of and after each write."""

    def __init__(self, file: Any, next_step: Callable[[], None]) -> None:
        self.file, self.next_step = file, next_step

    def write(self, data: Any) -> int:
        self.next_step()
        half = len(data) // 2
        self.file.write(data[:half])
        self.file.flush()
        self.next_step()
        self.file.write(data[half:])
        self.file.flush()
        self.next_step()
        return len(data)

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

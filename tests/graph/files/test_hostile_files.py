"""A 1 GB line, binary garbage and gzip bombs end in one message, within a few hundred MB."""

import gzip
import json
import os
import subprocess
import sys
import threading

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc"),
]

# `ru_maxrss` would count what the parent held before the new program started.
READ = """
import json, pathlib, sys
from embedprop.errors import InvalidGraphError
from embedprop.graph.graph import Graph
message = ""
try:
    Graph.read(sys.argv[1])
except InvalidGraphError as error:
    message = str(error)
status = pathlib.Path("/proc/self/status").read_text()
peak_kb = int(status.partition("VmHWM:")[2].split()[0])
sys.stdout.write(json.dumps([message, peak_kb >> 10]))
"""


def message_and_peak(path, *, feed=()) -> tuple[str, int]:
    """Read a graph in a process of its own; return the error and the peak memory in MB."""
    process = subprocess.Popen(
        [sys.executable, "-c", READ, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def write() -> None:
        try:
            for piece in feed:
                process.stdin.write(piece)
            process.stdin.close()
        except BrokenPipeError:  # the reader has seen enough
            process.stdin.raw.close()

    writer = threading.Thread(target=write)
    writer.start()
    output = process.stdout.read()
    assert process.wait() == 0
    writer.join()
    process.stdout.close()
    message, peak = json.loads(output)
    return message, peak


@pytest.mark.parametrize("start", [b"", b"source,target\na,b\n"])
def test_a_line_of_one_gigabyte_does_not_fill_the_memory(start):
    feed = [start] + [b"x" * (1 << 20)] * 1024
    message, peak = message_and_peak("/dev/stdin", feed=feed)
    line = start.count(b"\n") + 1
    assert f"line {line} is longer than 16,777,216 bytes" in message
    assert peak < 400


def test_a_gzip_bomb_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    rows = gzip.compress(b"a,b\n" * (1 << 24))  # 64 MB; gzip files can be put one after another
    path.write_bytes(gzip.compress(b"source,target\n") + rows * 16)
    message, peak = message_and_peak(path)
    assert "grows more than 100 times when unpacked" in message
    assert peak < 600


@pytest.mark.parametrize("name", ["e.csv", "e.txt", "e.tsv.gz", "e.parquet", "e"])
def test_random_bytes_are_refused(tmp_path, name):
    path = tmp_path / name
    data = os.urandom(1 << 22)
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
    message, peak = message_and_peak(path)
    assert str(path) in message
    assert peak < 400

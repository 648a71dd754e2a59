"""One file from a real server on loopback: it comes whole and right, or not at all."""

import hashlib
import time
from dataclasses import replace

import pytest
from tests.datasets.servers import closed_port, content, serving_answers

from embedprop.datasets import download as module
from embedprop.datasets.download import check_file, download
from embedprop.datasets.sources import OriginalFile
from embedprop.errors import DownloadError, InvalidParameterError

BODY = b"nodes and edges\n" * 10_000
BLOB = hashlib.sha1(b"blob %d\0" % len(BODY) + BODY).hexdigest()
BY_BLOB = OriginalFile("mat", "mat", "someone/data", "c0ffee", "deep/graph.mat", BLOB)
BY_SHA256 = replace(BY_BLOB, sha256=hashlib.sha256(BODY).hexdigest(), size=len(BODY))

pytestmark = pytest.mark.usefixtures("cache")
files = pytest.mark.parametrize("file", [BY_BLOB, BY_SHA256], ids=["git blob", "SHA-256"])


def left_in(folder):
    return [path.name for path in folder.iterdir()] if folder.exists() else []


def test_an_address_names_repository_commit_and_path():
    expected = "https://raw.githubusercontent.com/someone/data/c0ffee/deep/graph.mat"
    assert BY_BLOB.address() == expected


@files
@pytest.mark.parametrize("announced", [-1, None], ids=["size announced", "size unknown"])
def test_a_file_arrives_with_its_content_and_nothing_beside_it(tmp_path, file, announced):
    with serving_answers(content(BODY, announced=announced)) as (address, asked):
        path = download(file, tmp_path / "originals", mirror=address)
    assert path.read_bytes() == BODY
    assert left_in(path.parent) == ["graph.mat"]
    assert asked == ["/mat/graph.mat"]


def test_a_file_that_is_there_is_not_fetched_again(tmp_path):
    (tmp_path / "graph.mat").write_bytes(BODY)
    address = f"http://127.0.0.1:{closed_port()}"
    assert download(BY_BLOB, tmp_path, mirror=address).read_bytes() == BODY


@files
def test_a_damaged_file_in_the_cache_is_fetched_again(tmp_path, file):
    (tmp_path / "graph.mat").write_bytes(BODY[:-1] + b"?")
    with serving_answers(content(BODY)) as (address, _):
        assert download(file, tmp_path, mirror=address).read_bytes() == BODY


@files
def test_a_connection_that_is_cut_once_is_tried_again(tmp_path, file):
    cut = content(BODY[:70_000], announced=len(BODY))
    with serving_answers(cut, content(BODY)) as (address, asked):
        assert download(file, tmp_path, mirror=address).read_bytes() == BODY
    assert len(asked) == 2


@files
def test_a_connection_that_is_cut_twice_is_an_error_and_leaves_nothing(tmp_path, file):
    cut = content(BODY[:70_000], announced=len(BODY))
    with (
        serving_answers(cut) as (address, asked),
        pytest.raises(DownloadError, match=r"graph\.mat .* cut after 70,000 of 160,000 bytes"),
    ):
        download(file, tmp_path, mirror=address)
    assert len(asked) == 2
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("announced", [-1, None])
@files
def test_a_wrong_checksum_is_an_error_and_leaves_nothing(tmp_path, file, announced):
    with (
        serving_answers(content(BODY[:-1] + b"?", announced=announced)) as (address, _),
        pytest.raises(DownloadError, match=r"160,000 bytes received have the wrong checksum"),
    ):
        download(file, tmp_path, mirror=address)
    assert left_in(tmp_path) == []


def test_a_missing_file_is_an_error_at_once(tmp_path):
    with (
        serving_answers(content(b"", status=404)) as (address, asked),
        pytest.raises(DownloadError, match=r"/mat/graph\.mat .* answers 404 Not Found.*--mirror"),
    ):
        download(BY_BLOB, tmp_path, mirror=address)
    assert len(asked) == 1
    assert left_in(tmp_path) == []


def test_a_server_that_is_busy_is_asked_again(tmp_path):
    busy = content(b"", status=503)
    with serving_answers(busy, content(BODY)) as (address, asked):
        assert download(BY_BLOB, tmp_path, mirror=address).read_bytes() == BODY
    assert len(asked) == 2


def test_without_network_the_error_names_the_address_and_what_to_do(tmp_path):
    address = f"http://127.0.0.1:{closed_port()}"
    with pytest.raises(
        DownloadError,
        match=rf"{address}/mat/graph\.mat .*no connection.*Check the network.*--files",
    ):
        download(BY_BLOB, tmp_path, mirror=address)
    assert left_in(tmp_path) == []


def test_a_server_that_falls_silent_is_given_up(tmp_path):
    def silent(handler):
        content(BODY[:1000], announced=len(BODY))(handler)
        handler.wfile.flush()
        time.sleep(0.5)

    with (
        serving_answers(silent) as (address, _),
        pytest.raises(DownloadError, match=r"the connection was cut \(timed out\)"),
    ):
        download(BY_BLOB, tmp_path, mirror=address, timeout=0.1)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("announced", [-1, None])
def test_more_bytes_than_expected_are_refused(tmp_path, monkeypatch, announced):
    monkeypatch.setattr(module, "MAX_BYTES", 100_000)
    with serving_answers(content(BODY + b"more", announced=announced)) as (address, asked):
        with pytest.raises(
            DownloadError, match="expected at most 160,000 bytes, but the server has more"
        ):
            download(BY_SHA256, tmp_path, mirror=address)
        with pytest.raises(
            DownloadError, match="expected at most 100,000 bytes, but the server has more"
        ):
            download(BY_BLOB, tmp_path, mirror=address)
    assert len(asked) == 2
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("address", ["file:///etc", "ftp://host", "host", "http://", "http://a b"])
def test_an_address_that_is_not_of_the_web_is_refused(tmp_path, address):
    with pytest.raises(InvalidParameterError, match="is not an address"):
        download(BY_BLOB, tmp_path, mirror=address)


def test_progress_is_reported_until_all_is_there(tmp_path):
    reports = []
    with serving_answers(content(BODY)) as (address, _):
        download(BY_BLOB, tmp_path, mirror=address, report=lambda *what: reports.append(what))
    assert reports[-1] == ("graph.mat", len(BODY), len(BODY))
    assert [n for _, n, _ in reports] == sorted({n for _, n, _ in reports})


def test_an_interrupt_leaves_nothing(tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    with serving_answers(content(BODY)) as (address, _), pytest.raises(KeyboardInterrupt):
        download(BY_BLOB, tmp_path, mirror=address, report=stop)
    assert left_in(tmp_path) == []


def test_local_files_are_checked_as_well(tmp_path):
    with pytest.raises(InvalidParameterError, match=r"graph\.mat is missing"):
        check_file(BY_BLOB, tmp_path / "graph.mat")
    (tmp_path / "graph.mat").write_bytes(b"other")
    with pytest.raises(InvalidParameterError, match=r"the published file\. Get it from https"):
        check_file(BY_BLOB, tmp_path / "graph.mat")
    check_file(replace(BY_BLOB, git_blob=None), tmp_path / "graph.mat")
    (tmp_path / "graph.mat").write_bytes(BODY)
    check_file(BY_BLOB, tmp_path / "graph.mat")

"""What is known of the original files agrees with the data sheets and the files themselves."""

import hashlib
import json
import re

import pytest

from embedprop.datasets.planetoid import KINDS
from embedprop.datasets.sources import find_source, sources
from embedprop.errors import InvalidParameterError

fetchable = [s for s in sources().values() if s.format and not s.obstacle]


def test_the_six_graphs_of_the_paper_can_be_fetched():
    assert {source.name for source in fetchable} == {
        "cora", "citeseer", "pubmed", "blogcatalog", "ppi", "pos",
    }  # fmt: skip


@pytest.mark.parametrize("source", fetchable, ids=lambda source: source.name)
def test_every_file_to_fetch_has_a_fixed_address_and_a_checksum(source):
    kinds = KINDS if source.format == "planetoid" else ("mat",)
    assert {file.kind for file in source.files} == set(kinds)
    for file in source.files:
        assert re.fullmatch("[0-9a-f]{40}", file.commit)
        assert re.fullmatch("[0-9a-f]{40}", file.git_blob)
        assert (file.sha256 is None) == (file.size is None)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)


def test_what_cannot_be_fetched_says_why():
    assert all(source.obstacle for source in sources().values() if source not in fetchable)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(
        InvalidParameterError, match=r"Unknown data set 'Cora'\. Did you mean 'cora'.*: cora, "
    ):
        find_source("Cora")


def test_files_are_those_of_the_data_sheets(real_data):
    for source in sources().values():
        sheet = json.loads((real_data / source.name.split("-")[0] / "meta.json").read_text())
        listed = {
            (s["path"].split("/")[-1], s["git_blob_sha1"]): (s.get("commit"), s["path"])
            for s in sheet["sources"]
        }
        for file in source.files:
            if file.git_blob is None:
                continue
            commit, path = listed[file.name, file.git_blob]
            if commit is not None:
                assert (file.commit, file.path) == (commit, path)


def test_checksums_are_those_of_the_original_files(real_data):
    n_files = 0
    for file in (file for source in fetchable for file in source.files):
        path = real_data / "raw" / file.folder / file.name
        if path.exists():
            content = path.read_bytes()
            assert file.size == len(content)
            assert file.sha256 == hashlib.sha256(content).hexdigest()
            blob = b"blob %d\0" % len(content) + content
            assert file.git_blob == hashlib.sha1(blob).hexdigest()
            n_files += 1
    assert n_files == 8 + 8 + 3

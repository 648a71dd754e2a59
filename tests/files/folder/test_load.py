import json
import mmap
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from tests.files.folder.models import (
    NEW,
    OLD,
    Model,
    change_data_file,
    change_manifest,
    manifest_of,
)

from embedprop.errors import FormatVersionError, InvalidModelError
from embedprop.files.folder import load
from embedprop.files.folder.load import load_model


def test_arrays_are_views_of_the_mapped_file(folder: Path) -> None:
    base: Any = load_model(folder).arrays["vectors"]
    assert type(base) is np.ndarray
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the resident memory from /proc")
def test_loading_does_not_read_the_arrays(tmp_path: Path) -> None:
    def resident_bytes() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    Model({}, {"vectors": np.ones(8_000_000)}, {}).save(tmp_path)
    load_model(tmp_path)
    before = resident_bytes()
    vectors = load_model(tmp_path).arrays["vectors"]
    assert resident_bytes() - before < vectors.nbytes / 4
    assert vectors.sum() == 8_000_000
    assert resident_bytes() - before > vectors.nbytes / 2


def test_writing_to_a_loaded_array_does_not_change_the_model(folder: Path) -> None:
    load_model(folder).arrays["vectors"][:] = 99
    assert OLD.is_in(folder)


def test_a_loaded_model_outlives_a_save_over_it(folder: Path) -> None:
    vectors = load_model(folder).arrays["vectors"]
    NEW.save(folder)
    np.testing.assert_array_equal(vectors, OLD.arrays["vectors"])


def test_a_file_that_safetensors_wrote_is_read(folder: Path) -> None:
    tensors = {"b": np.arange(3, dtype=np.uint8), "a": np.arange(4, dtype=np.int64)}
    content = safetensors.numpy.save(tensors, metadata={"by": "hand"})
    change_manifest(folder, lambda m: change_data_file(m["arrays"], folder, content))
    arrays = load_model(folder).arrays
    assert arrays.keys() == tensors.keys()
    np.testing.assert_array_equal(arrays["a"], tensors["a"])
    np.testing.assert_array_equal(arrays["b"], tensors["b"])


def test_an_array_that_is_not_aligned_is_copied_to_a_place_that_is(folder: Path) -> None:
    content = safetensors_file({"a": entry(shape=[2], end=16)}, bytes(16), pad=1)
    change_manifest(folder, lambda m: change_data_file(m["arrays"], folder, content))
    assert load_model(folder).arrays["a"].flags.aligned


@pytest.mark.parametrize("verify", [False, True])
def test_a_changed_byte_is_found_by_verify_alone(folder: Path, verify: bool) -> None:
    (path,) = folder.glob("*.safetensors")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    if verify:
        with pytest.raises(InvalidModelError, match=rf"{path.name}: the content does not match"):
            load_model(folder, verify=True)
    else:
        load_model(folder)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"0")


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("suffix", ["safetensors", "parquet"])
@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (Path.unlink, "this file is missing"),
        (cut, r"expected a file of \d+ bytes, got \d+"),
        (lengthen, r"expected a file of \d+ bytes, got \d+"),
        (become_a_folder, "expected a file"),
    ],
)
def test_a_harmed_data_file_is_named(
    folder: Path, suffix: str, harm: Callable[[Path], None], problem: str
) -> None:
    path = next(folder.glob(f"*.{suffix}"))
    harm(path)
    with pytest.raises(InvalidModelError, match=rf"{path.name}: {problem}.*restore the folder"):
        load_model(folder)


def test_a_path_without_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidModelError, match="missing: no such folder"):
        load_model(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidModelError, match="this is a file, not a model folder"):
        load_model(tmp_path / "file")
    with pytest.raises(InvalidModelError, match=r"there is no manifest\.json"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "not valid JSON"),
        (b'{"format":', "not valid JSON"),
        (b"\xff\xfe\x00garbage", "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
        (b"[]", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b"{}", "not the manifest of an embedprop model"),
        (b'{"format": "other"}', "not the manifest of an embedprop model"),
        (b" " * 100_000_001, "the file is too large for a manifest"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else "",
)
def test_a_manifest_that_is_none_is_refused(folder: Path, text: bytes, problem: str) -> None:
    (folder / "manifest.json").write_bytes(text)
    with pytest.raises(InvalidModelError, match=rf"manifest\.json: {problem}"):
        load_model(folder)


@pytest.mark.parametrize("written_by", [{"embedprop": "9.9"}, {}, None])
def test_a_newer_format_asks_for_an_upgrade(folder: Path, written_by: object) -> None:
    (folder / "manifest.json").write_text(
        json.dumps({"format": "embedprop-model", "format_version": 3, "written_by": written_by})
    )
    writer = "9.9" if written_by else r"\(unknown version\)"
    with pytest.raises(FormatVersionError, match=f"embedprop {writer} wrote .* version 3.*Upgrade"):
        load_model(folder)


WRONG = [None, True, -1, 1.5, "x", [], {}, [1], {"x": 1}]


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize(
    "keys",
    [
        ("format_version",),
        ("arrays",),
        ("arrays", "file"),
        ("arrays", "size"),
        ("arrays", "sha256"),
        ("vocabularies", "node"),
        ("vocabularies", "node", "file"),
        ("vocabularies", "node", "encoding"),
    ],
    ids=".".join,
)
def test_a_wrong_value_in_the_manifest_is_refused(
    folder: Path, keys: tuple[str, ...], value: object
) -> None:
    def change(content: dict[str, Any]) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    change_manifest(folder, change)
    with pytest.raises(InvalidModelError, match=r"manifest\.json"):
        load_model(folder)


@pytest.mark.parametrize("key", ["settings", "vocabularies", "written_by"])
def test_a_list_in_place_of_an_object_is_refused(folder: Path, key: str) -> None:
    change_manifest(folder, lambda content: content.update({key: []}))
    with pytest.raises(InvalidModelError, match=rf"manifest\.json.*{key}"):
        load_model(folder)


@pytest.mark.parametrize(
    "name",
    ["../{}", "/etc/passwd", "sub/{}", "..", "", "{}\n", "vectors-0000000000000000.safetensors"],
)
def test_a_file_name_that_leads_elsewhere_is_refused(
    folder: Path, tmp_path: Path, name: str
) -> None:
    real = manifest_of(folder)["arrays"]["file"]
    shutil.copy(folder / real, tmp_path / real)
    change_manifest(folder, lambda content: content["arrays"].update(file=name.format(real)))
    with pytest.raises(InvalidModelError, match=r"manifest\.json, 'arrays': 'file': expected"):
        load_model(folder)


def safetensors_file(header: object, data: bytes = b"", pad: int = 0) -> bytes:
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    text += b" " * (-len(text) % 8 + pad)
    return len(text).to_bytes(8, "little") + text + data


def entry(
    dtype: object = "F64", shape: object = (1,), begin: object = 0, end: object = 8
) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "header does not fit"),
        (b"1234567", "header does not fit"),
        (b"\xff" * 16, "header does not fit"),
        (safetensors_file([]), "not a JSON object"),
        (safetensors_file(b"{"), "Expecting"),
        (safetensors_file(b"[" * 200_000), "recursion"),
        (safetensors_file({"a": 1}), "entry of the array 'a'"),
        (safetensors_file({"a": {"dtype": "F64"}}), "entry of the array 'a'"),
        (safetensors_file({"a": entry(end="8")}, bytes(8)), "entry of the array 'a'"),
        (safetensors_file({"a": entry(dtype="BF16")}, bytes(8)), "type BF16"),
        (safetensors_file({"a": entry(shape=[-1, -1])}, bytes(8)), "shape of the array 'a'"),
        (safetensors_file({"a": entry(shape=[True])}, bytes(8)), "shape of the array 'a'"),
        (safetensors_file({"a": entry()}, bytes(7)), "does not lie within the file"),
        (safetensors_file({"a": entry(begin=-8, end=0)}, bytes(8)), "does not lie within"),
        (safetensors_file({"a": entry(begin=8, end=0)}, bytes(8)), "does not lie within"),
        (safetensors_file({"a": entry(shape=[2])}, bytes(8)), "does not lie within"),
        (safetensors_file({"a": entry(shape=[2**62, 8])}, bytes(8)), "does not lie within"),
        (safetensors_file({"a": entry(shape=[2**70, 0], end=0)}, bytes(8)), "a"),
        (safetensors_file({"a": entry(shape=[1] * 99)}, bytes(8)), "a"),
    ],
)
def test_an_array_file_that_is_none_is_refused(folder: Path, content: bytes, problem: str) -> None:
    change_manifest(folder, lambda m: change_data_file(m["arrays"], folder, content))
    with pytest.raises(InvalidModelError, match=rf"vectors-[0-9a-f]*\.safetensors: .*{problem}"):
        load_model(folder)


def test_a_vocabulary_that_is_no_parquet_file_is_named(folder: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        change_data_file(content["vocabularies"]["word"], folder, b"not Parquet")

    change_manifest(folder, change)
    with pytest.raises(InvalidModelError, match=r"vocabulary-[0-9a-f]*\.parquet: not a Parquet"):
        load_model(folder)


def test_a_reader_that_a_save_overtakes_begins_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = [(folder / "manifest.json").read_bytes()]
    NEW.save(folder)
    manifests.append((folder / "manifest.json").read_bytes())
    monkeypatch.setattr(load, "read_manifest", lambda _: manifests.pop(0))
    np.testing.assert_array_equal(load_model(folder).arrays["vectors"], NEW.arrays["vectors"])


def test_readers_see_a_whole_model_while_saves_go_on(folder: Path) -> None:
    stop = threading.Event()

    def save_both() -> None:
        while not stop.is_set():
            NEW.save(folder)
            OLD.save(folder)

    saver = threading.Thread(target=save_both)
    saver.start()
    try:
        seen = [load_model(folder, verify=True).settings for _ in range(200)]
    finally:
        stop.set()
        saver.join()
    assert all(settings in (OLD.settings, NEW.settings) for settings in seen)

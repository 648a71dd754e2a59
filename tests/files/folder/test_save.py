import errno
import itertools
import os
import resource
import shutil
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from tests.files.folder.faults import fault_at
from tests.files.folder.models import NEW, OLD, Model, change_manifest, has_only_its_own_files

from embedprop.errors import InvalidParameterError
from embedprop.files.folder.load import load_model
from embedprop.files.folder.save import save_model


def save_arrays(folder: Path, **arrays: np.ndarray) -> None:
    save_model(folder, settings={}, arrays=arrays, vocabularies={})


def test_a_saved_model_comes_back_as_it_was(tmp_path: Path) -> None:
    OLD.save(tmp_path / "deep" / "model")
    assert OLD.is_in(tmp_path / "deep" / "model")


def test_saving_again_replaces_the_model_and_removes_its_files(folder: Path) -> None:
    NEW.save(folder)
    assert NEW.is_in(folder)
    assert has_only_its_own_files(folder)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 4), (2, 3, 4)])
def test_an_array_keeps_type_shape_and_values(
    tmp_path: Path, dtype: str, shape: tuple[int, ...]
) -> None:
    array = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    save_arrays(tmp_path, odd=np.arange(3, dtype=np.uint8), array=array)
    loaded = load_model(tmp_path).arrays["array"]
    assert loaded.dtype == array.dtype
    assert loaded.shape == shape
    np.testing.assert_array_equal(loaded, array)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12.0)[::-2],
        np.arange(4, dtype=">i4"),
    ],
    ids=["transposed", "strided", "big-endian"],
)
def test_an_array_of_another_layout_keeps_its_values(tmp_path: Path, array: np.ndarray) -> None:
    save_arrays(tmp_path, array=array)
    np.testing.assert_array_equal(load_model(tmp_path).arrays["array"], array)


def test_the_arrays_are_a_file_that_safetensors_reads(folder: Path) -> None:
    (path,) = folder.glob("*.safetensors")
    tensors = safetensors.numpy.load_file(path)
    np.testing.assert_array_equal(tensors["vectors"], OLD.arrays["vectors"])


def test_files_have_the_permissions_of_a_new_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    expected = stat.filemode((tmp_path / "file").stat().st_mode)
    assert {stat.filemode(path.stat().st_mode) for path in folder.iterdir()} == {expected}


def test_files_of_the_user_stay(folder: Path) -> None:
    others = ["notes.txt", "vectors.safetensors", "vectors-0.safetensors", ".tmp"]
    for name in others:
        (folder / name).write_text("mine")
    NEW.save(folder)
    assert [(folder / name).read_text() for name in others] == ["mine"] * 4


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json"])
@pytest.mark.parametrize("content", ["hello", "{}", "[1]"])
def test_a_folder_with_something_else_is_refused_untouched(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidParameterError, match="neither empty nor an embedprop model"):
        OLD.save(tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == [content]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("hello")
    with pytest.raises(InvalidParameterError, match="this is a file"):
        OLD.save(tmp_path / "model")
    assert (tmp_path / "model").read_text() == "hello"


def test_a_first_save_that_was_killed_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "vectors-0123456789abcdef.safetensors").touch()
    (tmp_path / ".embedprop-saving-x").mkdir()
    OLD.save(tmp_path)
    assert OLD.is_in(tmp_path)
    assert has_only_its_own_files(tmp_path)


def test_a_damaged_or_newer_model_can_be_replaced(folder: Path) -> None:
    change_manifest(folder, lambda content: content.update(format_version=99, arrays=None))
    NEW.save(folder)
    assert NEW.is_in(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": {"plan": object()}}, "settings cannot be saved as JSON"),
        ({"settings": {"margin": float("nan")}}, "settings cannot be saved as JSON"),
        ({"arrays": {"a": np.array(["text"])}}, "the array 'a' of type <U4 cannot be saved"),
        ({"arrays": {"a": np.zeros(2, np.float16)}}, "the array 'a' of type float16"),
        ({"arrays": {"__metadata__": np.zeros(2)}}, "the array '__metadata__'"),
        ({"vocabularies": {"node": ["a", None]}}, "the name None cannot be saved"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_writing(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    parts: dict[str, Any] = {"settings": {}, "arrays": {}, "vocabularies": {}} | change
    with pytest.raises(InvalidParameterError, match=message):
        save_model(tmp_path / "model", **parts)
    assert not (tmp_path / "model").exists()


def full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_at_any_step_leaves_a_whole_model_and_no_rubbish(folder: Path) -> None:
    errors = []
    for step in itertools.count():
        copy = folder.with_name(f"{step}")
        shutil.copytree(folder, copy)
        with fault_at(step, full_disk) as steps:
            try:
                NEW.save(copy)
            except OSError as error:
                errors.append(error)
        assert OLD.is_in(copy) or NEW.is_in(copy)
        # A failure to remove what is left cannot be mended at once: the next save does.
        NEW.save(copy)
        assert has_only_its_own_files(copy)
        if steps.count <= step:
            break
    assert len(errors) > 20
    assert {error.errno for error in errors} == {errno.ENOSPC}
    assert all("could not be saved (No space left on device)" in str(error) for error in errors)


def test_a_failed_save_removes_what_it_wrote(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(folder.iterdir())
    replace = Path.replace

    def replace_all_but_the_manifest(path: Path, target: Path) -> Path:
        if target == folder / "manifest.json":
            full_disk()
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_all_but_the_manifest)
    with pytest.raises(OSError, match="No space left"):
        NEW.save(folder)
    assert sorted(folder.iterdir()) == before
    assert OLD.is_in(folder)


@pytest.mark.parametrize("limit", [100, 2000], ids=["vectors", "names"])
def test_a_real_failure_to_write_keeps_its_errno(folder: Path, limit: int) -> None:
    large = Model(
        {},
        {"vectors": np.ones(limit // 8)} if limit > 1000 else {"vectors": np.ones(1000)},
        {"node": [f"{i * 7919 % 10007}" for i in range(5000)]},
    )
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit + 400, hard))
    try:
        with pytest.raises(OSError, match="could not be saved") as caught:
            large.save(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert OLD.is_in(folder)
    assert has_only_its_own_files(folder)


def test_a_failed_first_save_leaves_no_folder(tmp_path: Path) -> None:
    with fault_at(10, full_disk), pytest.raises(OSError, match="No space left"):
        OLD.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_saves_at_the_same_time_leave_one_whole_model(tmp_path: Path) -> None:
    def save_often(model: Model) -> None:
        for _ in range(10):
            model.save(tmp_path)

    threads = [threading.Thread(target=save_often, args=[model]) for model in (OLD, NEW)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert OLD.is_in(tmp_path) or NEW.is_in(tmp_path)
    assert has_only_its_own_files(tmp_path)

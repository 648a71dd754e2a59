"""Two small models that share one vocabulary, and what tests ask about the folder of one."""

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from embedprop.files.folder.load import load_model
from embedprop.files.folder.save import save_model


@dataclass(frozen=True, eq=False)
class Model:
    settings: dict[str, Any]
    arrays: dict[str, np.ndarray]
    vocabularies: dict[str, list[Hashable]]

    def save(self, folder: Path) -> None:
        save_model(
            folder, settings=self.settings, arrays=self.arrays, vocabularies=self.vocabularies
        )

    def is_in(self, folder: Path) -> bool:
        stored = load_model(folder, verify=True)
        return (
            stored.settings == self.settings
            and stored.vocabularies == self.vocabularies
            and stored.arrays.keys() == self.arrays.keys()
            and all(np.array_equal(stored.arrays[name], self.arrays[name]) for name in self.arrays)
        )


OLD = Model(
    settings={"dim": 2, "margin": 1.0, "label_types": ["node", "word"]},
    arrays={
        "vectors": np.arange(6, dtype=np.float32).reshape(3, 2),
        "totals": np.array([1.0, 2.0, 0.5]),
    },
    vocabularies={"node": ["a", "b", "c"], "word": ["x", 7]},
)
NEW = Model(
    settings={"dim": 3, "margin": {"node": 5.0}},
    arrays={"vectors": -np.ones((3, 3), dtype=np.float32)},
    vocabularies={"node": ["a", "b", "c"], "word": [1, 2]},
)


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = manifest_of(folder)
    change(content)
    (folder / "manifest.json").write_text(json.dumps(content))


def change_data_file(entry: dict[str, Any], folder: Path, content: bytes) -> None:
    """Put `content` in place of the data file of `entry`, with the size and hash that it has."""
    entry["sha256"] = hashlib.sha256(content).hexdigest()
    entry["size"] = len(content)
    stem, _, suffix = entry["file"].replace("-", ".").split(".")
    entry["file"] = f"{stem}-{entry['sha256'][:16]}.{suffix}"
    (folder / entry["file"]).write_bytes(content)


def has_only_its_own_files(folder: Path) -> bool:
    manifest = manifest_of(folder)
    named = {entry["file"] for entry in manifest["vocabularies"].values()}
    named |= {manifest["arrays"]["file"], "manifest.json"}
    return {path.name for path in folder.iterdir()} == named

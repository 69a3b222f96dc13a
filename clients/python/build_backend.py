"""Builds the wheel with Python's own library (PEP 427, PEP 517).

`python3 build_backend.py [DIRECTORY]` writes it to the directory (dist) and prints its path. The same files give the
same wheel.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import sys
import tarfile
import zipfile
from typing import Any, Dict, List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "paddock_sandbox"
TAG = "py3-none-any"
#: The earliest time that a zip can have.
TIME = (1980, 1, 1, 0, 0, 0)


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: Optional[str] = None
) -> str:
    """PEP 517: writes the wheel; returns its name."""
    return _write_wheel(wheel_directory, _sources())


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: Optional[str] = None
) -> str:
    """PEP 660: a wheel that names this directory."""
    return _write_wheel(wheel_directory, {f"__editable__.{PACKAGE}.pth": HERE.encode() + b"\n"})


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """PEP 517: writes the source archive; returns its name."""
    root = f"{PACKAGE}-{_version()}"
    files = {
        **_sources(),
        "PKG-INFO": _metadata(),
        "LICENSE": _license(),
        **{name: _read(name) for name in ("pyproject.toml", "build_backend.py", "README.md")},
    }
    name = f"{root}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{root}/{path}")
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return name


def _write_wheel(directory: str, files: Dict[str, bytes]) -> str:
    info = f"{PACKAGE}-{_version()}.dist-info"
    name = f"{PACKAGE}-{_version()}-{TAG}.whl"
    files = {
        **files,
        f"{info}/METADATA": _metadata(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: build_backend\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode(),
        f"{info}/LICENSE": _license(),
    }
    record = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    os.makedirs(directory, exist_ok=True)
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            member = zipfile.ZipInfo(path, TIME)
            member.external_attr = 0o100644 << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return name


def _sources() -> Dict[str, bytes]:
    found: List[str] = []
    for directory, _, names in os.walk(os.path.join(HERE, PACKAGE)):
        found += [os.path.join(directory, name) for name in names if name.endswith((".py", ".typed"))]
    paths = [os.path.relpath(path, HERE).replace(os.sep, "/") for path in found]
    return {path: _read(path) for path in sorted(paths)}


def _metadata() -> bytes:
    fields = [
        "Metadata-Version: 2.1",
        "Name: paddock-sandbox",
        f"Version: {_version()}",
        f"Summary: {_from_pyproject('description')}",
        "License: MIT",
        "Classifier: License :: OSI Approved :: MIT License",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Typing :: Typed",
        f"Requires-Python: {_from_pyproject('requires-python')}",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join([*fields, "", ""]).encode() + _read("README.md")


def _from_pyproject(field: str) -> str:
    # Python 3.9 has no parser of TOML.
    return _match(rf'^{field} = "(.*)"$', _read("pyproject.toml").decode())


def _version() -> str:
    return _match(r'^__version__ = "(.*)"$', _read(f"{PACKAGE}/_version.py").decode())


def _match(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None, pattern
    return found.group(1)


def _license() -> bytes:
    beside = os.path.join(HERE, "LICENSE")
    return _read(beside if os.path.exists(beside) else os.path.join(HERE, "../../LICENSE"))


def _read(path: str) -> bytes:
    with open(os.path.join(HERE, path), "rb") as file:
        return file.read()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "dist")
    print(os.path.join(target, build_wheel(target)))

"""Protobuf messages for tests, written by the library from JSON."""

import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass


@cache
def _type(text: str, kind: str, imported: tuple[tuple[str, str], ...]) -> type[Message]:
    with TemporaryDirectory() as directory:
        root = Path(directory)
        for name, content in (*imported, ("main", text)):
            (root / f"{name}.proto").write_text(content)
        known = files("grpc_tools") / "_proto"
        options = [f"-I{root}", f"-I{known}", f"--descriptor_set_out={root}/set"]
        command = [sys.executable, "-m", "grpc_tools.protoc", *options, "--include_imports"]
        subprocess.run([*command, f"{root}/main.proto"], check=True)
        compiled = FileDescriptorSet.FromString((root / "set").read_bytes())
    pool = DescriptorPool()
    for file in compiled.file:
        pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName(kind))


def message(text: str, kind: str, value: Any, **imported: str) -> bytes:
    """`value`, as JSON has it, in the binary form of message `kind` of a schema."""
    made = _type(text, kind, tuple(imported.items()))()
    return ParseDict(value, made).SerializePartialToString()


def framed(number: int, content: bytes, *places: int) -> bytes:
    """A message behind the id of its schema, and the places of its type: the first, if none."""
    digits = bytes([2 * len(places), *(2 * place for place in places)]) if places else b"\0"
    return b"\0" + number.to_bytes(4, "big") + digits + content

"""A folder of definitions: sources as `.toml` or `.json`, views as `.sql`, `.dl` or `.py`.

The name of a file is the name of what it defines; a `.py` defines views of their own names. Options
of a view, as its key, stand in comments at the begin of its text, as `-- ivm: key = ["id"]`
(`// ivm: …` in Datalog), or in a `.toml` of the same name beside it. Files and folders that begin
with `.` or `_` are passed over, and the service's own `ivm.toml`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from api.cli.apply import definitions
from api.errors import located
from api.models import Body, Name, SinkBody, SourceBody
from views.builder import ViewDefinition
from views.catalog import Language
from views.errors import BadDefinition

LANGUAGES: Mapping[str, Language] = {".sql": "sql", ".dl": "datalog"}
SUFFIXES = {*LANGUAGES, ".py", ".toml", ".json"}
# Files of settings, which may lie in the folder too.
SETTINGS = {"ivm.toml", "pyproject.toml"}
OPTION = re.compile(r"\s*(?:--|//)\s*ivm:(.*)")
COMMENT = re.compile(r"\s*(?:(?:--|//).*)?")
_NAME: TypeAdapter[str] = TypeAdapter(Name)

Checked = TypeVar("Checked", bound=Body)


class Options(Body):
    """The options of a view, as a PUT has them."""

    key: list[str] | None = None
    sink: SinkBody | None = None
    lookups: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """A view as a file wants it: a text in a language, or a function of a builder."""

    name: str
    file: Path
    text: str | ViewDefinition
    language: Language
    options: Options


@dataclass(frozen=True, slots=True)
class Folder:
    """The sources and views that a folder defines, by name."""

    sources: dict[str, SourceBody] = field(default_factory=dict)
    views: dict[str, Wanted] = field(default_factory=dict)


def read(root: Path) -> Folder:
    """The definitions in a folder (raises BadDefinition, which names the file; OSError)."""
    if not root.is_dir():
        raise BadDefinition(f"{root} is no folder")
    files = list(_files(root))
    texts = {file.with_suffix("") for file in files if file.suffix in LANGUAGES}
    found = Folder()
    origins: dict[str, Path] = {}
    for file in files:
        is_options = file.suffix == ".toml" and file.with_suffix("") in texts
        for name in () if is_options else _add(file, found):
            if name in origins:
                raise BadDefinition(f"{name!r} is defined twice: by {origins[name]} and {file}")
            origins[name] = file
    return found


def _files(root: Path) -> Iterator[Path]:
    for file in sorted(root.rglob("*")):
        hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
        if file.suffix in SUFFIXES and file.name not in SETTINGS and not hidden:
            yield file


def _add(file: Path, found: Folder) -> list[str]:
    """Add what a file defines: the names."""
    if file.suffix == ".py":
        made = [_built(file, definition) for definition in definitions(file)]
    elif file.suffix in LANGUAGES:
        made = [_written(file)]
    else:
        found.sources[_name(file)] = _checked(file, SourceBody, members(file))
        return [file.stem]
    for wanted in made:
        if wanted.name in found.views:
            raise BadDefinition(
                f"{wanted.name!r} is defined twice: by {found.views[wanted.name].file} and {file}"
            )
        found.views[wanted.name] = wanted
    return [wanted.name for wanted in made]


def _built(file: Path, definition: ViewDefinition) -> Wanted:
    key = None if definition.key is None else list(definition.key)
    return Wanted(definition.name, file, definition, "sql", Options(key=key))


def _written(file: Path) -> Wanted:
    text = _text(file)
    said = "\n".join(_said(text))
    beside = file.with_suffix(".toml")
    if beside.exists():
        if said:
            raise BadDefinition(f"{file}: it has options, and so has {beside}; choose one")
        options = _checked(beside, Options, members(beside))
    else:
        options = _checked(file, Options, _parsed(file, said))
    return Wanted(_name(file), file, text, LANGUAGES[file.suffix], options)


def _said(text: str) -> Iterator[str]:
    """The options in the comments at the begin of a text."""
    for line in text.splitlines():
        if COMMENT.fullmatch(line) is None:
            return
        if (option := OPTION.fullmatch(line)) is not None:
            yield option[1].strip()


def _name(file: Path) -> str:
    try:
        return _NAME.validate_python(file.stem)
    except ValidationError as error:
        raise BadDefinition(
            f"{file}: {file.stem!r} is no name: letters, digits and '_', at most 63 of them, and "
            "no digit first"
        ) from error


def members(file: Path) -> Any:
    """The members of a file of TOML or JSON (raises BadDefinition, OSError)."""
    text = _text(file)
    if file.suffix == ".toml":
        return _parsed(file, text)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadDefinition(f"{file}: {error}") from error


def _parsed(file: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadDefinition(f"{file}: {error}") from error


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except UnicodeDecodeError as error:
        raise BadDefinition(f"{file}: {error}") from error


def _checked(file: Path, kind: type[Checked], members: Any) -> Checked:
    try:
        return kind.model_validate(members)
    except ValidationError as error:
        raise BadDefinition(f"{file}: {located(error.errors())}") from error

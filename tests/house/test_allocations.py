"""Vectors grow only where a failing allocation can be told of.

Inside a noexcept function the exception of a vector that cannot grow is printed and forgotten, and
the step goes on with wrong data. Cython declares assign(n, value), copies, a map's [key] and a
deque, which allocates when it is made, without an exception: there std::bad_alloc ends the process.
Write resize(), assign(begin, end), insert(); and push_back() each element of a sequence of
Python's, of which Cython makes a vector to copy.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FUNCTION = re.compile(
    r"^( *)(?:cdef|cpdef|def) [^=\n]*\((?:[^()]|\([^()]*\))*\)[^:]*:\n", re.MULTILINE
)
GROWS = re.compile(r"\.(?:push_back|emplace_back|emplace|resize|assign|insert|reserve|append)\(")
ASSIGNS_VALUE = re.compile(r"\.assign\([^()]*(?:\([^()]*\)[^()]*)*, 0\)")
COPIES = re.compile(r"^ *cdef vector\[[^=\n]*\] \w+ = (?!.*\()", re.MULTILINE)
DEQUE = re.compile(r"^ *cdef deque\[.*$", re.MULTILINE)
LOCALS = re.compile(r"^ +cdef vector\[.*\] (\w+(?:, \w+)*)$", re.MULTILINE)
ATTRIBUTE = re.compile(r"^ +cdef (?:readonly |public )?vector\[.*\] (\w+)", re.MULTILINE)


def _bodies(text: str) -> list[tuple[str, str]]:
    """The head and the body of every function."""
    found = []
    for match in FUNCTION.finditer(text):
        inner = re.compile(rf"(?:\n|{match[1]} +.*\n)*")
        body = inner.match(text, match.end())
        found.append((match[0], body[0] if body else ""))
    return found


def test_no_vector_grows_in_a_function_that_cannot_raise() -> None:
    wrong = [
        (path.name, head.split("(")[0].strip())
        for path in (ROOT / "ivm").rglob("*.pyx")
        for head, body in _bodies(path.read_text())
        if "noexcept" in head and GROWS.search(body)
    ]
    assert wrong == []


def test_no_vector_is_copied_or_filled_where_no_exception_is_declared() -> None:
    wrong = [
        (path.name, match[0].strip())
        for path in (ROOT / "ivm").rglob("*.pyx")
        if path.name != "shims.pyx"  # for tests only
        for pattern in (ASSIGNS_VALUE, COPIES, DEQUE)
        for match in pattern.finditer(path.read_text())
    ]
    assert wrong == []


def _copied(body: str) -> list[str]:
    """The vectors among a function's variables that are assigned to as a whole."""
    names = [name for match in LOCALS.finditer(body) for name in match[1].split(", ")]
    return [name for name in names if re.search(rf"^ +{name} = (?!vector\[)", body, re.MULTILINE)]


def test_no_variable_that_is_a_vector_is_assigned_to() -> None:
    wrong = [
        (path.name, head.split("(")[0].strip(), found)
        for path in (ROOT / "ivm").rglob("*.pyx")
        for head, body in _bodies(path.read_text())
        if (found := _copied(body))
    ]
    assert wrong == []


def test_a_variable_that_is_a_vector_and_assigned_to_is_found() -> None:
    assert _copied("    cdef vector[int] a, b\n    a = b\n") == ["a"]


def _assigned(declarations: str, text: str) -> list[str]:
    """The vectors among the attributes that `declarations` make that are assigned to as a whole."""
    attributes = ATTRIBUTE.findall(declarations)
    return [name for name in attributes if re.search(rf"\bself\.{name} = (?!vector\[)", text)]


def test_no_attribute_that_is_a_vector_is_assigned_to() -> None:
    wrong = {
        path.name: found
        for path in (ROOT / "ivm").rglob("*.pyx")
        for declared in [path.with_suffix(".pxd")]
        for text in [path.read_text()]
        if (found := _assigned(text + (declared.read_text() if declared.exists() else ""), text))
    }
    assert wrong == {}


def test_an_attribute_that_is_a_vector_and_assigned_to_is_found() -> None:
    declared = "cdef class A:\n    cdef vector[int] key\n    cdef int other\n"
    assert _assigned(declared, "        self.key = key\n        self.other = other\n") == ["key"]


def test_growth_in_a_function_that_cannot_raise_is_found() -> None:
    grows = "cdef int f(int a) noexcept nogil:\n    g(a)\n\n    v.push_back(a)\n\n\n"
    text = grows + "cdef int h():\n    g()\n"
    assert [bool(GROWS.search(body)) for _, body in _bodies(text)] == [True, False]

"""All functions of expressions, and all kernels that their steps name."""

from collections.abc import Mapping

from ivm.rows import (
    arithmetic,
    comparison,
    conversion,
    decimals,
    formatting,
    parsing,
    scripting,
    temporal,
    text,
)
from ivm.rows.assembly import Lowering
from ivm.rows.casting import CASTING
from ivm.rows.choosing import CHOOSING
from ivm.rows.computing import COMPUTING
from ivm.rows.dating import DATING
from ivm.rows.scripted import SCRIPTED
from ivm.rows.wording import WORDING

FUNCTIONS: Mapping[str, Lowering] = {
    **CHOOSING,
    **COMPUTING,
    **CASTING,
    **WORDING,
    **DATING,
    **SCRIPTED,
}

_MODULES = (
    arithmetic,
    comparison,
    conversion,
    decimals,
    formatting,
    parsing,
    scripting,
    temporal,
    text,
)

# Addresses of kernels by name.
KERNELS: Mapping[str, int] = {name: at for m in _MODULES for name, at in m.KERNELS.items()}

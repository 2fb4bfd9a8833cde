"""Tables list every function with its lowering, and every kernel with its address."""

from collections.abc import Mapping

from ivm.expressions.compiler import Lowering
from ivm.expressions.kernels import (
    arithmetic,
    cast_numeric,
    comparison,
    decimals,
    from_text,
    python,
    temporal,
    text,
    to_text,
)
from ivm.expressions.lower_arithmetic import COMPUTING
from ivm.expressions.lower_cast import CASTING
from ivm.expressions.lower_comparison import CHOOSING
from ivm.expressions.lower_python import SCRIPTED
from ivm.expressions.lower_temporal import DATING
from ivm.expressions.lower_text import WORDING

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
    cast_numeric,
    decimals,
    to_text,
    from_text,
    python,
    temporal,
    text,
)

# Addresses of kernels by name.
KERNELS: Mapping[str, int] = {name: at for m in _MODULES for name, at in m.KERNELS.items()}

"""All functions of expressions, and all kernels that their steps name."""

from collections.abc import Mapping

from ivm.rows import arithmetic, comparison
from ivm.rows.assembly import Lowering
from ivm.rows.choosing import CHOOSING
from ivm.rows.computing import COMPUTING

FUNCTIONS: Mapping[str, Lowering] = {**CHOOSING, **COMPUTING}

# Addresses of kernels by name.
KERNELS: Mapping[str, int] = {**comparison.KERNELS, **arithmetic.KERNELS}

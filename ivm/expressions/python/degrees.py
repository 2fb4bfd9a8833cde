"""Trigonometry in degrees, exact at the multiples of 30 and 45, as PostgreSQL computes it.

An angle is brought into the first quadrant, where sines and cosines are scaled by those of 30 and
60 degrees, and tangents by that of 45.
"""

import math
from collections.abc import Callable

from ivm.expressions.python.script import Script

_SINE_OF_30 = math.sin(math.radians(30))
_REST_OF_60 = 1 - math.cos(math.radians(60))
_ARCSINE = math.asin(0.5)
_ARCCOSINE = math.acos(0.5)
_ARCTANGENT = math.atan(1)


def _small_sine(x: float) -> float:
    """Up to 30 degrees."""
    return math.sin(math.radians(x)) / _SINE_OF_30 / 2


def _small_cosine(x: float) -> float:
    """Up to 60 degrees."""
    return 1 - (1 - math.cos(math.radians(x))) / _REST_OF_60 / 2


def _sine(x: float) -> float:
    return _small_sine(x) if x <= 30 else _small_cosine(90 - x)


def _cosine(x: float) -> float:
    return _small_cosine(x) if x <= 60 else _small_sine(90 - x)


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.inf


def _tangent(x: float) -> float:
    return _ratio(_sine(x), _cosine(x)) / (_sine(45) / _cosine(45))


def _cotangent(x: float) -> float:
    return _ratio(_cosine(x), _sine(x)) / (_cosine(45) / _sine(45))


def _turned(
    function: Callable[[float], float], *, odd: bool, half: int, right: int
) -> Callable[[float], float]:
    """Extend a function of the first quadrant by the signs that reflections give it.

    `half` is the sign of a reflection at 180 degrees, `right` of one at 90; that at 0 is -1 if
    `odd`. Raises ValueError for an infinite angle.
    """

    def turned(angle: float) -> float:
        if math.isnan(angle):
            return angle
        x, sign = math.fmod(angle, 360), 1
        if x < 0:
            x, sign = -x, -1 if odd else 1
        if x > 180:
            x, sign = 360 - x, sign * half
        if x > 90:
            x, sign = 180 - x, sign * right
        return sign * function(x) or 0.0

    return turned


def _arcsine(x: float) -> float:
    """Of 0 to 1."""
    if x <= 0.5:
        return math.asin(x) / _ARCSINE * 30
    return 90 - math.acos(x) / _ARCCOSINE * 60


def _arccosine(x: float) -> float:
    """Of 0 to 1."""
    if x <= 0.5:
        return 90 - math.asin(x) / _ARCSINE * 30
    return math.acos(x) / _ARCCOSINE * 60


def _asind(x: float) -> float:
    return x if math.isnan(x) else math.copysign(_arcsine(abs(x)), x)


def _acosd(x: float) -> float:
    return x if math.isnan(x) else _arccosine(x) if x >= 0 else 90 + _arcsine(-x)


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "acosd": _acosd,
    "asind": _asind,
    "atand": lambda x: math.atan(x) / _ARCTANGENT * 45,
    "cosd": _turned(_cosine, odd=False, half=1, right=-1),
    "cotd": _turned(_cotangent, odd=True, half=-1, right=-1),
    "sind": _turned(_sine, odd=True, half=-1, right=1),
    "tand": _turned(_tangent, odd=True, half=-1, right=-1),
}
SCRIPTS: dict[str, Script] = {
    **{name: Script(f, ("float",)) for name, f in _FUNCTIONS.items()},
    "atan2d": Script(lambda y, x: math.atan2(y, x) / _ARCTANGENT * 45, ("float", "float")),
}

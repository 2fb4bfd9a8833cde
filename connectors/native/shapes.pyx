"""Shapes of columns, as Python describes them."""

from connectors.native.columns cimport Clock, Form, Shape

_FORMS = {
    "integers": Form.INTEGERS,
    "doubles": Form.DOUBLES,
    "floats": Form.FLOATS,
    "truths": Form.TRUTHS,
    "texts": Form.TEXTS,
    "base64": Form.BASE64,
    "decimals": Form.DECIMALS,
    "unscaled": Form.UNSCALED,
    "counts": Form.COUNTS,
    "verbatim": Form.VERBATIM,
    "contents": Form.CONTENTS,
}
_CLOCKS = {
    "": Clock.NEITHER,
    "date": Clock.DATE,
    "time": Clock.TIME,
    "naive": Clock.NAIVE,
    "zoned": Clock.ZONED,
}


cdef Shape shape_of(dict parts) except *:
    cdef Shape shape
    shape.form = _FORMS[parts["form"]]
    shape.width = parts["width"]
    shape.is_key = parts["is_key"]
    shape.is_nullable = parts["is_nullable"]
    shape.is_optional = parts["is_optional"]
    shape.is_spelled = parts["is_spelled"]
    shape.least, shape.most = parts["bounds"]
    shape.times, shape.parts = parts["unit"]
    shape.is_guarded = parts["is_guarded"]
    shape.clock = _CLOCKS[parts["clock"]]
    shape.precision, shape.scale, shape.written = parts["digits"]
    return shape

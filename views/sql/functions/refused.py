"""Refuses functions that a view cannot have, with advice: what to write instead.

A view's rows follow from the rows of its inputs: there is no chance in them, no session, no clock
but that of `now()` in conditions.
"""

from collections.abc import Mapping

from sqlglot import exp

from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import Bound
from views.sql.source.text import describe

_CHANCE = "insert the value as a column of a table"
_CLOCK = "compare now() in a condition of WHERE, or insert the time as a column"
_SESSION = "a view has no session; join a table of such settings"
_SEQUENCE = "number rows by row_number() OVER (ORDER BY …), or insert the number as a column"
_SEARCH = "search texts by LIKE or by regular expressions"
_RANGE = "keep the bounds in two columns, and compare them"
_RECORD = "call it in FROM, or write jsonb_to_record(document) AS x(a integer, b text)"
_RECORDS = "call it in FROM, or write jsonb_to_recordset(document) AS x(a integer, b text)"
_XML = "keep documents as jsonb"
_HASH = "write md5(text)"
_SHAPE = "keep coordinates in columns of their own"
_BIT = "keep bits in integers: & | # ~ << >> and get_bit() of bytea"
_ADDRESS = "keep addresses as text, or as integers"

_ADVICE: Mapping[str, tuple[str, ...]] = {
    _CHANCE: ("gen_random_uuid", "random", "random_normal", "setseed", "uuid_generate_v4"),
    _CLOCK: ("clock_timestamp", "statement_timestamp", "timeofday", "transaction_timestamp"),
    _SESSION: (
        "col_description", "current_catalog", "current_database", "current_query", "current_role",
        "current_schemas", "current_setting", "has_table_privilege", "inet_client_addr",
        "inet_server_addr", "obj_description", "pg_backend_pid", "pg_column_size", "pg_get_viewdef",
        "pg_relation_size", "pg_sleep", "pg_total_relation_size", "set_config", "to_regclass",
        "txid_current",
    ),
    _SEQUENCE: ("currval", "lastval", "nextval", "setval"),
    _SEARCH: (
        "phraseto_tsquery", "plainto_tsquery", "setweight", "strip", "to_tsquery", "to_tsvector",
        "ts_headline", "ts_rank", "ts_rank_cd", "websearch_to_tsquery",
    ),
    _RANGE: (
        "daterange", "int4multirange", "int4range", "int8range", "isempty", "lower_inc",
        "lower_inf", "nummultirange", "numrange", "range_agg", "range_merge", "tsrange",
        "tstzrange", "upper_inc", "upper_inf",
    ),
    _RECORD: ("json_populate_record", "jsonb_populate_record"),
    _RECORDS: ("json_populate_recordset", "jsonb_populate_recordset"),
    _XML: (
        "query_to_xml", "table_to_xml", "xml_is_well_formed", "xmlagg", "xmlcomment", "xmlconcat",
        "xmlparse", "xpath", "xpath_exists",
    ),
    _HASH: ("hashint4", "hashint8", "hashtext", "hashtextextended"),
    _SHAPE: ("area", "box", "center", "circle", "diameter", "height", "lseg", "path", "point",
             "polygon", "radius", "slope", "width"),
    _ADDRESS: ("abbrev", "broadcast", "family", "host", "hostmask", "masklen", "netmask",
               "network", "set_masklen"),
    "split it by string_to_array(name, '.')": ("parse_ident",),
}  # fmt: skip
_CLASSES: Mapping[type[exp.Expr], str] = {
    exp.CurrentCatalog: _SESSION,
    exp.CurrentDatabase: _SESSION,
    exp.CurrentDate: _CLOCK,
    exp.CurrentRole: _SESSION,
    exp.CurrentSchema: _SESSION,
    exp.CurrentTime: _CLOCK,
    exp.CurrentUser: _SESSION,
    exp.CurrentVersion: _SESSION,
    exp.HexString: _BIT,
    exp.Localtime: _CLOCK,
    exp.Localtimestamp: _CLOCK,
    exp.BitString: _BIT,
    exp.Rand: _CHANCE,
    exp.SessionUser: _SESSION,
    exp.Uuid: _CHANCE,
    exp.XMLElement: _XML,
}
_NAMES: Mapping[type[exp.Expr], str] = {
    exp.CurrentVersion: "version",
    exp.Rand: "random",
    exp.Uuid: "gen_random_uuid",
}


def _refusing(advice: str, kind: type[exp.Expr], named: str | None = None) -> Handler:
    def refuse(b: Binder, node: exp.Expr) -> Bound:
        what = f"the function {named}()" if named else describe(node)
        raise b.session.source.unsupported(what, node, advice)

    return Handler(refuse, tuple(kind.arg_types))


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    **{
        name: _refusing(advice, exp.Anonymous, name)
        for advice, names in _ADVICE.items()
        for name in names
    },
    **{kind: _refusing(advice, kind, _NAMES.get(kind)) for kind, advice in _CLASSES.items()},
}

"""Names of functions that are read as classes of syntax: all others are calls by their name."""

# PostgreSQL's functions, what looks like them, and what views have beside. sqlglot knows those of
# other dialects too, which are no functions here.
PARSED = frozenset({
    "abs", "all", "any", "any_value", "arg_max", "arg_min", "array", "array_agg", "avg", "bit_and",
    "bit_or", "bit_xor", "bool_and", "bool_or", "case", "cast", "ceil", "ceiling", "char",
    "coalesce", "collate", "concat", "corr", "count", "covar_pop", "covar_samp", "cume_dist",
    "current_catalog", "current_database", "current_date", "current_schema", "current_schemas",
    "current_time", "current_timestamp", "current_user", "date", "date_trunc", "dense_rank",
    "exists", "extract", "first_value", "floor", "gen_random_uuid", "greatest", "grouping", "hop",
    "host", "json_agg", "json_object_agg", "json_objectagg", "json_table", "json_value",
    "jsonb_object_agg", "lag", "last_value", "lead", "least", "localtime", "localtimestamp",
    "lower", "max", "max_by", "min", "min_by", "mode", "normalize", "now", "nth_value", "ntile",
    "nullif", "overlay", "percent_rank", "percentile_cont", "percentile_disc", "position",
    "random", "rank", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2",
    "regr_slope", "regr_sxx", "regr_sxy", "regr_syy", "replace", "round", "row", "row_number",
    "session", "session_user", "some", "split_part", "starts_with", "stddev", "stddev_pop",
    "stddev_samp", "string_agg", "strpos", "substr", "substring", "sum", "time", "timestamp",
    "trim", "tumble", "unnest", "upper", "var_pop", "var_samp", "variance", "version",
    "xmlelement", "xmltable",
})  # fmt: skip

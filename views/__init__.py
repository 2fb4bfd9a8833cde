"""From a query to a dataflow: catalog, SQL front-end, one plan, rewrites and lowering."""

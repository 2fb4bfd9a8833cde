"""The glue to Spark: it reads ranges, maps the pure decoders and hands over."""

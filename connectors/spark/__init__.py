"""The glue to Spark: it reads ranges, maps the pure decoders and hands over.

- `archive`: `python -m connectors.spark.archive JARS`
- `chunks`: decoded records on their way through Spark
- `control`: what the driver tells the planner of the source, which Spark runs in a process of …
- `daemon`: the process that Spark forks its Python workers from, which holds what they need …
- `endpoint`: where Spark's tasks hand chunks over while they run
- `handover`: applies one batch while Spark reads the next
- `java`: finds a Java that Spark accepts
- `kafka`: kafka topics in, decoded chunks out
- `keeper`: keeps a streaming query running
- `planner`: chooses what each micro-batch reads and cuts it into tasks: the source without Spark
- `query`: A streaming query from file topics and Kafka to a function on the driver
- `realtime`: real-time mode
- `relay`: A task's side of real-time mode
- `session`: A Spark session for one machine
- `source`: the Spark data source `ivm_topics`: file topics in, decoded chunks out
"""

"""The glue to Spark: it reads ranges, maps the pure decoders and hands over.

- `archive`: makes an archive of the classes that Spark loads, so that it starts sooner
- `bringing`: rows of a task on their way to the shards that own them
- `chunks`: decoded records in the form in which they pass through Spark
- `control`: the file by which the driver directs the planner of file topics
- `daemon`: the process that forks Spark's Python workers, with their modules loaded
- `endpoint`: the Arrow Flight endpoint to which Spark's tasks hand chunks while they run
- `gathering`: puts together what the tasks of a micro-batch hand over
- `handover`: applies one batch while Spark reads the next
- `idling`: lets a source in which nothing is new be asked less often
- `java`: finds a Java that Spark accepts
- `kafka`: decodes records of Kafka into chunks
- `kafka_source`: the Spark data sources of Kafka topics, a connection each
- `keeper`: keeps a streaming query running
- `members`: members of a cluster on Spark's executors, one in each task of a barrier job
- `planner`: chooses the records of each micro-batch and cuts them into tasks
- `query`: a streaming query from file topics and Kafka to a function on the driver
- `ranges`: chooses the ranges of Kafka topics for each micro-batch and cuts them into tasks
- `realtime`: queries whose tasks read on and on, for real-time mode
- `relay`: decodes records as they come to a task of real-time mode, and puts them to the endpoint
- `session`: a Spark session, on one machine or a cluster
- `source`: the Spark data source `ivm_topics`, which reads file topics
- `standalone`: runs Spark's own master, or a worker
- `stderr`: passes lines that the JVM writes to stderr to the log
"""

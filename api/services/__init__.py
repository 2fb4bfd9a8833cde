"""The services of one running service, which the routes call; one idea each.

- `admission`: admits changes of the declarations one at a time, once they are possible
- `bounding`: bounds what a query, and the hydration of a view, may take
- `backups`: takes a consistent copy of all that the service keeps, while it runs
- `checkpoints`: brings tables back from the newest checkpoint, and takes new ones
- `cleaning`: removes what is beyond retention, from time to time
- `cluster`: brings the members of the pool to Spark's executors
- `compiler`: compiles and explains queries over what is declared
- `data_directory`: the version of the data directory, and the steps from older ones
- `definition`: a view as it is declared, before it is compiled
- `explaining`: the plan of a query as the rows of an answer
- `headroom`: stops the input while a shard uses more memory than it may
- `inference`: completes declarations without columns, and proposes some, by what topics hold
- `outputs`: gives views as their sinks know them
- `parts`: opens pool, registry, journal, pipeline and sinks on one data directory
- `planned`: plans replacements of views, and refuses those that break a view over them
- `previews`: tells the rows that a replacement takes out of each view and brings into it
- `queries`: answers queries once, over one consistent time
- `readiness`: tells whether the service can be asked, and what keeps it from that
- `repairs`: repairs, replays, discards and skips records that could not be decoded
- `replacements`: prepares other definitions of views, and lets them take the views' places
- `restore_backup`: fills empty directories from a backup
- `restoring`: restores the views of a start, one after another
- `sources`: declares, changes and drops sources
- `views`: declares, restores and drops views, and finds those that can be read
- `widening`: adds, widens and drops columns of a source in place
- `writes`: rows that are posted to tables whose topics the service keeps itself
"""

"""The services of one running service, which the routes call; one idea each.

- `admission`: admits changes of the declarations one at a time, once they are possible
- `checkpoints`: brings tables back from the newest checkpoint, and takes new ones
- `compiler`: compiles and explains queries over what is declared
- `parts`: opens pool, registry, journal, pipeline and sinks on one data directory
- `queries`: answers queries once, over one consistent time
- `readiness`: tells whether the service can be asked, and what keeps it from that
- `repairs`: repairs, replays, discards and skips records that could not be decoded
- `restoring`: restores the views of a start, one after another
- `sources`: declares, changes and drops sources
- `views`: declares, restores and drops views, and finds those that can be read
- `widening`: adds columns to a source in place
"""

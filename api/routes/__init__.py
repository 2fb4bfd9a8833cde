"""The REST resources, one router each.

- `changes`: `/v1/views/{name}/changes`: the change feed, as server-sent events
- `health`: liveness, readiness and metrics
- `inspection`: what runs and what went wrong: explain, arrangements, row errors
- `quarantine`: `/v1/quarantine`: records that could not be decoded, and what becomes of them
- `rows`: `/v1/views/{name}/rows`: look-ups, as of one consistent time
- `sources`: `/v1/sources`: tables and the topics that carry their changes
- `views`: `/v1/views`: definitions of views
"""

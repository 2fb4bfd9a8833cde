"""The REST resources, one router each.

- `backup`: all that the service keeps, in an archive
- `changes`: `/v1/views/{name}/changes`: the change feed, as server-sent events
- `health`: liveness, readiness and metrics
- `inspection`: `/v1/explain`, `/v1/arrangements`, `/v1/errors`: plans, memory, errors of rows
- `quarantine`: `/v1/quarantine`: shows, repairs, replays and discards undecoded records
- `query`: `/v1/query`: answers a query once
- `replacements`: `/v1/views/{name}/replacement`: other definitions of views, in place
- `rows`: `/v1/views/{name}/rows`: look-ups, as of one consistent time
- `sources`: `/v1/sources`: tables and the topics that carry their changes
- `views`: `/v1/views`: definitions of views
- `writes`: `/v1/sources/{name}/rows`: writes rows of tables with connector `http`
"""

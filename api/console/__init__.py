"""The console: pages for people, on the service's own application, made with NiceGUI.

They show and change what REST does, by the same services, and poll nothing unless one is open.

- `access`: what the pages show and change: the services of one running service
- `changes`: the panel of a view's live changes
- `dataflow`: the dataflow of a view as a diagram in the language of Mermaid
- `frame`: the frame of every page, notices, and calls that may fail
- `history`: the last hour of a service, in a bounded ring
- `looks`: looks at a whole service, for the overview
- `mount`: mounts the console, and starts it once somebody looks
- `operators`: the panel of a view's dataflow
- `overview`: the page of all sources and views
- `pages`: makes the console's application
- `plots`: the page of throughput and latency
- `quarantine`: the page of records that could not be decoded
- `query`: the page that asks queries
- `rates`: how fast counters grow between two looks at them
- `replacement`: the panel of a view's replacement
- `rows`: the panel of a view's rows
- `tables`: tables of rows as pages show them
- `tail`: the newest changes of a view, from the end of its delta topic
- `units`: numbers as people read them
- `view`: the page of one view
"""

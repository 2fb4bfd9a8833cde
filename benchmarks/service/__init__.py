"""The service measured as its users see it, over HTTP, with a process of its own for each part.

- `run`: tells the story and its figures
- `bank`: the tables, views and changes
- `feeder`: appends changes to a topic, at a rate or as fast as they are taken
- `asker`: looks rows up over a few connections, and says how long each took
- `feeds`: follows a view over many connections, and counts what each got
- `page`: the figures as a page with a chart, beside what was asked
"""

"""A client of ivm: declares tables and views, asks, writes, and follows changes.

    from ivm_client import Client

    with Client("http://localhost:8080") as client:
        for batch in client.follow("totals"):
            for row, diff in batch:
                print(diff, row)

- `backup`: all that a running service keeps, in one archive, as of one moment
- `client`: `Client`, with a method for each thing that a service does
- `errors`: what a service refuses, and what does not answer
- `feed`: follows a view, batch by batch, and goes on after a connection that broke
- `folding`: rows of a view out of its deltas, as of a topic
- `quarantine`: records that a service could not decode, and what becomes of them
- `service`: requests to a service, and its answers
- `spark`: the data source `ivm` of PySpark
"""

from ivm_client.client import Client
from ivm_client.errors import ClientError, Problem, Unreachable
from ivm_client.feed import Batch, Feed
from ivm_client.folding import Folded

__all__ = ["Batch", "Client", "ClientError", "Feed", "Folded", "Problem", "Unreachable"]

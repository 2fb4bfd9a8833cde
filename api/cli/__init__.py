"""The command line `ivm`.

- `advice`: warns of topics that will hurt, and of what a running service is behind with
- `apply`: `ivm view apply` registers the views that a Python file defines
- `applying`: `ivm apply` makes a service as a folder of definitions says
- `backup`: `ivm backup` and `ivm restore`
- `declaring`: `ivm source create` and `ivm source infer` declare a source, or propose how one is
- `doctor`: `ivm doctor` checks that everything configured is there, answers, and will go on to
- `filling`: puts a view, and shows how far it is while it fills
- `folder`: reads a folder of definitions of sources and views
- `init`: `ivm init` makes a folder with an example of each thing that one defines
- `key`: `ivm key` makes, lists and revokes API keys
- `machine`: warns of a disk, memory or clock that will hurt a service
- `main`: `ivm` and its commands
- `operators`: `ivm view operators` shows a view's plan with what each part has cost
- `planning`: plans what is created, replaced and dropped for a folder
- `programs`: `ivm program` shows the library of programs and makes views of them
- `quarantine`: `ivm quarantine` shows, repairs and replays records that could not be decoded
- `rows`: `ivm view rows` and `ivm view tail` show the rows of a view, and follow them
- `sources`: `ivm source` declares, shows and drops sources
- `status`: `ivm status`, `ivm errors` and `ivm arrangements` tell how a service is
- `texts`: queries and JSON as arguments or in files, and states as people read them
- `top`: `ivm top` shows what a service does at present
- `topics`: tells which settings of topics lose what a source or a sink will need
- `views`: `ivm view` makes, shows, replaces and drops views
- `writing`: `ivm source write` posts the rows of a file to a table with connector `http`
"""

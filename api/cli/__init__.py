"""The command line `ivm`.

- `apply`: `ivm view apply` registers the views that a Python file defines
- `doctor`: `ivm doctor` checks that everything configured is there and answers
- `main`: `ivm` and its commands
- `programs`: `ivm program` shows the library of programs and makes views of them
- `quarantine`: `ivm quarantine` shows, repairs and replays records that could not be decoded
- `rows`: `ivm view rows` and `ivm view tail` show the rows of a view, and follow them
"""

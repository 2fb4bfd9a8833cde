"""The command line `ivm`.

- `apply`: `ivm view apply`: the views that a Python file defines, registered as SQL
- `doctor`: `ivm doctor`
- `main`: `ivm`: the command line of the service
- `quarantine`: `ivm quarantine`: records that could not be decoded, from the command line
"""

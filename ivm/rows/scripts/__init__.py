"""Functions of expressions written in Python, by families; `ivm.rows.scripting` calls them."""

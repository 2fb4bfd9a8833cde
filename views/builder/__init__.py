"""View builder: tables with the methods of a data frame write the SQL of a view.

    from views.builder import Database, F, Table, view

    @view(key=["customer"])
    def revenue(db: Database) -> Table:
        paid = db["orders"].filter(F.col("status") == "paid")
        return paid.group_by("customer").agg(orders=F.count(), total=F.sum(F.col("amount")))

A `Table` is a query over the tables and views of a `Database`; each method makes another one, whose
columns and types are known at once: an error is raised where it is written, before anything
leaves the process. The text of `Table.sql()` is registered; so the service runs no code of a
client, checks the text as any other query, and every Table means what its SQL means.

- `expressions`: expressions over the columns of tables, by Python's operators
- `table`: tables under construction, each a SELECT over others
- `view`: the decorator that defines a view in a Python file
"""

from views.builder.expressions import Expression, F
from views.builder.table import Database, Table
from views.builder.view import ViewDefinition, view

__all__ = ["Database", "Expression", "F", "Table", "ViewDefinition", "view"]

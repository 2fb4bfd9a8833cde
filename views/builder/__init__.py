"""Views written in Python: tables with the methods of a data frame, which make SQL.

    from views.builder import Database, F, Table, view

    @view(key=["customer"])
    def revenue(db: Database) -> Table:
        paid = db["orders"].filter(F.col("status") == "paid")
        return paid.group_by("customer").agg(orders=F.count(), total=F.sum(F.col("amount")))

A `Table` is a query over the tables and views of a `Database`; each method makes another one, whose
columns and types are known at once: what is wrong is told where it is written, before anything
leaves the process. What is registered is the text of `Table.sql()`; so the service runs nobody's
code, checks what it gets as any other query, and every Table means what its SQL means.

- `expressions`: expressions over the columns of tables, by Python's operators; types are checked …
- `table`: tables under construction
- `view`: definitions of views in a Python file
"""

from views.builder.expressions import Expression, F
from views.builder.table import Database, Table
from views.builder.view import ViewDefinition, view

__all__ = ["Database", "Expression", "F", "Table", "ViewDefinition", "view"]

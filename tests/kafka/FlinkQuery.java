import java.util.TreeMap;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;

/**
 * Runs statements of Flink SQL in this process. Of each query, which reads what is bounded, it prints
 * the rows that its changes come to, the fields with tabs between, and an empty line.
 */
public final class FlinkQuery {
    public static void main(String[] statements) throws Exception {
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        tables.getConfig().set("parallelism.default", "1");
        for (String statement : statements) {
            if (statement.startsWith("SELECT")) {
                query(tables, statement);
            } else {
                tables.executeSql(statement).await();
            }
        }
    }

    private static void query(TableEnvironment tables, String query) throws Exception {
        TreeMap<String, Integer> copies = new TreeMap<>();
        try (CloseableIterator<Row> changes = tables.executeSql(query).collect()) {
            while (changes.hasNext()) {
                Row row = changes.next();
                RowKind kind = row.getKind();
                boolean goes = kind == RowKind.DELETE || kind == RowKind.UPDATE_BEFORE;
                copies.merge(text(row), goes ? -1 : 1, Integer::sum);
            }
        }
        copies.forEach((row, count) -> System.out.print((row + "\n").repeat(count)));
        System.out.println();
    }

    private static String text(Row row) {
        StringBuilder fields = new StringBuilder();
        for (int i = 0; i < row.getArity(); i++) {
            fields.append(i == 0 ? "" : "\t").append(row.getField(i));
        }
        return fields.toString();
    }
}

-- Two tables of a shop, captured by Debezium. Of a row that changes, its old values are logged by key.
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, city text NOT NULL);
CREATE TABLE orders (
    id bigint PRIMARY KEY,
    customer_id int NOT NULL REFERENCES customers,
    amount numeric(12, 2) NOT NULL
);
INSERT INTO customers VALUES (1, 'Ada', 'London'), (2, 'Grace', 'New York'), (3, 'Alan', 'London');
INSERT INTO orders VALUES (1, 1, 12.50), (2, 1, 30.00), (3, 2, 7.25);

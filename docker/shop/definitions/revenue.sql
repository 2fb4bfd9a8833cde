-- What each city has spent; its changes are records of the topic `revenue`.
-- ivm: key = ["city"]
-- ivm: sink = {connector = "kafka", connection = "main", topic = "revenue"}
SELECT c.city, count(*) AS orders, sum(o.amount) AS total
FROM orders AS o JOIN customers AS c ON o.customer_id = c.id
GROUP BY c.city

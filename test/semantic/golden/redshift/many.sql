-- a condition
WITH "ktx facts" AS (
  SELECT
    "customers"."segment" AS "d1",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  WHERE EXISTS (SELECT 1 FROM "tickets" AS "customers.tickets" WHERE ("customers.tickets"."customer_id" = "customers"."id") AND ("customers.tickets"."priority" = 'high'))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "customers.segment",
  "ktx"."m1" AS "customers.customer_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- a filter of the metric
WITH "ktx facts" AS (
  SELECT
    count("ktx rows"."v1") AS "m1",
    count(*) AS "m2"
  FROM (
    SELECT CASE WHEN EXISTS (SELECT 1 FROM "tickets" AS "customers.tickets" WHERE ("customers.tickets"."customer_id" = "customers"."id") AND ("customers.tickets"."priority" = 'high')) THEN 1 END AS "v1"
    FROM "customers" AS "customers"
  ) AS "ktx rows"
)
SELECT
  "ktx"."m1" AS "customers.urgent_count",
  "ktx"."m2" AS "customers.customer_count"
FROM "ktx facts" AS "ktx";

-- a dimension
WITH "ktx facts" AS (
  SELECT
    "ktx rows"."d1" AS "d1",
    count(*) AS "m1"
  FROM (
    SELECT DISTINCT
      "customers.tickets"."priority" AS "d1",
      "customers"."id" AS "k1"
    FROM "customers" AS "customers"
    JOIN "tickets" AS "customers.tickets" ON ("customers.tickets"."customer_id" = "customers"."id")
  ) AS "ktx rows"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "tickets.priority",
  "ktx"."m1" AS "customers.customer_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- a bridge
WITH "ktx facts" AS (
  SELECT
    "ktx rows"."d1" AS "d1",
    sum("ktx rows"."v1") AS "m1",
    count(*) AS "m2"
  FROM (
    SELECT DISTINCT
      "orders.tags"."label" AS "d1",
      "orders"."id" AS "k1",
      "orders"."amount" AS "v1"
    FROM "orders" AS "orders"
    JOIN "order_tags" AS "orders.tags via" ON ("orders.tags via"."order_id" = "orders"."id")
    LEFT JOIN "tags" AS "orders.tags" ON ("orders.tags via"."tag_id" = "orders.tags"."id")
  ) AS "ktx rows"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "tags.label",
  "ktx"."m1" AS "orders.revenue",
  "ktx"."m2" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- a condition over a bridge
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  WHERE EXISTS (SELECT 1 FROM "order_tags" AS "orders.tags via" LEFT JOIN "tags" AS "orders.tags" ON ("orders.tags via"."tag_id" = "orders.tags"."id") WHERE ("orders.tags via"."order_id" = "orders"."id") AND ("orders.tags"."label" = 'rush'))
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx";

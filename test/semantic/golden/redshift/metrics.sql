-- several kinds
WITH "ktx facts" AS (
  SELECT
    sum("orders"."amount") AS "m1",
    count(*) AS "m2",
    count(DISTINCT "orders"."customer_id") AS "m3",
    max("orders"."amount") AS "m4"
  FROM "orders" AS "orders"
)
SELECT
  "ktx"."m1" AS "orders.revenue",
  "ktx"."m2" AS "orders.order_count",
  "ktx"."m3" AS "orders.customers_seen",
  "ktx"."m4" AS "orders.largest"
FROM "ktx facts" AS "ktx";

-- of filtered rows
WITH "ktx facts" AS (
  SELECT
    sum(CASE WHEN ("orders"."status" = 'paid') THEN "orders"."amount" END) AS "m1",
    sum("orders"."amount") AS "m2"
  FROM "orders" AS "orders"
)
SELECT
  "ktx"."m1" AS "orders.paid_revenue",
  "ktx"."m2" AS "orders.revenue"
FROM "ktx facts" AS "ktx";

-- mean
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    avg(CAST("orders"."amount" AS FLOAT8)) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "orders.average"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- median
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "orders.middle"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- percentile
WITH "ktx facts" AS (
  SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY "orders"."amount") AS "m1"
  FROM "orders" AS "orders"
)
SELECT "ktx"."m1" AS "percentile(orders.amount, 0.9)"
FROM "ktx facts" AS "ktx";

-- difference
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    sum("orders"."amount") AS "m1",
    sum("orders".cost) AS "m2"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  ("ktx"."m1" - "ktx"."m2") AS "orders.profit"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- quotient of differences
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    sum("orders"."amount") AS "m1",
    sum("orders".cost) AS "m2"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  (("ktx"."m1" - "ktx"."m2") * CAST(1 AS FLOAT8) / NULLIF("ktx"."m1", 0)) AS "orders.margin"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- ratio
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    sum("orders"."amount") AS "m1",
    count(*) AS "m2"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  ("ktx"."m1" * CAST(1 AS FLOAT8) / NULLIF("ktx"."m2", 0)) AS "orders.aov"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- filtered by another dataset
WITH "ktx facts" AS (
  SELECT sum(CASE WHEN ("orders.buyer"."segment" = 'ent') THEN "orders"."amount" END) AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
)
SELECT "ktx"."m1" AS "orders.enterprise_revenue"
FROM "ktx facts" AS "ktx";

-- ad hoc
WITH "ktx facts" AS (
  SELECT
    max("orders"."amount") AS "m1",
    min("orders"."amount") AS "m2"
  FROM "orders" AS "orders"
)
SELECT
  ("ktx"."m1" - "ktx"."m2") AS "spread",
  (("ktx"."m1" - "ktx"."m2") * 2) AS "doubled"
FROM "ktx facts" AS "ktx";

-- of a query
WITH "ktx facts" AS (
  SELECT
    "large_orders.customers"."segment" AS "d1",
    sum("large_orders"."amount") AS "m1"
  FROM (
SELECT id, customer_id, amount FROM orders WHERE amount > 3
) AS "large_orders"
  LEFT JOIN "customers" AS "large_orders.customers" ON ("large_orders"."customer_id" = "large_orders.customers"."id")
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "customers.segment",
  "ktx"."m1" AS "large_orders.large_revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- of nobody
WITH "ktx facts" AS (
  SELECT
    sum("orders"."amount") AS "m1",
    count(*) AS "m2"
  FROM "orders" AS "orders"
  WHERE ("orders"."status" = 'none')
)
SELECT
  "ktx"."m1" AS "orders.revenue",
  "ktx"."m2" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- text in SQL
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."status" = 'paid' or "orders"."amount" > 5)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- odd text
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "customers" AS "customers"
  WHERE (NOT ("customers"."segment" IN ('it\'s a \\ " ]')))
)
SELECT "ktx"."m1" AS "customers.customer_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- list with NULL
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."status" IN ('paid') OR "orders"."status" IS NULL)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- not among
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (NOT ("orders"."status" IN ('paid', 'open')))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- between
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."amount" BETWEEN 3 AND 7)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- null
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."amount" IS NULL)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- contains
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (position(toString("orders"."status"), 'ai'))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- contains in another case
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (position(toString("orders"."status"), 'AI'))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- begins and ends
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (startsWith(toString("orders"."status"), 'set')) AND (endsWith(toString("orders"."status"), 'led'))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- on a joined dataset
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  WHERE ("orders.buyer"."segment" = 'ent')
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- segment
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."status" = 'paid' or "orders"."status" = 'settled')
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- having
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
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
WHERE ("ktx"."m1" > 3) AND ("ktx"."m2" >= 1)
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- by a metric
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."m1" DESC NULLS LAST, "ktx"."d1" NULLS LAST
LIMIT 3;

-- by one that is not shown
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
ORDER BY "ktx"."m2" DESC NULLS LAST, "ktx"."d1" NULLS LAST;

-- limit alone
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
LIMIT 1;

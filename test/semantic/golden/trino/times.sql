-- second
WITH "ktx facts" AS (
  SELECT
    date_trunc('second', CAST("orders"."created_at" AS TIMESTAMP(12))) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.second",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- hour
WITH "ktx facts" AS (
  SELECT
    date_trunc('hour', CAST("orders"."created_at" AS TIMESTAMP(12))) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.hour",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- day of metric_time
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('day', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.day",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- weeks from Monday
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('week', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- weeks from Sunday
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('week', CAST("orders"."created_at" AS TIMESTAMP(12)) + INTERVAL '1' DAY) - INTERVAL '1' DAY AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- weeks of dates
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('week', CAST("orders"."shipped_on" AS TIMESTAMP(12))) AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- month
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.month",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- quarter
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('quarter', CAST("orders"."shipped_on" AS TIMESTAMP(12))) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.quarter",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- year
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('year', CAST("orders"."shipped_on" AS TIMESTAMP(12))) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.year",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

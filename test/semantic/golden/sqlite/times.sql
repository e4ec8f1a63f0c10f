-- second
WITH "ktx facts" AS (
  SELECT
    CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:%S', "orders"."created_at") ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN strftime('%Y-%m-%d %H:00:00', "orders"."created_at") ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at") ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'weekday 0', '-6 days') ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'weekday 6', '-6 days') ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."shipped_on") = 'text' AND date(substr("orders"."shipped_on", 1, 10)) = substr("orders"."shipped_on", 1, 10) AND date("orders"."shipped_on") IS NOT NULL THEN date("orders"."shipped_on", 'weekday 0', '-6 days') ELSE CAST("orders"."shipped_on" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'start of month') ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."shipped_on") = 'text' AND date(substr("orders"."shipped_on", 1, 10)) = substr("orders"."shipped_on", 1, 10) AND date("orders"."shipped_on") IS NOT NULL THEN date("orders"."shipped_on", 'start of month', '-' || ((strftime('%m', "orders"."shipped_on") - 1) % 3) || ' months') ELSE CAST("orders"."shipped_on" AS TEXT) END AS "d1",
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
    CASE WHEN typeof("orders"."shipped_on") = 'text' AND date(substr("orders"."shipped_on", 1, 10)) = substr("orders"."shipped_on", 1, 10) AND date("orders"."shipped_on") IS NOT NULL THEN date("orders"."shipped_on", 'start of year') ELSE CAST("orders"."shipped_on" AS TEXT) END AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.year",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

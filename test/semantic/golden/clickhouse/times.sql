-- second
WITH "ktx facts" AS (
  SELECT
    toStartOfSecond(toDateTime64("orders"."created_at", 3)) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.second",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- hour
WITH "ktx facts" AS (
  SELECT
    toStartOfHour("orders"."created_at") AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.hour",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- day of metric_time
WITH "ktx facts" AS (
  SELECT
    toDate32("orders"."created_at") AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.day",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- weeks from Monday
WITH "ktx facts" AS (
  SELECT
    toStartOfWeek("orders"."created_at", 1) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- weeks from Sunday
WITH "ktx facts" AS (
  SELECT
    toStartOfWeek("orders"."created_at", 0) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- weeks of dates
WITH "ktx facts" AS (
  SELECT
    toStartOfWeek("orders"."shipped_on", 1) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- month
WITH "ktx facts" AS (
  SELECT
    toStartOfMonth("orders"."created_at") AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.month",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- quarter
WITH "ktx facts" AS (
  SELECT
    toStartOfQuarter("orders"."shipped_on") AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.quarter",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

-- year
WITH "ktx facts" AS (
  SELECT
    toStartOfYear("orders"."shipped_on") AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.year",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, enable_extended_results_for_datetime_functions = 1;

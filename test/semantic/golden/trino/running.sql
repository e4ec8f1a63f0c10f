-- balance
WITH "ktx facts" AS (
  SELECT
    "ktx rows"."d1" AS "d1",
    sum(CASE WHEN ("ktx rows"."o" = 1) AND ("ktx rows"."r" = 1) THEN "ktx rows"."v1" END) AS "m1"
  FROM (
    SELECT
      CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1",
      "orders"."amount" AS "v1",
      CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END AS "o",
      rank() OVER (PARTITION BY CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END, "orders"."customer_id", CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) ORDER BY "orders"."created_at" DESC) AS "r"
    FROM "orders" AS "orders"
  ) AS "ktx rows"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.latest"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- average of each
WITH "ktx facts" AS (
  SELECT
    "ktx"."d1" AS "d1",
    avg(CAST(CASE WHEN ("ktx"."d2" IS NOT NULL) THEN "ktx"."m1" END AS DOUBLE)) AS "m1"
  FROM (
    SELECT
      "orders"."status" AS "d1",
      "orders"."customer_id" AS "d2",
      sum("orders"."amount") AS "m1"
    FROM "orders" AS "orders"
    GROUP BY 1, 2
  ) AS "ktx"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "orders.per_buyer"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- growth
WITH "ktx facts 1" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CAST(date_trunc('month', CAST(date_add('month', 1, CAST("orders"."created_at" AS TIMESTAMP(12))) AS TIMESTAMP(12))) AS DATE) AS "d1",
    sum("orders"."amount") AS "m2"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    max("ktx all"."m1") AS "m1",
    max("ktx all"."m2") AS "m2"
  FROM (
    SELECT
      "ktx facts 1"."d1" AS "d1",
      "ktx facts 1"."m1" AS "m1",
      NULL AS "m2"
    FROM "ktx facts 1" AS "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."d1" AS "d1",
      NULL AS "m1",
      "ktx facts 2"."m2" AS "m2"
    FROM "ktx facts 2" AS "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.revenue",
  (COALESCE("ktx"."m1", 0) - COALESCE("ktx"."m2", 0)) AS "orders.growth"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- total
WITH "ktx periods" AS (
  SELECT CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "orders" AS "orders" ON ((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) <= "ktx periods"."d1"))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.running"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- to date
WITH "ktx periods" AS (
  SELECT CAST(date_trunc('day', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "orders" AS "orders" ON ((CAST(date_trunc('day', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) <= "ktx periods"."d1") AND (CAST(date_trunc('year', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) = CAST(date_trunc('year', CAST("ktx periods"."d1" AS TIMESTAMP(12))) AS DATE)))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.day",
  "ktx"."m1" AS "orders.year_to_date"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- filled
-- not_supported: There is no SQL for trino that gives periods without rows, however many (fill_time)

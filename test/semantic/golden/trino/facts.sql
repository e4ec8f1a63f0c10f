-- two by a shared dimension
WITH "ktx facts 1" AS (
  SELECT
    "customers.regions"."name" AS "d1",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  LEFT JOIN "regions" AS "customers.regions" ON ("customers"."region_id" = "customers.regions"."id")
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers.regions"."name" AS "d1",
    count(*) AS "m2"
  FROM "tickets" AS "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  LEFT JOIN "regions" AS "tickets.customers.regions" ON ("tickets.customers"."region_id" = "tickets.customers.regions"."id")
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2"
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
  "ktx"."d1" AS "regions.name",
  "ktx"."m1" AS "customers.customer_count",
  "ktx"."m2" AS "tickets.ticket_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- two by month
WITH "ktx facts 1" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP(12))) AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CAST(date_trunc('month', CAST("tickets"."opened_on" AS TIMESTAMP(12))) AS DATE) AS "d1",
    count(*) AS "m2",
    max("tickets"."priority") AS "m3"
  FROM "tickets" AS "tickets"
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2",
    max("ktx all"."m3") AS "m3"
  FROM (
    SELECT
      "ktx facts 1"."d1" AS "d1",
      "ktx facts 1"."m1" AS "m1",
      NULL AS "m2",
      NULL AS "m3"
    FROM "ktx facts 1" AS "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."d1" AS "d1",
      NULL AS "m1",
      "ktx facts 2"."m2" AS "m2",
      "ktx facts 2"."m3" AS "m3"
    FROM "ktx facts 2" AS "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.order_count",
  "ktx"."m2" AS "tickets.ticket_count",
  "ktx"."m3" AS "tickets.last_priority"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- arithmetic across
WITH "ktx facts 1" AS (
  SELECT
    "tickets.customers"."segment" AS "d1",
    count(*) AS "m1"
  FROM "tickets" AS "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "customers"."segment" AS "d1",
    count(*) AS "m2"
  FROM "customers" AS "customers"
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2"
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
  "ktx"."d1" AS "customers.segment",
  ("ktx"."m1" * 1e0 / NULLIF("ktx"."m2", 0)) AS "rate"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- a condition of one
WITH "ktx facts 1" AS (
  SELECT
    "customers"."segment" AS "d1",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "d1",
    count(*) AS "m2"
  FROM "tickets" AS "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  WHERE ("tickets"."priority" = 'high')
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2"
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
  "ktx"."d1" AS "customers.segment",
  "ktx"."m1" AS "customers.customer_count",
  "ktx"."m2" AS "tickets.ticket_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- empty members of two
WITH "ktx facts 1" AS (
  SELECT
    "customers"."segment" AS "d1",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "d1",
    count(*) AS "m2"
  FROM "tickets" AS "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  GROUP BY 1
),
"ktx members 1" AS (
  SELECT DISTINCT "tickets.customers"."segment" AS "d1"
  FROM "customers" AS "tickets.customers"
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2"
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
    UNION ALL
    SELECT
      "ktx members 1"."d1" AS "d1",
      NULL AS "m1",
      NULL AS "m2"
    FROM "ktx members 1" AS "ktx members 1"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "customers.segment",
  "ktx"."m1" AS "customers.customer_count",
  "ktx"."m2" AS "tickets.ticket_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

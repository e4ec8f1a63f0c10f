-- balance
WITH "ktx facts" AS (
  SELECT
    "ktx rows"."d1" AS "d1",
    sum(CASE WHEN ("ktx rows"."o" = 1) AND ("ktx rows"."r" = 1) THEN "ktx rows"."v1" END) AS "m1"
  FROM (
    SELECT
      CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1",
      "orders"."amount" AS "v1",
      CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END AS "o",
      rank() OVER (PARTITION BY CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END, "orders"."customer_id", CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) ORDER BY "orders"."created_at" DESC) AS "r"
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
    avg(CASE WHEN ("ktx"."d2" IS NOT NULL) THEN "ktx"."m1" END) AS "m1"
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
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CAST(date_trunc('month', CAST(("orders"."created_at" + INTERVAL '1 month') AS TIMESTAMP)) AS DATE) AS "d1",
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
  SELECT CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "orders" AS "orders" ON ((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) <= "ktx periods"."d1"))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.running"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- to date
WITH "ktx periods" AS (
  SELECT CAST(date_trunc('day', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "orders" AS "orders" ON ((CAST(date_trunc('day', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) <= "ktx periods"."d1") AND (CAST(date_trunc('year', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) = CAST(date_trunc('year', CAST("ktx periods"."d1" AS TIMESTAMP)) AS DATE)))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.day",
  "ktx"."m1" AS "orders.year_to_date"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- followed by itself
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    count("ktx conversions"."v") AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN (
    SELECT
      "ktx rows"."k1" AS "k1",
      "ktx rows"."v" AS "v"
    FROM (
      SELECT
        "ktx base"."k1" AS "k1",
        "ktx next"."v" AS "v",
        rank() OVER (PARTITION BY "ktx next"."k1" ORDER BY "ktx base"."t" DESC, "ktx base"."k1" DESC) AS "r"
      FROM (
        SELECT
          "orders"."id" AS "k1",
          "orders"."customer_id" AS "e1",
          "orders"."created_at" AS "t"
        FROM "orders" AS "orders"
      ) AS "ktx base"
      JOIN (
        SELECT
          "orders"."id" AS "k1",
          "orders"."customer_id" AS "e1",
          "orders"."created_at" AS "t",
          1 AS "v"
        FROM "orders" AS "orders"
      ) AS "ktx next" ON (("ktx base"."e1" = "ktx next"."e1") AND ("ktx base"."t" <= "ktx next"."t") AND (date_trunc('second', CAST("ktx base"."t" AS TIMESTAMP)) > (date_trunc('second', CAST("ktx next"."t" AS TIMESTAMP)) - INTERVAL '30 day')) AND (NOT (("ktx base"."k1" = "ktx next"."k1"))))
    ) AS "ktx rows"
    WHERE ("ktx rows"."r" = 1)
  ) AS "ktx conversions" ON (("orders"."id" = "ktx conversions"."k1"))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "orders.bought_again"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- followed by another
WITH "ktx facts 1" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    count("ktx conversions"."v") AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  LEFT JOIN (
    SELECT
      "ktx rows"."k1" AS "k1",
      "ktx rows"."v" AS "v"
    FROM (
      SELECT
        "ktx base"."k1" AS "k1",
        "ktx next"."v" AS "v",
        rank() OVER (PARTITION BY "ktx next"."k1" ORDER BY "ktx base"."t" DESC, "ktx base"."k1" DESC) AS "r"
      FROM (
        SELECT
          "orders"."id" AS "k1",
          "orders"."customer_id" AS "e1",
          "orders"."created_at" AS "t"
        FROM "orders" AS "orders"
      ) AS "ktx base"
      JOIN (
        SELECT
          "tickets"."id" AS "k1",
          "tickets"."customer_id" AS "e1",
          "tickets"."opened_on" AS "t",
          1 AS "v"
        FROM "tickets" AS "tickets"
      ) AS "ktx next" ON (("ktx base"."e1" = "ktx next"."e1") AND (CAST(date_trunc('day', CAST("ktx base"."t" AS TIMESTAMP)) AS DATE) <= CAST(date_trunc('day', CAST("ktx next"."t" AS TIMESTAMP)) AS DATE)) AND (CAST(date_trunc('day', CAST("ktx base"."t" AS TIMESTAMP)) AS DATE) > CAST((CAST(date_trunc('day', CAST("ktx next"."t" AS TIMESTAMP)) AS DATE) - INTERVAL '2 month') AS DATE)))
    ) AS "ktx rows"
    WHERE ("ktx rows"."r" = 1)
  ) AS "ktx conversions" ON (("orders"."id" = "ktx conversions"."k1"))
  WHERE ("orders"."amount" > 2)
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    count(*) AS "m2"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  WHERE ("orders"."amount" > 2)
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
  "ktx"."d1" AS "buyer.segment",
  ("ktx"."m1" / NULLIF("ktx"."m2", 0)) AS "orders.complained",
  "ktx"."m2" AS "orders.order_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- filled
WITH RECURSIVE "ktx periods seen" AS (
  SELECT CAST(date_trunc('quarter', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx periods all" AS (
  SELECT min("ktx periods seen"."d1") AS "d1"
  FROM "ktx periods seen" AS "ktx periods seen"
  UNION ALL
  SELECT CAST(("ktx periods all"."d1" + INTERVAL '3 month') AS DATE) AS "d1"
  FROM "ktx periods all" AS "ktx periods all"
  WHERE (CAST(("ktx periods all"."d1" + INTERVAL '3 month') AS DATE) <= (SELECT max("d1") FROM "ktx periods seen"))
),
"ktx periods" AS (
  SELECT "ktx periods all"."d1" AS "d1"
  FROM "ktx periods all" AS "ktx periods all"
  WHERE ("ktx periods all"."d1" IS NOT NULL)
),
"ktx facts" AS (
  SELECT
    CAST(date_trunc('quarter', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    max("ktx all"."m1") AS "m1"
  FROM (
    SELECT
      "ktx facts"."d1" AS "d1",
      "ktx facts"."m1" AS "m1"
    FROM "ktx facts" AS "ktx facts"
    UNION ALL
    SELECT
      "ktx periods"."d1" AS "d1",
      NULL AS "m1"
    FROM "ktx periods" AS "ktx periods"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.quarter",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

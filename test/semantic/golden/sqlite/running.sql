-- balance
WITH "ktx facts" AS (
  SELECT
    "ktx rows"."d1" AS "d1",
    sum(CASE WHEN ("ktx rows"."o" = 1) AND ("ktx rows"."r" = 1) THEN "ktx rows"."v1" END) AS "m1"
  FROM (
    SELECT
      CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'start of month') ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
      "orders"."amount" AS "v1",
      CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END AS "o",
      rank() OVER (PARTITION BY CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END, "orders"."customer_id", CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'start of month') ELSE CAST("orders"."created_at" AS TEXT) END ORDER BY "orders"."created_at" DESC) AS "r"
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
    CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'start of month') ELSE CAST("orders"."created_at" AS TEXT) END AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CASE WHEN typeof(datetime("orders"."created_at", '+1 months', 'floor')) = 'text' AND date(substr(datetime("orders"."created_at", '+1 months', 'floor'), 1, 10)) = substr(datetime("orders"."created_at", '+1 months', 'floor'), 1, 10) AND date(datetime("orders"."created_at", '+1 months', 'floor')) IS NOT NULL THEN date(datetime("orders"."created_at", '+1 months', 'floor'), 'start of month') ELSE CAST(datetime("orders"."created_at", '+1 months', 'floor') AS TEXT) END AS "d1",
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
  SELECT CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'start of month') ELSE CAST("orders"."created_at" AS TEXT) END AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "orders" AS "orders" ON ((CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'start of month') ELSE CAST("orders"."created_at" AS TEXT) END <= "ktx periods"."d1"))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.running"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- to date
WITH "ktx periods" AS (
  SELECT CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at") ELSE CAST("orders"."created_at" AS TEXT) END AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "orders" AS "orders" ON ((CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at") ELSE CAST("orders"."created_at" AS TEXT) END <= "ktx periods"."d1") AND (CASE WHEN typeof("orders"."created_at") = 'text' AND date(substr("orders"."created_at", 1, 10)) = substr("orders"."created_at", 1, 10) AND date("orders"."created_at") IS NOT NULL THEN date("orders"."created_at", 'start of year') ELSE CAST("orders"."created_at" AS TEXT) END = CASE WHEN typeof("ktx periods"."d1") = 'text' AND date(substr("ktx periods"."d1", 1, 10)) = substr("ktx periods"."d1", 1, 10) AND date("ktx periods"."d1") IS NOT NULL THEN date("ktx periods"."d1", 'start of year') ELSE CAST("ktx periods"."d1" AS TEXT) END))
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
      ) AS "ktx next" ON (("ktx base"."e1" = "ktx next"."e1") AND ("ktx base"."t" <= "ktx next"."t") AND (CASE WHEN typeof("ktx base"."t") = 'text' AND date(substr("ktx base"."t", 1, 10)) = substr("ktx base"."t", 1, 10) AND date("ktx base"."t") IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:%S', "ktx base"."t") ELSE CAST("ktx base"."t" AS TEXT) END > datetime(CASE WHEN typeof("ktx next"."t") = 'text' AND date(substr("ktx next"."t", 1, 10)) = substr("ktx next"."t", 1, 10) AND date("ktx next"."t") IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:%S', "ktx next"."t") ELSE CAST("ktx next"."t" AS TEXT) END, '-30 days', 'floor')) AND (NOT (("ktx base"."k1" = "ktx next"."k1"))))
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
      ) AS "ktx next" ON (("ktx base"."e1" = "ktx next"."e1") AND (CASE WHEN typeof("ktx base"."t") = 'text' AND date(substr("ktx base"."t", 1, 10)) = substr("ktx base"."t", 1, 10) AND date("ktx base"."t") IS NOT NULL THEN date("ktx base"."t") ELSE CAST("ktx base"."t" AS TEXT) END <= CASE WHEN typeof("ktx next"."t") = 'text' AND date(substr("ktx next"."t", 1, 10)) = substr("ktx next"."t", 1, 10) AND date("ktx next"."t") IS NOT NULL THEN date("ktx next"."t") ELSE CAST("ktx next"."t" AS TEXT) END) AND (CASE WHEN typeof("ktx base"."t") = 'text' AND date(substr("ktx base"."t", 1, 10)) = substr("ktx base"."t", 1, 10) AND date("ktx base"."t") IS NOT NULL THEN date("ktx base"."t") ELSE CAST("ktx base"."t" AS TEXT) END > date(CASE WHEN typeof("ktx next"."t") = 'text' AND date(substr("ktx next"."t", 1, 10)) = substr("ktx next"."t", 1, 10) AND date("ktx next"."t") IS NOT NULL THEN date("ktx next"."t") ELSE CAST("ktx next"."t" AS TEXT) END, '-2 months', 'floor')))
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
  ("ktx"."m1" * 1.0 / NULLIF("ktx"."m2", 0)) AS "orders.complained",
  "ktx"."m2" AS "orders.order_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- filled
WITH RECURSIVE "ktx periods seen" AS (
  SELECT CASE WHEN typeof("orders"."shipped_on") = 'text' AND date(substr("orders"."shipped_on", 1, 10)) = substr("orders"."shipped_on", 1, 10) AND date("orders"."shipped_on") IS NOT NULL THEN date("orders"."shipped_on", 'start of month', '-' || ((strftime('%m', "orders"."shipped_on") - 1) % 3) || ' months') ELSE CAST("orders"."shipped_on" AS TEXT) END AS "d1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx periods all" AS (
  SELECT min("ktx periods seen"."d1") AS "d1"
  FROM "ktx periods seen" AS "ktx periods seen"
  UNION ALL
  SELECT date("ktx periods all"."d1", '+3 months', 'floor') AS "d1"
  FROM "ktx periods all" AS "ktx periods all"
  WHERE (date("ktx periods all"."d1", '+3 months', 'floor') <= (SELECT max("d1") FROM "ktx periods seen"))
),
"ktx periods" AS (
  SELECT "ktx periods all"."d1" AS "d1"
  FROM "ktx periods all" AS "ktx periods all"
  WHERE ("ktx periods all"."d1" IS NOT NULL)
),
"ktx facts" AS (
  SELECT
    CASE WHEN typeof("orders"."shipped_on") = 'text' AND date(substr("orders"."shipped_on", 1, 10)) = substr("orders"."shipped_on", 1, 10) AND date("orders"."shipped_on") IS NOT NULL THEN date("orders"."shipped_on", 'start of month', '-' || ((strftime('%m', "orders"."shipped_on") - 1) % 3) || ' months') ELSE CAST("orders"."shipped_on" AS TEXT) END AS "d1",
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

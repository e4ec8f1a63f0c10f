-- metrics: several kinds
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

-- metrics: of filtered rows
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

-- metrics: mean
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    avg("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "orders.average"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- metrics: median
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    quantile_cont(CAST("orders"."amount" AS DOUBLE), 0.5) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "orders.middle"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- metrics: percentile
WITH "ktx facts" AS (
  SELECT quantile_cont(CAST("orders"."amount" AS DOUBLE), 0.9) AS "m1"
  FROM "orders" AS "orders"
)
SELECT "ktx"."m1" AS "percentile(orders.amount, 0.9)"
FROM "ktx facts" AS "ktx";

-- metrics: discrete_percentile
WITH "ktx facts" AS (
  SELECT
    "orders"."status" AS "d1",
    quantile_disc("orders"."amount", 0.9) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.status",
  "ktx"."m1" AS "percentile_disc(orders.amount, 0.9)"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- metrics: difference
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

-- metrics: quotient of differences
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
  (("ktx"."m1" - "ktx"."m2") / NULLIF("ktx"."m1", 0)) AS "orders.margin"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- metrics: ratio
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
  ("ktx"."m1" / NULLIF("ktx"."m2", 0)) AS "orders.aov"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- metrics: filtered by another dataset
WITH "ktx facts" AS (
  SELECT sum(CASE WHEN ("orders.buyer"."segment" = 'ent') THEN "orders"."amount" END) AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
)
SELECT "ktx"."m1" AS "orders.enterprise_revenue"
FROM "ktx facts" AS "ktx";

-- metrics: ad hoc
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

-- metrics: of a query
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

-- metrics: of nobody
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

-- dimensions: own field
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
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: expression with a division
WITH "ktx facts" AS (
  SELECT
    ("orders"."amount" / NULLIF("orders".quantity, 0)) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.unit_price",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: one hop by its role
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.buyer.segment",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: two hops
WITH "ktx facts" AS (
  SELECT
    "orders.recipient.regions"."name" AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.recipient" ON ("orders"."ship_customer_id" = "orders.recipient"."id")
  LEFT JOIN "regions" AS "orders.recipient.regions" ON ("orders.recipient"."region_id" = "orders.recipient.regions"."id")
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.recipient.regions.name",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: two roles
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    "orders.recipient"."segment" AS "d2",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  LEFT JOIN "customers" AS "orders.recipient" ON ("orders"."ship_customer_id" = "orders.recipient"."id")
  GROUP BY 1, 2
)
SELECT
  "ktx"."d1" AS "buyer.segment",
  "ktx"."d2" AS "recipient.segment",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST;

-- dimensions: one to one
WITH "ktx facts" AS (
  SELECT
    "customers.profiles"."score" AS "d1",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  LEFT JOIN "profiles" AS "customers.profiles" ON ("customers.profiles"."customer_id" = "customers"."id")
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "profiles.score",
  "ktx"."m1" AS "customers.customer_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: itself
WITH "ktx facts" AS (
  SELECT
    "employees.manager"."name" AS "d1",
    count(*) AS "m1",
    sum("employees".salary) AS "m2"
  FROM "employees" AS "employees"
  LEFT JOIN "employees" AS "employees.manager" ON ("employees"."manager_id" = "employees.manager"."id")
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "employees.manager.name",
  "ktx"."m1" AS "employees.headcount",
  "ktx"."m2" AS "employees.payroll"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: what held at the time
WITH "ktx facts" AS (
  SELECT
    "orders.tiers"."tier" AS "d1",
    sum("orders"."amount") AS "m1",
    count(*) AS "m2"
  FROM "orders" AS "orders"
  LEFT JOIN "tiers" AS "orders.tiers" ON ("orders"."customer_id" = "orders.tiers"."customer_id" AND ("orders"."created_at" IS NOT NULL) AND ("orders.tiers"."since" IS NULL OR CAST("orders"."created_at" AS DATE) >= "orders.tiers"."since") AND ("orders.tiers"."until" IS NULL OR CAST("orders"."created_at" AS DATE) < "orders.tiers"."until"))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "tiers.tier",
  "ktx"."m1" AS "orders.revenue",
  "ktx"."m2" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: without metrics
WITH "ktx facts" AS (
  SELECT
    "customers"."segment" AS "d1",
    "customers.regions"."name" AS "d2"
  FROM "customers" AS "customers"
  LEFT JOIN "regions" AS "customers.regions" ON ("customers"."region_id" = "customers.regions"."id")
  GROUP BY 1, 2
)
SELECT
  "ktx"."d1" AS "customers.segment",
  "ktx"."d2" AS "regions.name"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST;

-- dimensions: empty members
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    count(*) AS "m1",
    sum("orders"."amount") AS "m2"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1
),
"ktx members 1" AS (
  SELECT DISTINCT "orders.buyer"."segment" AS "d1"
  FROM "customers" AS "orders.buyer"
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    max("ktx all"."m2") AS "m2"
  FROM (
    SELECT
      "ktx facts"."d1" AS "d1",
      "ktx facts"."m1" AS "m1",
      "ktx facts"."m2" AS "m2"
    FROM "ktx facts" AS "ktx facts"
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
  "ktx"."d1" AS "buyer.segment",
  "ktx"."m1" AS "orders.order_count",
  ("ktx"."m2" / NULLIF("ktx"."m1", 0)) AS "orders.aov"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- dimensions: empty combinations
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    "orders"."status" AS "d2",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1, 2
),
"ktx members 1" AS (
  SELECT DISTINCT "orders.buyer"."segment" AS "d1"
  FROM "customers" AS "orders.buyer"
),
"ktx members 2" AS (
  SELECT DISTINCT "ktx facts"."d2" AS "d2"
  FROM "ktx facts" AS "ktx facts"
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    "ktx all"."d2" AS "d2",
    max("ktx all"."m1") AS "m1"
  FROM (
    SELECT
      "ktx facts"."d1" AS "d1",
      "ktx facts"."d2" AS "d2",
      "ktx facts"."m1" AS "m1"
    FROM "ktx facts" AS "ktx facts"
    UNION ALL
    SELECT
      "ktx members 1"."d1" AS "d1",
      "ktx members 2"."d2" AS "d2",
      NULL AS "m1"
    FROM "ktx members 1" AS "ktx members 1"
    CROSS JOIN "ktx members 2" AS "ktx members 2"
  ) AS "ktx all"
  GROUP BY 1, 2
)
SELECT
  "ktx"."d1" AS "buyer.segment",
  "ktx"."d2" AS "orders.status",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST;

-- filters: text in SQL
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."status" = 'paid' or "orders"."amount" > 5)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: odd text
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "customers" AS "customers"
  WHERE (NOT ("customers"."segment" IN ('it''s a \ " ]')))
)
SELECT "ktx"."m1" AS "customers.customer_count"
FROM "ktx facts" AS "ktx";

-- filters: list with NULL
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."status" IN ('paid') OR "orders"."status" IS NULL)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: not among
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (NOT ("orders"."status" IN ('paid', 'open')))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: between
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."amount" BETWEEN 3 AND 7)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: null
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."amount" IS NULL)
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: contains
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (contains(CAST("orders"."status" AS TEXT), 'ai'))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: contains in another case
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (contains(CAST("orders"."status" AS TEXT), 'AI'))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: begins and ends
WITH "ktx facts" AS (
  SELECT count(*) AS "m1"
  FROM "orders" AS "orders"
  WHERE (starts_with(CAST("orders"."status" AS TEXT), 'set')) AND (ends_with(CAST("orders"."status" AS TEXT), 'led'))
)
SELECT "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx";

-- filters: on a joined dataset
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  WHERE ("orders.buyer"."segment" = 'ent')
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx";

-- filters: segment
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."status" = 'paid' or "orders"."status" = 'settled')
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx";

-- filters: having
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
ORDER BY "ktx"."d1" NULLS LAST;

-- times: second
WITH "ktx facts" AS (
  SELECT
    date_trunc('second', CAST("orders"."created_at" AS TIMESTAMP)) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.second",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: hour
WITH "ktx facts" AS (
  SELECT
    date_trunc('hour', CAST("orders"."created_at" AS TIMESTAMP)) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.hour",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: day of metric_time
WITH "ktx facts" AS (
  SELECT
    CAST("orders"."created_at" AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.day",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: weeks from Monday
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('week', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: weeks from Sunday
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('week', CAST("orders"."created_at" AS TIMESTAMP) + INTERVAL '1 day') - INTERVAL '1 day' AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: weeks of dates
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('week', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.week",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: month
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.created_at.month",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: quarter
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('quarter', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.quarter",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- times: year
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('year', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "d1",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.shipped_on.year",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- order: by a metric
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

-- order: by one that is not shown
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

-- order: limit alone
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx"
LIMIT 1;

-- facts: two by a shared dimension
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

-- facts: two by month
WITH "ktx facts 1" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CAST(date_trunc('month', CAST("tickets"."opened_on" AS TIMESTAMP)) AS DATE) AS "d1",
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

-- facts: arithmetic across
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
  ("ktx"."m1" / NULLIF("ktx"."m2", 0)) AS "rate"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- facts: a condition of one
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

-- facts: empty members of two
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

-- many: a condition
WITH "ktx facts" AS (
  SELECT
    "customers"."segment" AS "d1",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  WHERE ("customers"."id" IN (SELECT "customers.tickets"."customer_id" FROM "tickets" AS "customers.tickets" WHERE ("customers.tickets"."priority" = 'high')))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "customers.segment",
  "ktx"."m1" AS "customers.customer_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- many: a filter of the metric
WITH "ktx facts" AS (
  SELECT
    count("ktx rows"."v1") AS "m1",
    count(*) AS "m2"
  FROM (
    SELECT CASE WHEN ("customers"."id" IN (SELECT "customers.tickets"."customer_id" FROM "tickets" AS "customers.tickets" WHERE ("customers.tickets"."priority" = 'high'))) THEN 1 END AS "v1"
    FROM "customers" AS "customers"
  ) AS "ktx rows"
)
SELECT
  "ktx"."m1" AS "customers.urgent_count",
  "ktx"."m2" AS "customers.customer_count"
FROM "ktx facts" AS "ktx";

-- many: a dimension
WITH "ktx facts" AS (
  SELECT
    "ktx rows"."d1" AS "d1",
    count(*) AS "m1"
  FROM (
    SELECT DISTINCT
      "customers.tickets"."priority" AS "d1",
      "customers"."id" AS "k1"
    FROM "customers" AS "customers"
    JOIN "tickets" AS "customers.tickets" ON ("customers.tickets"."customer_id" = "customers"."id")
  ) AS "ktx rows"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "tickets.priority",
  "ktx"."m1" AS "customers.customer_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- many: a bridge
WITH "ktx facts" AS (
  SELECT
    "ktx rows"."d1" AS "d1",
    sum("ktx rows"."v1") AS "m1",
    count(*) AS "m2"
  FROM (
    SELECT DISTINCT
      "orders.tags"."label" AS "d1",
      "orders"."id" AS "k1",
      "orders"."amount" AS "v1"
    FROM "orders" AS "orders"
    JOIN "order_tags" AS "orders.tags via" ON ("orders.tags via"."order_id" = "orders"."id")
    LEFT JOIN "tags" AS "orders.tags" ON ("orders.tags via"."tag_id" = "orders.tags"."id")
  ) AS "ktx rows"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "tags.label",
  "ktx"."m1" AS "orders.revenue",
  "ktx"."m2" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- many: a condition over a bridge
WITH "ktx facts" AS (
  SELECT sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  WHERE ("orders"."id" IN (SELECT "orders.tags via"."order_id" FROM "order_tags" AS "orders.tags via" LEFT JOIN "tags" AS "orders.tags" ON ("orders.tags via"."tag_id" = "orders.tags"."id") WHERE ("orders.tags"."label" = 'rush')))
)
SELECT "ktx"."m1" AS "orders.revenue"
FROM "ktx facts" AS "ktx";

-- running: balance
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

-- running: average of each
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

-- running: growth
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

-- running: total
WITH "ktx parts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "month",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
),
"ktx periods" AS (
  SELECT DISTINCT "ktx parts"."month" AS "d1"
  FROM "ktx parts" AS "ktx parts"
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("ktx parts"."m1") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "ktx parts" AS "ktx parts" ON (("ktx parts"."month" <= "ktx periods"."d1"))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.running"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- running: to date
WITH "ktx parts" AS (
  SELECT
    CAST("orders"."created_at" AS DATE) AS "day",
    CAST(date_trunc('year', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "year",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1, 2
),
"ktx periods" AS (
  SELECT DISTINCT "ktx parts"."day" AS "d1"
  FROM "ktx parts" AS "ktx parts"
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("ktx parts"."m1") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "ktx parts" AS "ktx parts" ON (("ktx parts"."day" <= "ktx periods"."d1") AND ("ktx parts"."year" = CAST(date_trunc('year', CAST("ktx periods"."d1" AS TIMESTAMP)) AS DATE)))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.day",
  "ktx"."m1" AS "orders.year_to_date"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- running: followed by itself
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

-- running: followed by another
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
      ) AS "ktx next" ON (("ktx base"."e1" = "ktx next"."e1") AND (CAST("ktx base"."t" AS DATE) <= CAST("ktx next"."t" AS DATE)) AND (CAST("ktx base"."t" AS DATE) > CAST((CAST("ktx next"."t" AS DATE) - INTERVAL '2 month') AS DATE)))
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

-- running: filled
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

-- running: fiscal quarters filled
WITH RECURSIVE "ktx periods seen" AS (
  SELECT CAST((CAST(date_trunc('quarter', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "d1"
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
    CAST((CAST(date_trunc('quarter', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "d1",
    CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "d2",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1, 2
),
"ktx all periods" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("ktx periods"."d1" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "d2"
  FROM "ktx periods" AS "ktx periods"
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    "ktx all"."d2" AS "d2",
    max("ktx all"."m1") AS "m1"
  FROM (
    SELECT
      "ktx facts"."d1" AS "d1",
      "ktx facts"."d2" AS "d2",
      "ktx facts"."m1" AS "m1"
    FROM "ktx facts" AS "ktx facts"
    UNION ALL
    SELECT
      "ktx all periods"."d1" AS "d1",
      "ktx all periods"."d2" AS "d2",
      NULL AS "m1"
    FROM "ktx all periods" AS "ktx all periods"
  ) AS "ktx all"
  GROUP BY 1, 2
)
SELECT
  "ktx"."d1" AS "metric_time.fiscal_quarter",
  "ktx"."d2" AS "metric_time.fiscal_year",
  "ktx"."m1" AS "orders.revenue"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST;

-- running: fiscal year to date
WITH "ktx parts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "month",
    CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "fiscal_year",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1, 2
),
"ktx periods" AS (
  SELECT DISTINCT "ktx parts"."month" AS "d1"
  FROM "ktx parts" AS "ktx parts"
),
"ktx facts" AS (
  SELECT
    "ktx periods"."d1" AS "d1",
    sum("ktx parts"."m1") AS "m1"
  FROM "ktx periods" AS "ktx periods"
  JOIN "ktx parts" AS "ktx parts" ON (("ktx parts"."month" <= "ktx periods"."d1") AND ("ktx parts"."fiscal_year" = CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("ktx periods"."d1" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE)))
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."m1" AS "orders.fiscal_to_date"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- over the result: shares of counts and ratios
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    "orders"."status" AS "d2",
    count(DISTINCT "orders"."customer_id") AS "m1",
    sum("orders"."amount") AS "m2",
    count(*) AS "m3"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1, 2
),
"ktx totals 1" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    count(DISTINCT "orders"."customer_id") AS "m4",
    sum("orders"."amount") AS "m5",
    count(*) AS "m6"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1
),
"ktx groups" AS (
  SELECT
    "ktx facts"."d1" AS "d1",
    "ktx facts"."d2" AS "d2",
    "ktx facts"."m1" AS "m1",
    "ktx facts"."m2" AS "m2",
    "ktx facts"."m3" AS "m3",
    COALESCE("ktx totals 1"."m4", 0) AS "m4",
    "ktx totals 1"."m5" AS "m5",
    COALESCE("ktx totals 1"."m6", 0) AS "m6"
  FROM "ktx facts" AS "ktx facts"
  LEFT JOIN "ktx totals 1" AS "ktx totals 1" ON (("ktx facts"."d1" = "ktx totals 1"."d1" OR ("ktx facts"."d1" IS NULL AND "ktx totals 1"."d1" IS NULL)))
)
SELECT
  "ktx"."d1" AS "orders.buyer.segment",
  "ktx"."d2" AS "orders.status",
  "ktx"."m1" AS "orders.customers_seen",
  ("ktx"."m1" / NULLIF("ktx"."m4", 0)) AS "orders.customers_seen.share",
  ("ktx"."m2" / NULLIF("ktx"."m3", 0)) AS "orders.aov",
  ((COALESCE("ktx"."m2", 0) / NULLIF("ktx"."m3", 0)) / NULLIF((COALESCE("ktx"."m5", 0) / NULLIF("ktx"."m6", 0)), 0)) AS "orders.aov.share"
FROM "ktx groups" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST;

-- over the result: compared with the month before
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
  "ktx"."m2" AS "orders.revenue.previous",
  (COALESCE("ktx"."m1", 0) - COALESCE("ktx"."m2", 0)) AS "orders.revenue.difference",
  ((COALESCE("ktx"."m1", 0) - COALESCE("ktx"."m2", 0)) / NULLIF(COALESCE("ktx"."m2", 0), 0)) AS "orders.revenue.growth"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- over the result: top and others
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    "orders"."status" AS "d2",
    sum("orders"."amount") AS "m1",
    count(DISTINCT "orders"."customer_id") AS "m2",
    avg("orders"."amount") AS "m3"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1, 2
),
"ktx totals 1" AS (
  SELECT
    sum("orders"."amount") AS "m4",
    count(DISTINCT "orders"."customer_id") AS "m5",
    avg("orders"."amount") AS "m6"
  FROM "orders" AS "orders"
),
"ktx groups" AS (
  SELECT
    "ktx facts"."d1" AS "d1",
    "ktx facts"."d2" AS "d2",
    "ktx facts"."m1" AS "m1",
    "ktx facts"."m2" AS "m2",
    "ktx facts"."m3" AS "m3",
    "ktx totals 1"."m4" AS "m4",
    COALESCE("ktx totals 1"."m5", 0) AS "m5",
    "ktx totals 1"."m6" AS "m6"
  FROM "ktx facts" AS "ktx facts"
  LEFT JOIN "ktx totals 1" AS "ktx totals 1" ON (1 = 1)
),
"ktx ranked" AS (
  SELECT
    "ktx"."d1" AS "d1",
    "ktx"."d2" AS "d2",
    "ktx"."m1" AS "x1",
    (COALESCE("ktx"."m1", 0) / NULLIF(COALESCE("ktx"."m4", 0), 0)) AS "x2",
    "ktx"."m2" AS "x3",
    ("ktx"."m2" / NULLIF("ktx"."m5", 0)) AS "x4",
    "ktx"."m3" AS "x5",
    ("ktx"."m3" / NULLIF("ktx"."m6", 0)) AS "x6",
    CASE WHEN "ktx"."m1" IS NOT NULL THEN rank() OVER (PARTITION BY "ktx"."d1" ORDER BY "ktx"."m1" DESC NULLS LAST) END AS "rank"
  FROM "ktx groups" AS "ktx"
),
"ktx others facts" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    sum("orders"."amount") AS "m1",
    count(DISTINCT "orders"."customer_id") AS "m2",
    avg("orders"."amount") AS "m3"
  FROM "orders" AS "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  WHERE (NOT EXISTS (SELECT 1 FROM (
  SELECT
    "ktx"."d1" AS "d1",
    "ktx"."d2" AS "d2"
  FROM "ktx ranked" AS "ktx"
  WHERE ("ktx"."rank" <= 1)
) AS "ktx shown" WHERE (("orders.buyer"."segment" = "ktx shown"."d1" OR ("orders.buyer"."segment" IS NULL AND "ktx shown"."d1" IS NULL)) AND ("orders"."status" = "ktx shown"."d2" OR ("orders"."status" IS NULL AND "ktx shown"."d2" IS NULL))) AND (1 = 1)))
  GROUP BY 1
),
"ktx others totals 1" AS (
  SELECT
    sum("orders"."amount") AS "m4",
    count(DISTINCT "orders"."customer_id") AS "m5",
    avg("orders"."amount") AS "m6"
  FROM "orders" AS "orders"
),
"ktx others groups" AS (
  SELECT
    "ktx others facts"."d1" AS "d1",
    "ktx others facts"."m1" AS "m1",
    "ktx others facts"."m2" AS "m2",
    "ktx others facts"."m3" AS "m3",
    "ktx others totals 1"."m4" AS "m4",
    COALESCE("ktx others totals 1"."m5", 0) AS "m5",
    "ktx others totals 1"."m6" AS "m6"
  FROM "ktx others facts" AS "ktx others facts"
  LEFT JOIN "ktx others totals 1" AS "ktx others totals 1" ON (1 = 1)
),
"ktx rows" AS (
  SELECT
    "ktx"."d1" AS "d1",
    "ktx"."d2" AS "d2",
    "ktx"."x1" AS "x1",
    "ktx"."x2" AS "x2",
    "ktx"."x3" AS "x3",
    "ktx"."x4" AS "x4",
    "ktx"."x5" AS "x5",
    "ktx"."x6" AS "x6",
    "ktx"."rank" AS "rank",
    'group' AS "kind",
    0 AS "level"
  FROM "ktx ranked" AS "ktx"
  WHERE ("ktx"."rank" <= 1)
  UNION ALL
  SELECT
    "ktx"."d1" AS "d1",
    NULL AS "d2",
    "ktx"."m1" AS "x1",
    (COALESCE("ktx"."m1", 0) / NULLIF(COALESCE("ktx"."m4", 0), 0)) AS "x2",
    "ktx"."m2" AS "x3",
    ("ktx"."m2" / NULLIF("ktx"."m5", 0)) AS "x4",
    "ktx"."m3" AS "x5",
    ("ktx"."m3" / NULLIF("ktx"."m6", 0)) AS "x6",
    NULL AS "rank",
    'others' AS "kind",
    1 AS "level"
  FROM "ktx others groups" AS "ktx"
)
SELECT
  "ktx"."d1" AS "orders.buyer.segment",
  "ktx"."d2" AS "orders.status",
  "ktx"."kind" AS "row_kind",
  "ktx"."x1" AS "orders.revenue",
  "ktx"."x2" AS "orders.revenue.share",
  "ktx"."x3" AS "orders.customers_seen",
  "ktx"."x4" AS "orders.customers_seen.share",
  "ktx"."x5" AS "orders.average",
  "ktx"."x6" AS "orders.average.share"
FROM "ktx rows" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."level" NULLS LAST, "ktx"."rank" NULLS LAST, "ktx"."d2" NULLS LAST;

-- over the result: totals of two facts
WITH "ktx facts 1" AS (
  SELECT
    "customers"."segment" AS "d1",
    "customers.regions"."name" AS "d2",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  LEFT JOIN "regions" AS "customers.regions" ON ("customers"."region_id" = "customers.regions"."id")
  GROUP BY 1, 2
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "d1",
    "tickets.customers.regions"."name" AS "d2",
    count(*) AS "m2"
  FROM "tickets" AS "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  LEFT JOIN "regions" AS "tickets.customers.regions" ON ("tickets.customers"."region_id" = "tickets.customers.regions"."id")
  GROUP BY 1, 2
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    "ktx all"."d2" AS "d2",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2"
  FROM (
    SELECT
      "ktx facts 1"."d1" AS "d1",
      "ktx facts 1"."d2" AS "d2",
      "ktx facts 1"."m1" AS "m1",
      NULL AS "m2"
    FROM "ktx facts 1" AS "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."d1" AS "d1",
      "ktx facts 2"."d2" AS "d2",
      NULL AS "m1",
      "ktx facts 2"."m2" AS "m2"
    FROM "ktx facts 2" AS "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1, 2
),
"ktx ranked" AS (
  SELECT
    "ktx"."d1" AS "d1",
    "ktx"."d2" AS "d2",
    "ktx"."m1" AS "x1",
    "ktx"."m2" AS "x2"
  FROM "ktx result" AS "ktx"
),
"ktx total by 1 facts 1" AS (
  SELECT
    "customers"."segment" AS "d1",
    count(*) AS "m1"
  FROM "customers" AS "customers"
  GROUP BY 1
),
"ktx total by 1 facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "d1",
    count(*) AS "m2"
  FROM "tickets" AS "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  GROUP BY 1
),
"ktx total by 1 result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2"
  FROM (
    SELECT
      "ktx total by 1 facts 1"."d1" AS "d1",
      "ktx total by 1 facts 1"."m1" AS "m1",
      NULL AS "m2"
    FROM "ktx total by 1 facts 1" AS "ktx total by 1 facts 1"
    UNION ALL
    SELECT
      "ktx total by 1 facts 2"."d1" AS "d1",
      NULL AS "m1",
      "ktx total by 1 facts 2"."m2" AS "m2"
    FROM "ktx total by 1 facts 2" AS "ktx total by 1 facts 2"
  ) AS "ktx all"
  GROUP BY 1
),
"ktx total facts 1" AS (
  SELECT count(*) AS "m1"
  FROM "customers" AS "customers"
),
"ktx total facts 2" AS (
  SELECT count(*) AS "m2"
  FROM "tickets" AS "tickets"
),
"ktx total result" AS (
  SELECT
    COALESCE(max("ktx all"."m1"), 0) AS "m1",
    COALESCE(max("ktx all"."m2"), 0) AS "m2"
  FROM (
    SELECT
      "ktx total facts 1"."m1" AS "m1",
      NULL AS "m2"
    FROM "ktx total facts 1" AS "ktx total facts 1"
    UNION ALL
    SELECT
      NULL AS "m1",
      "ktx total facts 2"."m2" AS "m2"
    FROM "ktx total facts 2" AS "ktx total facts 2"
  ) AS "ktx all"
),
"ktx rows" AS (
  SELECT
    "ktx"."d1" AS "d1",
    "ktx"."d2" AS "d2",
    "ktx"."x1" AS "x1",
    "ktx"."x2" AS "x2",
    'group' AS "kind",
    0 AS "level"
  FROM "ktx ranked" AS "ktx"
  UNION ALL
  SELECT
    "ktx"."d1" AS "d1",
    NULL AS "d2",
    "ktx"."m1" AS "x1",
    "ktx"."m2" AS "x2",
    'total by customers.segment' AS "kind",
    2 AS "level"
  FROM "ktx total by 1 result" AS "ktx"
  UNION ALL
  SELECT
    NULL AS "d1",
    NULL AS "d2",
    "ktx"."m1" AS "x1",
    "ktx"."m2" AS "x2",
    'total' AS "kind",
    3 AS "level"
  FROM "ktx total result" AS "ktx"
)
SELECT
  "ktx"."d1" AS "customers.segment",
  "ktx"."d2" AS "regions.name",
  "ktx"."kind" AS "row_kind",
  "ktx"."x1" AS "customers.customer_count",
  "ktx"."x2" AS "tickets.ticket_count"
FROM "ktx rows" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST, "ktx"."level" NULLS LAST;

-- over the result: rows beside rows
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d1",
    "orders"."status" AS "d2",
    sum("orders"."amount") AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1, 2
)
SELECT
  "ktx"."d1" AS "metric_time.month",
  "ktx"."d2" AS "orders.status",
  "ktx"."m1" AS "orders.revenue",
  CASE WHEN "ktx"."m1" IS NOT NULL THEN rank() OVER (PARTITION BY "ktx"."d2" ORDER BY "ktx"."m1" DESC NULLS LAST) END AS "place",
  lag("ktx"."m1") OVER (PARTITION BY "ktx"."d2" ORDER BY "ktx"."d1" NULLS LAST) AS "orders.revenue.previous",
  sum("ktx"."m1") OVER (PARTITION BY "ktx"."d2" ORDER BY "ktx"."d1" NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "orders.revenue.running",
  ("ktx"."m1" / NULLIF((sum("ktx"."m1") OVER (PARTITION BY "ktx"."d2") / NULLIF(count("ktx"."m1") OVER (PARTITION BY "ktx"."d2"), 0)), 0)) AS "orders.revenue.to_average"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST;

-- parameters: by default
WITH "ktx facts" AS (
  SELECT
    (case when "orders"."amount" -3 > 0 then 'large' else 'small' end) AS "d1",
    sum(CASE WHEN ("orders"."status" = 'paid') THEN ("orders"."amount" / NULLIF(3, 0)) END) AS "m1",
    sum("orders"."amount") AS "m2",
    count(*) AS "m3",
    count(CASE WHEN ("orders"."status" != 'none') THEN 1 END) AS "m4"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.size",
  "ktx"."m1" AS "orders.chosen",
  ("ktx"."m2" * 0.5 + "ktx"."m3") AS "orders.taxed",
  "ktx"."m4" AS "orders.other"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- parameters: as given
WITH "ktx facts" AS (
  SELECT
    (case when "orders"."amount" -(-2) > 0 then 'large' else 'small' end) AS "d1",
    sum(CASE WHEN ("orders"."status" = 'settled') THEN ("orders"."amount" / NULLIF((-2), 0)) END) AS "m1",
    sum("orders"."amount") AS "m2",
    count(*) AS "m3"
  FROM "orders" AS "orders"
  WHERE ("orders"."created_at" >= '2024-01-01')
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.size",
  "ktx"."m1" AS "orders.chosen",
  ("ktx"."m2" * (-0.25) + "ktx"."m3") AS "orders.taxed",
  "ktx"."m3" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- parameters: odd text as given
WITH "ktx facts" AS (
  SELECT count(CASE WHEN ("orders"."status" != 'it''s a \ " ] -- '' OR 1=1') THEN 1 END) AS "m1"
  FROM "orders" AS "orders"
)
SELECT "ktx"."m1" AS "orders.other"
FROM "ktx facts" AS "ktx";

-- second in UTC
SELECT date_trunc('second', ("at") AT TIME ZONE 'UTC');

-- minute in UTC
SELECT date_trunc('minute', ("at") AT TIME ZONE 'UTC');

-- hour in UTC
SELECT date_trunc('hour', ("at") AT TIME ZONE 'UTC');

-- day in UTC
SELECT CAST(("at") AT TIME ZONE 'UTC' AS DATE);

-- week in UTC
SELECT CAST(date_trunc('week', ("at") AT TIME ZONE 'UTC' + INTERVAL '1 day') - INTERVAL '1 day' AS DATE);

-- month in UTC
SELECT CAST(date_trunc('month', ("at") AT TIME ZONE 'UTC') AS DATE);

-- quarter in UTC
SELECT CAST(date_trunc('quarter', ("at") AT TIME ZONE 'UTC') AS DATE);

-- year in UTC
SELECT CAST(date_trunc('year', ("at") AT TIME ZONE 'UTC') AS DATE);

-- second in Europe/Paris
SELECT date_trunc('second', ("at") AT TIME ZONE 'Europe/Paris');

-- minute in Europe/Paris
SELECT date_trunc('minute', ("at") AT TIME ZONE 'Europe/Paris');

-- hour in Europe/Paris
SELECT date_trunc('hour', ("at") AT TIME ZONE 'Europe/Paris');

-- day in Europe/Paris
SELECT CAST(("at") AT TIME ZONE 'Europe/Paris' AS DATE);

-- week in Europe/Paris
SELECT CAST(date_trunc('week', ("at") AT TIME ZONE 'Europe/Paris' + INTERVAL '1 day') - INTERVAL '1 day' AS DATE);

-- month in Europe/Paris
SELECT CAST(date_trunc('month', ("at") AT TIME ZONE 'Europe/Paris') AS DATE);

-- quarter in Europe/Paris
SELECT CAST(date_trunc('quarter', ("at") AT TIME ZONE 'Europe/Paris') AS DATE);

-- year in Europe/Paris
SELECT CAST(date_trunc('year', ("at") AT TIME ZONE 'Europe/Paris') AS DATE);

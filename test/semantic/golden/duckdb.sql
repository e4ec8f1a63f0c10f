-- metrics: several kinds
SELECT
  sum("orders"."amount") AS "orders.revenue",
  count(*) AS "orders.order_count",
  count(DISTINCT "orders"."customer_id") AS "orders.customers_seen",
  max("orders"."amount") AS "orders.largest"
FROM "orders";

-- metrics: of filtered rows
SELECT
  sum(CASE WHEN ("orders"."status" = 'paid') THEN "orders"."amount" END) AS "orders.paid_revenue",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders";

-- metrics: mean
SELECT
  "orders"."status" AS "orders.status",
  avg("orders"."amount") AS "orders.average"
FROM "orders"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- metrics: median
SELECT
  "orders"."status" AS "orders.status",
  quantile_cont(CAST("orders"."amount" AS DOUBLE), 0.5) AS "orders.middle"
FROM "orders"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- metrics: percentile
SELECT quantile_cont(CAST("orders"."amount" AS DOUBLE), 0.9) AS "percentile(orders.amount, 0.9)"
FROM "orders";

-- metrics: discrete_percentile
SELECT
  "orders"."status" AS "orders.status",
  quantile_disc("orders"."amount", 0.9) AS "percentile_disc(orders.amount, 0.9)"
FROM "orders"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- metrics: difference
SELECT
  "orders"."status" AS "orders.status",
  (sum("orders"."amount") - sum("orders".cost)) AS "orders.profit"
FROM "orders"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- metrics: quotient of differences
SELECT
  "orders"."status" AS "orders.status",
  ((sum("orders"."amount") - sum("orders".cost)) / NULLIF(sum("orders"."amount"), 0)) AS "orders.margin"
FROM "orders"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- metrics: ratio
SELECT
  "orders"."status" AS "orders.status",
  (sum("orders"."amount") / NULLIF(count(*), 0)) AS "orders.aov"
FROM "orders"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- metrics: filtered by another dataset
SELECT sum(CASE WHEN ("orders.buyer"."segment" = 'ent') THEN "orders"."amount" END) AS "orders.enterprise_revenue"
FROM "orders"
LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id");

-- metrics: ad hoc
SELECT
  (max("orders"."amount") - min("orders"."amount")) AS "spread",
  ((max("orders"."amount") - min("orders"."amount")) * 2) AS "doubled"
FROM "orders";

-- metrics: of a query
SELECT
  "large_orders.customers"."segment" AS "customers.segment",
  sum("large_orders"."amount") AS "large_orders.large_revenue"
FROM (
SELECT id, customer_id, amount FROM orders WHERE amount > 3
) AS "large_orders"
LEFT JOIN "customers" AS "large_orders.customers" ON ("large_orders"."customer_id" = "large_orders.customers"."id")
GROUP BY 1
ORDER BY "customers.segment" NULLS LAST;

-- metrics: of nobody
SELECT
  sum("orders"."amount") AS "orders.revenue",
  count(*) AS "orders.order_count"
FROM "orders"
WHERE ("orders"."status" = 'none');

-- dimensions: own field
SELECT
  "orders"."status" AS "orders.status",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- dimensions: expression with a division
SELECT
  ("orders"."amount" / NULLIF("orders".quantity, 0)) AS "orders.unit_price",
  count(*) AS "orders.order_count"
FROM "orders"
GROUP BY 1
ORDER BY "orders.unit_price" NULLS LAST;

-- dimensions: one hop by its role
SELECT
  "orders.buyer"."segment" AS "orders.buyer.segment",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
GROUP BY 1
ORDER BY "orders.buyer.segment" NULLS LAST;

-- dimensions: two hops
SELECT
  "orders.recipient.regions"."name" AS "orders.recipient.regions.name",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
LEFT JOIN "customers" AS "orders.recipient" ON ("orders"."ship_customer_id" = "orders.recipient"."id")
LEFT JOIN "regions" AS "orders.recipient.regions" ON ("orders.recipient"."region_id" = "orders.recipient.regions"."id")
GROUP BY 1
ORDER BY "orders.recipient.regions.name" NULLS LAST;

-- dimensions: two roles
SELECT
  "orders.buyer"."segment" AS "buyer.segment",
  "orders.recipient"."segment" AS "recipient.segment",
  count(*) AS "orders.order_count"
FROM "orders"
LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
LEFT JOIN "customers" AS "orders.recipient" ON ("orders"."ship_customer_id" = "orders.recipient"."id")
GROUP BY 1, 2
ORDER BY "buyer.segment" NULLS LAST, "recipient.segment" NULLS LAST;

-- dimensions: one to one
SELECT
  "customers.profiles"."score" AS "profiles.score",
  count(*) AS "customers.customer_count"
FROM "customers"
LEFT JOIN "profiles" AS "customers.profiles" ON ("customers.profiles"."customer_id" = "customers"."id")
GROUP BY 1
ORDER BY "profiles.score" NULLS LAST;

-- dimensions: itself
SELECT
  "employees.manager"."name" AS "employees.manager.name",
  count(*) AS "employees.headcount",
  sum("employees".salary) AS "employees.payroll"
FROM "employees"
LEFT JOIN "employees" AS "employees.manager" ON ("employees"."manager_id" = "employees.manager"."id")
GROUP BY 1
ORDER BY "employees.manager.name" NULLS LAST;

-- dimensions: what held at the time
SELECT
  "orders.tiers"."tier" AS "tiers.tier",
  sum("orders"."amount") AS "orders.revenue",
  count(*) AS "orders.order_count"
FROM "orders"
LEFT JOIN "tiers" AS "orders.tiers" ON ("orders"."customer_id" = "orders.tiers"."customer_id" AND ("orders"."created_at" IS NOT NULL) AND ("orders.tiers"."since" IS NULL OR CAST("orders"."created_at" AS DATE) >= "orders.tiers"."since") AND ("orders.tiers"."until" IS NULL OR CAST("orders"."created_at" AS DATE) < "orders.tiers"."until"))
GROUP BY 1
ORDER BY "tiers.tier" NULLS LAST;

-- dimensions: without metrics
SELECT
  "customers"."segment" AS "customers.segment",
  "customers.regions"."name" AS "regions.name"
FROM "customers"
LEFT JOIN "regions" AS "customers.regions" ON ("customers"."region_id" = "customers.regions"."id")
GROUP BY 1, 2
ORDER BY "customers.segment" NULLS LAST, "regions.name" NULLS LAST;

-- dimensions: empty members
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "buyer.segment",
    count(*) AS "orders.order_count",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1
),
"ktx members 1" AS (
  SELECT DISTINCT "orders.buyer"."segment" AS "buyer.segment"
  FROM "customers" AS "orders.buyer"
),
"ktx result" AS (
  SELECT
    "ktx all"."buyer.segment" AS "buyer.segment",
    COALESCE(max("ktx all"."orders.order_count"), 0) AS "orders.order_count",
    max("ktx all"."orders.revenue") AS "orders.revenue"
  FROM (
    SELECT
      "ktx facts"."buyer.segment" AS "buyer.segment",
      "ktx facts"."orders.order_count" AS "orders.order_count",
      "ktx facts"."orders.revenue" AS "orders.revenue"
    FROM "ktx facts"
    UNION ALL
    SELECT
      "ktx members 1"."buyer.segment" AS "buyer.segment",
      NULL AS "orders.order_count",
      NULL AS "orders.revenue"
    FROM "ktx members 1"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."buyer.segment" AS "buyer.segment",
  "ktx"."orders.order_count" AS "orders.order_count",
  ("ktx"."orders.revenue" / NULLIF("ktx"."orders.order_count", 0)) AS "orders.aov"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."buyer.segment" NULLS LAST;

-- dimensions: empty combinations
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "buyer.segment",
    "orders"."status" AS "orders.status",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1, 2
),
"ktx members 1" AS (
  SELECT DISTINCT "orders.buyer"."segment" AS "buyer.segment"
  FROM "customers" AS "orders.buyer"
),
"ktx members 2" AS (
  SELECT DISTINCT "ktx facts"."orders.status" AS "orders.status"
  FROM "ktx facts"
),
"ktx result" AS (
  SELECT
    "ktx all"."buyer.segment" AS "buyer.segment",
    "ktx all"."orders.status" AS "orders.status",
    max("ktx all"."orders.revenue") AS "orders.revenue"
  FROM (
    SELECT
      "ktx facts"."buyer.segment" AS "buyer.segment",
      "ktx facts"."orders.status" AS "orders.status",
      "ktx facts"."orders.revenue" AS "orders.revenue"
    FROM "ktx facts"
    UNION ALL
    SELECT
      "ktx members 1"."buyer.segment" AS "buyer.segment",
      "ktx members 2"."orders.status" AS "orders.status",
      NULL AS "orders.revenue"
    FROM "ktx members 1"
    CROSS JOIN "ktx members 2"
  ) AS "ktx all"
  GROUP BY 1, 2
)
SELECT
  "ktx"."buyer.segment" AS "buyer.segment",
  "ktx"."orders.status" AS "orders.status",
  "ktx"."orders.revenue" AS "orders.revenue"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."buyer.segment" NULLS LAST, "ktx"."orders.status" NULLS LAST;

-- filters: text in SQL
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE ("orders"."status" = 'paid' or "orders"."amount" > 5);

-- filters: odd text
SELECT count(*) AS "customers.customer_count"
FROM "customers"
WHERE (NOT ("customers"."segment" IN ('it''s a \ " ]')));

-- filters: list with NULL
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE ("orders"."status" IN ('paid') OR "orders"."status" IS NULL);

-- filters: not among
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE (NOT ("orders"."status" IN ('paid', 'open')));

-- filters: between
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE ("orders"."amount" BETWEEN 3 AND 7);

-- filters: null
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE ("orders"."amount" IS NULL);

-- filters: contains
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE (contains(CAST("orders"."status" AS TEXT), 'ai'));

-- filters: contains in another case
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE (contains(CAST("orders"."status" AS TEXT), 'AI'));

-- filters: begins and ends
SELECT count(*) AS "orders.order_count"
FROM "orders"
WHERE (starts_with(CAST("orders"."status" AS TEXT), 'set')) AND (ends_with(CAST("orders"."status" AS TEXT), 'led'));

-- filters: on a joined dataset
SELECT sum("orders"."amount") AS "orders.revenue"
FROM "orders"
LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
WHERE ("orders.buyer"."segment" = 'ent');

-- filters: segment
SELECT sum("orders"."amount") AS "orders.revenue"
FROM "orders"
WHERE ("orders"."status" = 'paid' or "orders"."status" = 'settled');

-- filters: having
SELECT
  "orders"."status" AS "orders.status",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
GROUP BY 1
HAVING (sum("orders"."amount") > 3) AND (count(*) >= 1)
ORDER BY "orders.status" NULLS LAST;

-- times: second
SELECT
  date_trunc('second', CAST("orders"."created_at" AS TIMESTAMP)) AS "orders.created_at.second",
  count(*) AS "orders.order_count"
FROM "orders"
GROUP BY 1
ORDER BY "orders.created_at.second" NULLS LAST;

-- times: hour
SELECT
  date_trunc('hour', CAST("orders"."created_at" AS TIMESTAMP)) AS "orders.created_at.hour",
  count(*) AS "orders.order_count"
FROM "orders"
GROUP BY 1
ORDER BY "orders.created_at.hour" NULLS LAST;

-- times: day of metric_time
SELECT
  CAST("orders"."created_at" AS DATE) AS "metric_time.day",
  count(*) AS "orders.order_count"
FROM "orders"
GROUP BY 1
ORDER BY "metric_time.day" NULLS LAST;

-- times: weeks from Monday
SELECT
  CAST(date_trunc('week', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "orders.created_at.week",
  count(*) AS "orders.order_count"
FROM "orders"
GROUP BY 1
ORDER BY "orders.created_at.week" NULLS LAST;

-- times: weeks from Sunday
SELECT
  CAST(date_trunc('week', CAST("orders"."created_at" AS TIMESTAMP) + INTERVAL '1 day') - INTERVAL '1 day' AS DATE) AS "orders.created_at.week",
  count(*) AS "orders.order_count"
FROM "orders"
GROUP BY 1
ORDER BY "orders.created_at.week" NULLS LAST;

-- times: weeks of dates
SELECT
  CAST(date_trunc('week', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "orders.shipped_on.week",
  count(*) AS "orders.order_count"
FROM "orders"
GROUP BY 1
ORDER BY "orders.shipped_on.week" NULLS LAST;

-- times: month
SELECT
  CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "orders.created_at.month",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
GROUP BY 1
ORDER BY "orders.created_at.month" NULLS LAST;

-- times: quarter
SELECT
  CAST(date_trunc('quarter', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "orders.shipped_on.quarter",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
GROUP BY 1
ORDER BY "orders.shipped_on.quarter" NULLS LAST;

-- times: year
SELECT
  CAST(date_trunc('year', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "orders.shipped_on.year",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
GROUP BY 1
ORDER BY "orders.shipped_on.year" NULLS LAST;

-- order: by a metric
SELECT
  "orders"."status" AS "orders.status",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
GROUP BY 1
ORDER BY "orders.revenue" DESC NULLS LAST, "orders.status" NULLS LAST
LIMIT 3;

-- order: by one that is not shown
SELECT
  "orders"."status" AS "orders.status",
  sum("orders"."amount") AS "orders.revenue"
FROM "orders"
GROUP BY 1
ORDER BY count(*) DESC NULLS LAST, "orders.status" NULLS LAST;

-- order: limit alone
SELECT sum("orders"."amount") AS "orders.revenue"
FROM "orders"
LIMIT 1;

-- facts: two by a shared dimension
WITH "ktx facts 1" AS (
  SELECT
    "customers.regions"."name" AS "regions.name",
    count(*) AS "customers.customer_count"
  FROM "customers"
  LEFT JOIN "regions" AS "customers.regions" ON ("customers"."region_id" = "customers.regions"."id")
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers.regions"."name" AS "regions.name",
    count(*) AS "tickets.ticket_count"
  FROM "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  LEFT JOIN "regions" AS "tickets.customers.regions" ON ("tickets.customers"."region_id" = "tickets.customers.regions"."id")
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."regions.name" AS "regions.name",
    COALESCE(max("ktx all"."customers.customer_count"), 0) AS "customers.customer_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count"
  FROM (
    SELECT
      "ktx facts 1"."regions.name" AS "regions.name",
      "ktx facts 1"."customers.customer_count" AS "customers.customer_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."regions.name" AS "regions.name",
      NULL AS "customers.customer_count",
      "ktx facts 2"."tickets.ticket_count" AS "tickets.ticket_count"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."regions.name" AS "regions.name",
  "ktx"."customers.customer_count" AS "customers.customer_count",
  "ktx"."tickets.ticket_count" AS "tickets.ticket_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."regions.name" NULLS LAST;

-- facts: two by month
WITH "ktx facts 1" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "metric_time.month",
    count(*) AS "orders.order_count"
  FROM "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CAST(date_trunc('month', CAST("tickets"."opened_on" AS TIMESTAMP)) AS DATE) AS "metric_time.month",
    count(*) AS "tickets.ticket_count",
    max("tickets"."priority") AS "tickets.last_priority"
  FROM "tickets"
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."metric_time.month" AS "metric_time.month",
    COALESCE(max("ktx all"."orders.order_count"), 0) AS "orders.order_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count",
    max("ktx all"."tickets.last_priority") AS "tickets.last_priority"
  FROM (
    SELECT
      "ktx facts 1"."metric_time.month" AS "metric_time.month",
      "ktx facts 1"."orders.order_count" AS "orders.order_count",
      NULL AS "tickets.ticket_count",
      NULL AS "tickets.last_priority"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."metric_time.month" AS "metric_time.month",
      NULL AS "orders.order_count",
      "ktx facts 2"."tickets.ticket_count" AS "tickets.ticket_count",
      "ktx facts 2"."tickets.last_priority" AS "tickets.last_priority"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."metric_time.month" AS "metric_time.month",
  "ktx"."orders.order_count" AS "orders.order_count",
  "ktx"."tickets.ticket_count" AS "tickets.ticket_count",
  "ktx"."tickets.last_priority" AS "tickets.last_priority"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."metric_time.month" NULLS LAST;

-- facts: arithmetic across
WITH "ktx facts 1" AS (
  SELECT
    "tickets.customers"."segment" AS "customers.segment",
    count(*) AS "tickets.ticket_count"
  FROM "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "customers"."segment" AS "customers.segment",
    count(*) AS "customers.customer_count"
  FROM "customers"
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."customers.segment" AS "customers.segment",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count",
    COALESCE(max("ktx all"."customers.customer_count"), 0) AS "customers.customer_count"
  FROM (
    SELECT
      "ktx facts 1"."customers.segment" AS "customers.segment",
      "ktx facts 1"."tickets.ticket_count" AS "tickets.ticket_count",
      NULL AS "customers.customer_count"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."customers.segment" AS "customers.segment",
      NULL AS "tickets.ticket_count",
      "ktx facts 2"."customers.customer_count" AS "customers.customer_count"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."customers.segment" AS "customers.segment",
  ("ktx"."tickets.ticket_count" / NULLIF("ktx"."customers.customer_count", 0)) AS "rate"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."customers.segment" NULLS LAST;

-- facts: a condition of one
WITH "ktx facts 1" AS (
  SELECT
    "customers"."segment" AS "customers.segment",
    count(*) AS "customers.customer_count"
  FROM "customers"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "customers.segment",
    count(*) AS "tickets.ticket_count"
  FROM "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  WHERE ("tickets"."priority" = 'high')
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."customers.segment" AS "customers.segment",
    COALESCE(max("ktx all"."customers.customer_count"), 0) AS "customers.customer_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count"
  FROM (
    SELECT
      "ktx facts 1"."customers.segment" AS "customers.segment",
      "ktx facts 1"."customers.customer_count" AS "customers.customer_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."customers.segment" AS "customers.segment",
      NULL AS "customers.customer_count",
      "ktx facts 2"."tickets.ticket_count" AS "tickets.ticket_count"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."customers.segment" AS "customers.segment",
  "ktx"."customers.customer_count" AS "customers.customer_count",
  "ktx"."tickets.ticket_count" AS "tickets.ticket_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."customers.segment" NULLS LAST;

-- facts: empty members of two
WITH "ktx facts 1" AS (
  SELECT
    "customers"."segment" AS "customers.segment",
    count(*) AS "customers.customer_count"
  FROM "customers"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "customers.segment",
    count(*) AS "tickets.ticket_count"
  FROM "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  GROUP BY 1
),
"ktx members 1" AS (
  SELECT DISTINCT "tickets.customers"."segment" AS "customers.segment"
  FROM "customers" AS "tickets.customers"
),
"ktx result" AS (
  SELECT
    "ktx all"."customers.segment" AS "customers.segment",
    COALESCE(max("ktx all"."customers.customer_count"), 0) AS "customers.customer_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count"
  FROM (
    SELECT
      "ktx facts 1"."customers.segment" AS "customers.segment",
      "ktx facts 1"."customers.customer_count" AS "customers.customer_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."customers.segment" AS "customers.segment",
      NULL AS "customers.customer_count",
      "ktx facts 2"."tickets.ticket_count" AS "tickets.ticket_count"
    FROM "ktx facts 2"
    UNION ALL
    SELECT
      "ktx members 1"."customers.segment" AS "customers.segment",
      NULL AS "customers.customer_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx members 1"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."customers.segment" AS "customers.segment",
  "ktx"."customers.customer_count" AS "customers.customer_count",
  "ktx"."tickets.ticket_count" AS "tickets.ticket_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."customers.segment" NULLS LAST;

-- many: a condition
SELECT
  "customers"."segment" AS "customers.segment",
  count(*) AS "customers.customer_count"
FROM "customers"
WHERE ("customers"."id" IN (SELECT "customers.tickets"."customer_id" FROM "tickets" AS "customers.tickets" WHERE ("customers.tickets"."priority" = 'high')))
GROUP BY 1
ORDER BY "customers.segment" NULLS LAST;

-- many: a filter of the metric
SELECT
  count("ktx rows"."v1") AS "customers.urgent_count",
  count(*) AS "customers.customer_count"
FROM (
  SELECT CASE WHEN ("customers"."id" IN (SELECT "customers.tickets"."customer_id" FROM "tickets" AS "customers.tickets" WHERE ("customers.tickets"."priority" = 'high'))) THEN 1 END AS "v1"
  FROM "customers"
) AS "ktx rows";

-- many: a dimension
SELECT
  "ktx rows"."tickets.priority" AS "tickets.priority",
  count(*) AS "customers.customer_count"
FROM (
  SELECT DISTINCT
    "customers.tickets"."priority" AS "tickets.priority",
    "customers"."id" AS "k1"
  FROM "customers"
  JOIN "tickets" AS "customers.tickets" ON ("customers.tickets"."customer_id" = "customers"."id")
) AS "ktx rows"
GROUP BY 1
ORDER BY "tickets.priority" NULLS LAST;

-- many: a bridge
SELECT
  "ktx rows"."tags.label" AS "tags.label",
  sum("ktx rows"."v1") AS "orders.revenue",
  count(*) AS "orders.order_count"
FROM (
  SELECT DISTINCT
    "orders.tags"."label" AS "tags.label",
    "orders"."id" AS "k1",
    "orders"."amount" AS "v1"
  FROM "orders"
  JOIN "order_tags" AS "orders.tags via" ON ("orders.tags via"."order_id" = "orders"."id")
  LEFT JOIN "tags" AS "orders.tags" ON ("orders.tags via"."tag_id" = "orders.tags"."id")
) AS "ktx rows"
GROUP BY 1
ORDER BY "tags.label" NULLS LAST;

-- many: a condition over a bridge
SELECT sum("orders"."amount") AS "orders.revenue"
FROM "orders"
WHERE ("orders"."id" IN (SELECT "orders.tags via"."order_id" FROM "order_tags" AS "orders.tags via" LEFT JOIN "tags" AS "orders.tags" ON ("orders.tags via"."tag_id" = "orders.tags"."id") WHERE ("orders.tags"."label" = 'rush')));

-- running: balance
SELECT
  "ktx rows"."metric_time.month" AS "metric_time.month",
  sum(CASE WHEN ("ktx rows"."o" = 1) AND ("ktx rows"."r" = 1) THEN "ktx rows"."v1" END) AS "orders.latest"
FROM (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "metric_time.month",
    "orders"."amount" AS "v1",
    CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END AS "o",
    rank() OVER (PARTITION BY CASE WHEN ("orders"."created_at" IS NOT NULL) THEN 1 END, "orders"."customer_id", CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) ORDER BY "orders"."created_at" DESC) AS "r"
  FROM "orders"
) AS "ktx rows"
GROUP BY 1
ORDER BY "metric_time.month" NULLS LAST;

-- running: average of each
SELECT
  "ktx inner"."orders.status" AS "orders.status",
  avg(CASE WHEN ("ktx inner"."per" IS NOT NULL) THEN "ktx inner"."orders.revenue" END) AS "orders.per_buyer"
FROM (
  SELECT
    "orders"."status" AS "orders.status",
    "orders"."customer_id" AS "per",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  GROUP BY 1, 2
) AS "ktx inner"
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- running: growth
WITH "ktx facts 1" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "metric_time.month",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CAST(("ktx facts 1"."metric_time.month" + INTERVAL '1 month') AS DATE) AS "metric_time.month",
    "ktx facts 1"."orders.revenue" AS "orders.revenue before"
  FROM "ktx facts 1"
),
"ktx result" AS (
  SELECT
    "ktx all"."metric_time.month" AS "metric_time.month",
    max("ktx all"."orders.revenue") AS "orders.revenue",
    max("ktx all"."orders.revenue before") AS "orders.revenue before"
  FROM (
    SELECT
      "ktx facts 1"."metric_time.month" AS "metric_time.month",
      "ktx facts 1"."orders.revenue" AS "orders.revenue",
      NULL AS "orders.revenue before"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."metric_time.month" AS "metric_time.month",
      NULL AS "orders.revenue",
      "ktx facts 2"."orders.revenue before" AS "orders.revenue before"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."metric_time.month" AS "metric_time.month",
  "ktx"."orders.revenue" AS "orders.revenue",
  (COALESCE("ktx"."orders.revenue", 0) - COALESCE("ktx"."orders.revenue before", 0)) AS "orders.growth"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."metric_time.month" NULLS LAST;

-- running: total
WITH "ktx parts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "month",
    sum("orders"."amount") AS "orders.revenue so far"
  FROM "orders"
  GROUP BY 1
),
"ktx periods" AS (
  SELECT DISTINCT "ktx parts"."month" AS "metric_time.month"
  FROM "ktx parts"
),
"ktx facts" AS (
  SELECT
    "ktx periods"."metric_time.month" AS "metric_time.month",
    sum("ktx parts"."orders.revenue so far") AS "orders.revenue so far"
  FROM "ktx periods"
  JOIN "ktx parts" ON (("ktx parts"."month" <= "ktx periods"."metric_time.month"))
  GROUP BY 1
)
SELECT
  "ktx"."metric_time.month" AS "metric_time.month",
  "ktx"."orders.revenue so far" AS "orders.running"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."metric_time.month" NULLS LAST;

-- running: to date
WITH "ktx parts" AS (
  SELECT
    CAST("orders"."created_at" AS DATE) AS "day",
    CAST(date_trunc('year', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "year",
    sum("orders"."amount") AS "orders.revenue so far"
  FROM "orders"
  GROUP BY 1, 2
),
"ktx periods" AS (
  SELECT DISTINCT "ktx parts"."day" AS "metric_time.day"
  FROM "ktx parts"
),
"ktx facts" AS (
  SELECT
    "ktx periods"."metric_time.day" AS "metric_time.day",
    sum("ktx parts"."orders.revenue so far") AS "orders.revenue so far"
  FROM "ktx periods"
  JOIN "ktx parts" ON (("ktx parts"."day" <= "ktx periods"."metric_time.day") AND ("ktx parts"."year" = CAST(date_trunc('year', CAST("ktx periods"."metric_time.day" AS TIMESTAMP)) AS DATE)))
  GROUP BY 1
)
SELECT
  "ktx"."metric_time.day" AS "metric_time.day",
  "ktx"."orders.revenue so far" AS "orders.year_to_date"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."metric_time.day" NULLS LAST;

-- running: followed by itself
SELECT
  "orders"."status" AS "orders.status",
  count("ktx conversions"."v") AS "orders.bought_again"
FROM "orders"
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
      FROM "orders"
    ) AS "ktx base"
    JOIN (
      SELECT
        "orders"."id" AS "k1",
        "orders"."customer_id" AS "e1",
        "orders"."created_at" AS "t",
        1 AS "v"
      FROM "orders"
    ) AS "ktx next" ON (("ktx base"."e1" = "ktx next"."e1") AND ("ktx base"."t" <= "ktx next"."t") AND (date_trunc('second', CAST("ktx base"."t" AS TIMESTAMP)) > (date_trunc('second', CAST("ktx next"."t" AS TIMESTAMP)) - INTERVAL '30 day')) AND (NOT (("ktx base"."k1" = "ktx next"."k1"))))
  ) AS "ktx rows"
  WHERE ("ktx rows"."r" = 1)
) AS "ktx conversions" ON (("orders"."id" = "ktx conversions"."k1"))
GROUP BY 1
ORDER BY "orders.status" NULLS LAST;

-- running: followed by another
WITH "ktx facts 1" AS (
  SELECT
    "orders.buyer"."segment" AS "buyer.segment",
    count("ktx conversions"."v") AS "orders.complained"
  FROM "orders"
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
        FROM "orders"
      ) AS "ktx base"
      JOIN (
        SELECT
          "tickets"."id" AS "k1",
          "tickets"."customer_id" AS "e1",
          "tickets"."opened_on" AS "t",
          1 AS "v"
        FROM "tickets"
      ) AS "ktx next" ON (("ktx base"."e1" = "ktx next"."e1") AND (CAST("ktx base"."t" AS DATE) <= CAST("ktx next"."t" AS DATE)) AND (CAST("ktx base"."t" AS DATE) > CAST((CAST("ktx next"."t" AS DATE) - INTERVAL '2 month') AS DATE)))
    ) AS "ktx rows"
    WHERE ("ktx rows"."r" = 1)
  ) AS "ktx conversions" ON (("orders"."id" = "ktx conversions"."k1"))
  WHERE ("orders"."amount" > 2)
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    "orders.buyer"."segment" AS "buyer.segment",
    count(*) AS "orders.order_count"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  WHERE ("orders"."amount" > 2)
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."buyer.segment" AS "buyer.segment",
    COALESCE(max("ktx all"."orders.complained"), 0) AS "orders.complained",
    COALESCE(max("ktx all"."orders.order_count"), 0) AS "orders.order_count"
  FROM (
    SELECT
      "ktx facts 1"."buyer.segment" AS "buyer.segment",
      "ktx facts 1"."orders.complained" AS "orders.complained",
      NULL AS "orders.order_count"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."buyer.segment" AS "buyer.segment",
      NULL AS "orders.complained",
      "ktx facts 2"."orders.order_count" AS "orders.order_count"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."buyer.segment" AS "buyer.segment",
  ("ktx"."orders.complained" / NULLIF("ktx"."orders.order_count", 0)) AS "orders.complained",
  "ktx"."orders.order_count" AS "orders.order_count"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."buyer.segment" NULLS LAST;

-- running: filled
WITH RECURSIVE "ktx periods seen" AS (
  SELECT CAST(date_trunc('quarter', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "orders.shipped_on.quarter"
  FROM "orders"
  GROUP BY 1
),
"ktx periods all" AS (
  SELECT min("ktx periods seen"."orders.shipped_on.quarter") AS "orders.shipped_on.quarter"
  FROM "ktx periods seen"
  UNION ALL
  SELECT CAST(("ktx periods all"."orders.shipped_on.quarter" + INTERVAL '3 month') AS DATE) AS "orders.shipped_on.quarter"
  FROM "ktx periods all"
  WHERE (CAST(("ktx periods all"."orders.shipped_on.quarter" + INTERVAL '3 month') AS DATE) <= (SELECT max("orders.shipped_on.quarter") FROM "ktx periods seen"))
),
"ktx periods" AS (
  SELECT "ktx periods all"."orders.shipped_on.quarter" AS "orders.shipped_on.quarter"
  FROM "ktx periods all"
  WHERE ("ktx periods all"."orders.shipped_on.quarter" IS NOT NULL)
),
"ktx facts" AS (
  SELECT
    CAST(date_trunc('quarter', CAST("orders"."shipped_on" AS TIMESTAMP)) AS DATE) AS "orders.shipped_on.quarter",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  GROUP BY 1
),
"ktx result" AS (
  SELECT
    "ktx all"."orders.shipped_on.quarter" AS "orders.shipped_on.quarter",
    max("ktx all"."orders.revenue") AS "orders.revenue"
  FROM (
    SELECT
      "ktx facts"."orders.shipped_on.quarter" AS "orders.shipped_on.quarter",
      "ktx facts"."orders.revenue" AS "orders.revenue"
    FROM "ktx facts"
    UNION ALL
    SELECT
      "ktx periods"."orders.shipped_on.quarter" AS "orders.shipped_on.quarter",
      NULL AS "orders.revenue"
    FROM "ktx periods"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."orders.shipped_on.quarter" AS "orders.shipped_on.quarter",
  "ktx"."orders.revenue" AS "orders.revenue"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."orders.shipped_on.quarter" NULLS LAST;

-- running: fiscal quarters filled
WITH RECURSIVE "ktx periods seen" AS (
  SELECT CAST((CAST(date_trunc('quarter', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "metric_time.fiscal_quarter"
  FROM "orders"
  GROUP BY 1
),
"ktx periods all" AS (
  SELECT min("ktx periods seen"."metric_time.fiscal_quarter") AS "metric_time.fiscal_quarter"
  FROM "ktx periods seen"
  UNION ALL
  SELECT CAST(("ktx periods all"."metric_time.fiscal_quarter" + INTERVAL '3 month') AS DATE) AS "metric_time.fiscal_quarter"
  FROM "ktx periods all"
  WHERE (CAST(("ktx periods all"."metric_time.fiscal_quarter" + INTERVAL '3 month') AS DATE) <= (SELECT max("metric_time.fiscal_quarter") FROM "ktx periods seen"))
),
"ktx periods" AS (
  SELECT "ktx periods all"."metric_time.fiscal_quarter" AS "metric_time.fiscal_quarter"
  FROM "ktx periods all"
  WHERE ("ktx periods all"."metric_time.fiscal_quarter" IS NOT NULL)
),
"ktx facts" AS (
  SELECT
    CAST((CAST(date_trunc('quarter', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "metric_time.fiscal_quarter",
    CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "metric_time.fiscal_year",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  GROUP BY 1, 2
),
"ktx all periods" AS (
  SELECT
    "ktx periods"."metric_time.fiscal_quarter" AS "metric_time.fiscal_quarter",
    CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("ktx periods"."metric_time.fiscal_quarter" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "metric_time.fiscal_year"
  FROM "ktx periods"
),
"ktx result" AS (
  SELECT
    "ktx all"."metric_time.fiscal_quarter" AS "metric_time.fiscal_quarter",
    "ktx all"."metric_time.fiscal_year" AS "metric_time.fiscal_year",
    max("ktx all"."orders.revenue") AS "orders.revenue"
  FROM (
    SELECT
      "ktx facts"."metric_time.fiscal_quarter" AS "metric_time.fiscal_quarter",
      "ktx facts"."metric_time.fiscal_year" AS "metric_time.fiscal_year",
      "ktx facts"."orders.revenue" AS "orders.revenue"
    FROM "ktx facts"
    UNION ALL
    SELECT
      "ktx all periods"."metric_time.fiscal_quarter" AS "metric_time.fiscal_quarter",
      "ktx all periods"."metric_time.fiscal_year" AS "metric_time.fiscal_year",
      NULL AS "orders.revenue"
    FROM "ktx all periods"
  ) AS "ktx all"
  GROUP BY 1, 2
)
SELECT
  "ktx"."metric_time.fiscal_quarter" AS "metric_time.fiscal_quarter",
  "ktx"."metric_time.fiscal_year" AS "metric_time.fiscal_year",
  "ktx"."orders.revenue" AS "orders.revenue"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."metric_time.fiscal_quarter" NULLS LAST, "ktx"."metric_time.fiscal_year" NULLS LAST;

-- running: fiscal year to date
WITH "ktx parts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "month",
    CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE) AS "fiscal_year",
    sum("orders"."amount") AS "orders.revenue so far"
  FROM "orders"
  GROUP BY 1, 2
),
"ktx periods" AS (
  SELECT DISTINCT "ktx parts"."month" AS "metric_time.month"
  FROM "ktx parts"
),
"ktx facts" AS (
  SELECT
    "ktx periods"."metric_time.month" AS "metric_time.month",
    sum("ktx parts"."orders.revenue so far") AS "orders.revenue so far"
  FROM "ktx periods"
  JOIN "ktx parts" ON (("ktx parts"."month" <= "ktx periods"."metric_time.month") AND ("ktx parts"."fiscal_year" = CAST((CAST(date_trunc('year', CAST(CAST((CAST(date_trunc('month', CAST("ktx periods"."metric_time.month" AS TIMESTAMP)) AS DATE) - INTERVAL '1 month') AS DATE) AS TIMESTAMP)) AS DATE) + INTERVAL '1 month') AS DATE)))
  GROUP BY 1
)
SELECT
  "ktx"."metric_time.month" AS "metric_time.month",
  "ktx"."orders.revenue so far" AS "orders.fiscal_to_date"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."metric_time.month" NULLS LAST;

-- conformed: a role of each fact
WITH "ktx facts 1" AS (
  SELECT
    "orders.buyer"."segment" AS "d1",
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d2",
    count(*) AS "orders.order_count"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1, 2
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "d1",
    CAST(date_trunc('month', CAST("tickets"."opened_on" AS TIMESTAMP)) AS DATE) AS "d2",
    count(*) AS "tickets.ticket_count"
  FROM "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  GROUP BY 1, 2
),
"ktx result" AS (
  SELECT
    "ktx all"."d1" AS "d1",
    "ktx all"."d2" AS "d2",
    COALESCE(max("ktx all"."orders.order_count"), 0) AS "orders.order_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count"
  FROM (
    SELECT
      "ktx facts 1"."d1" AS "d1",
      "ktx facts 1"."d2" AS "d2",
      "ktx facts 1"."orders.order_count" AS "orders.order_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."d1" AS "d1",
      "ktx facts 2"."d2" AS "d2",
      NULL AS "orders.order_count",
      "ktx facts 2"."tickets.ticket_count" AS "tickets.ticket_count"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1, 2
),
"ktx totals 1" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "d2",
    count(*) AS "orders.order_count in total"
  FROM "orders"
  GROUP BY 1
),
"ktx totals 2" AS (
  SELECT
    CAST(date_trunc('month', CAST("tickets"."opened_on" AS TIMESTAMP)) AS DATE) AS "d2",
    count(*) AS "tickets.ticket_count in total"
  FROM "tickets"
  GROUP BY 1
),
"ktx groups" AS (
  SELECT
    "ktx result"."d1" AS "d1",
    "ktx result"."d2" AS "d2",
    "ktx result"."orders.order_count" AS "orders.order_count",
    "ktx result"."tickets.ticket_count" AS "tickets.ticket_count",
    COALESCE("ktx totals 1"."orders.order_count in total", 0) AS "orders.order_count in total",
    COALESCE("ktx totals 2"."tickets.ticket_count in total", 0) AS "tickets.ticket_count in total"
  FROM "ktx result"
  LEFT JOIN "ktx totals 1" ON (("ktx result"."d2" = "ktx totals 1"."d2" OR ("ktx result"."d2" IS NULL AND "ktx totals 1"."d2" IS NULL)))
  LEFT JOIN "ktx totals 2" ON (("ktx result"."d2" = "ktx totals 2"."d2" OR ("ktx result"."d2" IS NULL AND "ktx totals 2"."d2" IS NULL)))
)
SELECT
  "ktx"."d1" AS "orders.buyer.segment = tickets.customers.segment",
  "ktx"."d2" AS "orders.created_at.month = tickets.opened_on.month",
  "ktx"."orders.order_count" AS "orders.order_count",
  ("ktx"."orders.order_count" / NULLIF("ktx"."orders.order_count in total", 0)) AS "orders.order_count.share",
  "ktx"."tickets.ticket_count" AS "tickets.ticket_count",
  ("ktx"."tickets.ticket_count" / NULLIF("ktx"."tickets.ticket_count in total", 0)) AS "tickets.ticket_count.share"
FROM "ktx groups" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST, "ktx"."d2" NULLS LAST;

-- over the result: shares of counts and ratios
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "orders.buyer.segment",
    "orders"."status" AS "orders.status",
    count(DISTINCT "orders"."customer_id") AS "orders.customers_seen",
    sum("orders"."amount") AS "orders.revenue",
    count(*) AS "orders.order_count"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1, 2
),
"ktx totals 1" AS (
  SELECT
    "orders.buyer"."segment" AS "orders.buyer.segment",
    count(DISTINCT "orders"."customer_id") AS "orders.customers_seen in total",
    sum("orders"."amount") AS "orders.revenue in total",
    count(*) AS "orders.order_count in total"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1
),
"ktx groups" AS (
  SELECT
    "ktx facts"."orders.buyer.segment" AS "orders.buyer.segment",
    "ktx facts"."orders.status" AS "orders.status",
    "ktx facts"."orders.customers_seen" AS "orders.customers_seen",
    "ktx facts"."orders.revenue" AS "orders.revenue",
    "ktx facts"."orders.order_count" AS "orders.order_count",
    COALESCE("ktx totals 1"."orders.customers_seen in total", 0) AS "orders.customers_seen in total",
    "ktx totals 1"."orders.revenue in total" AS "orders.revenue in total",
    COALESCE("ktx totals 1"."orders.order_count in total", 0) AS "orders.order_count in total"
  FROM "ktx facts"
  LEFT JOIN "ktx totals 1" ON (("ktx facts"."orders.buyer.segment" = "ktx totals 1"."orders.buyer.segment" OR ("ktx facts"."orders.buyer.segment" IS NULL AND "ktx totals 1"."orders.buyer.segment" IS NULL)))
)
SELECT
  "ktx"."orders.buyer.segment" AS "orders.buyer.segment",
  "ktx"."orders.status" AS "orders.status",
  "ktx"."orders.customers_seen" AS "orders.customers_seen",
  ("ktx"."orders.customers_seen" / NULLIF("ktx"."orders.customers_seen in total", 0)) AS "orders.customers_seen.share",
  ("ktx"."orders.revenue" / NULLIF("ktx"."orders.order_count", 0)) AS "orders.aov",
  ((COALESCE("ktx"."orders.revenue", 0) / NULLIF("ktx"."orders.order_count", 0)) / NULLIF((COALESCE("ktx"."orders.revenue in total", 0) / NULLIF("ktx"."orders.order_count in total", 0)), 0)) AS "orders.aov.share"
FROM "ktx groups" AS "ktx"
ORDER BY "ktx"."orders.buyer.segment" NULLS LAST, "ktx"."orders.status" NULLS LAST;

-- over the result: compared with the month before
WITH "ktx facts 1" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "metric_time.month",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  GROUP BY 1
),
"ktx facts 2" AS (
  SELECT
    CAST(("ktx facts 1"."metric_time.month" + INTERVAL '1 month') AS DATE) AS "metric_time.month",
    "ktx facts 1"."orders.revenue" AS "orders.revenue before"
  FROM "ktx facts 1"
),
"ktx result" AS (
  SELECT
    "ktx all"."metric_time.month" AS "metric_time.month",
    max("ktx all"."orders.revenue") AS "orders.revenue",
    max("ktx all"."orders.revenue before") AS "orders.revenue before"
  FROM (
    SELECT
      "ktx facts 1"."metric_time.month" AS "metric_time.month",
      "ktx facts 1"."orders.revenue" AS "orders.revenue",
      NULL AS "orders.revenue before"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."metric_time.month" AS "metric_time.month",
      NULL AS "orders.revenue",
      "ktx facts 2"."orders.revenue before" AS "orders.revenue before"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1
)
SELECT
  "ktx"."metric_time.month" AS "metric_time.month",
  "ktx"."orders.revenue" AS "orders.revenue",
  "ktx"."orders.revenue before" AS "orders.revenue.previous",
  (COALESCE("ktx"."orders.revenue", 0) - COALESCE("ktx"."orders.revenue before", 0)) AS "orders.revenue.difference",
  ((COALESCE("ktx"."orders.revenue", 0) - COALESCE("ktx"."orders.revenue before", 0)) / NULLIF(COALESCE("ktx"."orders.revenue before", 0), 0)) AS "orders.revenue.growth"
FROM "ktx result" AS "ktx"
ORDER BY "ktx"."metric_time.month" NULLS LAST;

-- over the result: top and others
WITH "ktx facts" AS (
  SELECT
    "orders.buyer"."segment" AS "orders.buyer.segment",
    "orders"."status" AS "orders.status",
    sum("orders"."amount") AS "orders.revenue",
    count(DISTINCT "orders"."customer_id") AS "orders.customers_seen",
    avg("orders"."amount") AS "orders.average"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  GROUP BY 1, 2
),
"ktx totals 1" AS (
  SELECT
    sum("orders"."amount") AS "orders.revenue in total",
    count(DISTINCT "orders"."customer_id") AS "orders.customers_seen in total",
    avg("orders"."amount") AS "orders.average in total"
  FROM "orders"
),
"ktx groups" AS (
  SELECT
    "ktx facts"."orders.buyer.segment" AS "orders.buyer.segment",
    "ktx facts"."orders.status" AS "orders.status",
    "ktx facts"."orders.revenue" AS "orders.revenue",
    "ktx facts"."orders.customers_seen" AS "orders.customers_seen",
    "ktx facts"."orders.average" AS "orders.average",
    "ktx totals 1"."orders.revenue in total" AS "orders.revenue in total",
    COALESCE("ktx totals 1"."orders.customers_seen in total", 0) AS "orders.customers_seen in total",
    "ktx totals 1"."orders.average in total" AS "orders.average in total"
  FROM "ktx facts"
  LEFT JOIN "ktx totals 1" ON (1 = 1)
),
"ktx ranked" AS (
  SELECT
    "ktx"."orders.buyer.segment" AS "orders.buyer.segment",
    "ktx"."orders.status" AS "orders.status",
    "ktx"."orders.revenue" AS "orders.revenue",
    (COALESCE("ktx"."orders.revenue", 0) / NULLIF(COALESCE("ktx"."orders.revenue in total", 0), 0)) AS "orders.revenue.share",
    "ktx"."orders.customers_seen" AS "orders.customers_seen",
    ("ktx"."orders.customers_seen" / NULLIF("ktx"."orders.customers_seen in total", 0)) AS "orders.customers_seen.share",
    "ktx"."orders.average" AS "orders.average",
    ("ktx"."orders.average" / NULLIF("ktx"."orders.average in total", 0)) AS "orders.average.share",
    CASE WHEN "ktx"."orders.revenue" IS NOT NULL THEN rank() OVER (PARTITION BY "ktx"."orders.buyer.segment" ORDER BY "ktx"."orders.revenue" DESC NULLS LAST) END AS "rank"
  FROM "ktx groups" AS "ktx"
),
"ktx others facts" AS (
  SELECT
    "orders.buyer"."segment" AS "orders.buyer.segment",
    sum("orders"."amount") AS "orders.revenue",
    count(DISTINCT "orders"."customer_id") AS "orders.customers_seen",
    avg("orders"."amount") AS "orders.average"
  FROM "orders"
  LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
  WHERE (NOT EXISTS (SELECT 1 FROM (
  SELECT
    "ktx"."orders.buyer.segment" AS "orders.buyer.segment",
    "ktx"."orders.status" AS "orders.status"
  FROM "ktx ranked" AS "ktx"
  WHERE ("ktx"."rank" <= 1)
) AS "ktx shown" WHERE (("orders.buyer"."segment" = "ktx shown"."orders.buyer.segment" OR ("orders.buyer"."segment" IS NULL AND "ktx shown"."orders.buyer.segment" IS NULL)) AND ("orders"."status" = "ktx shown"."orders.status" OR ("orders"."status" IS NULL AND "ktx shown"."orders.status" IS NULL))) AND (1 = 1)))
  GROUP BY 1
),
"ktx others totals 1" AS (
  SELECT
    sum("orders"."amount") AS "orders.revenue in total",
    count(DISTINCT "orders"."customer_id") AS "orders.customers_seen in total",
    avg("orders"."amount") AS "orders.average in total"
  FROM "orders"
),
"ktx others groups" AS (
  SELECT
    "ktx others facts"."orders.buyer.segment" AS "orders.buyer.segment",
    "ktx others facts"."orders.revenue" AS "orders.revenue",
    "ktx others facts"."orders.customers_seen" AS "orders.customers_seen",
    "ktx others facts"."orders.average" AS "orders.average",
    "ktx others totals 1"."orders.revenue in total" AS "orders.revenue in total",
    COALESCE("ktx others totals 1"."orders.customers_seen in total", 0) AS "orders.customers_seen in total",
    "ktx others totals 1"."orders.average in total" AS "orders.average in total"
  FROM "ktx others facts"
  LEFT JOIN "ktx others totals 1" ON (1 = 1)
),
"ktx rows" AS (
  SELECT
    "ktx"."orders.buyer.segment" AS "orders.buyer.segment",
    "ktx"."orders.status" AS "orders.status",
    "ktx"."orders.revenue" AS "orders.revenue",
    "ktx"."orders.revenue.share" AS "orders.revenue.share",
    "ktx"."orders.customers_seen" AS "orders.customers_seen",
    "ktx"."orders.customers_seen.share" AS "orders.customers_seen.share",
    "ktx"."orders.average" AS "orders.average",
    "ktx"."orders.average.share" AS "orders.average.share",
    "ktx"."rank" AS "rank",
    'group' AS "kind",
    0 AS "level"
  FROM "ktx ranked" AS "ktx"
  WHERE ("ktx"."rank" <= 1)
  UNION ALL
  SELECT
    "ktx"."orders.buyer.segment" AS "orders.buyer.segment",
    NULL AS "orders.status",
    "ktx"."orders.revenue" AS "orders.revenue",
    (COALESCE("ktx"."orders.revenue", 0) / NULLIF(COALESCE("ktx"."orders.revenue in total", 0), 0)) AS "orders.revenue.share",
    "ktx"."orders.customers_seen" AS "orders.customers_seen",
    ("ktx"."orders.customers_seen" / NULLIF("ktx"."orders.customers_seen in total", 0)) AS "orders.customers_seen.share",
    "ktx"."orders.average" AS "orders.average",
    ("ktx"."orders.average" / NULLIF("ktx"."orders.average in total", 0)) AS "orders.average.share",
    NULL AS "rank",
    'others' AS "kind",
    1 AS "level"
  FROM "ktx others groups" AS "ktx"
)
SELECT
  "ktx"."orders.buyer.segment" AS "orders.buyer.segment",
  "ktx"."orders.status" AS "orders.status",
  "ktx"."kind" AS "row_kind",
  "ktx"."orders.revenue" AS "orders.revenue",
  "ktx"."orders.revenue.share" AS "orders.revenue.share",
  "ktx"."orders.customers_seen" AS "orders.customers_seen",
  "ktx"."orders.customers_seen.share" AS "orders.customers_seen.share",
  "ktx"."orders.average" AS "orders.average",
  "ktx"."orders.average.share" AS "orders.average.share"
FROM "ktx rows" AS "ktx"
ORDER BY "ktx"."orders.buyer.segment" NULLS LAST, "ktx"."level" NULLS LAST, "ktx"."rank" NULLS LAST, "ktx"."orders.status" NULLS LAST;

-- over the result: totals of two facts
WITH "ktx facts 1" AS (
  SELECT
    "customers"."segment" AS "customers.segment",
    "customers.regions"."name" AS "regions.name",
    count(*) AS "customers.customer_count"
  FROM "customers"
  LEFT JOIN "regions" AS "customers.regions" ON ("customers"."region_id" = "customers.regions"."id")
  GROUP BY 1, 2
),
"ktx facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "customers.segment",
    "tickets.customers.regions"."name" AS "regions.name",
    count(*) AS "tickets.ticket_count"
  FROM "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  LEFT JOIN "regions" AS "tickets.customers.regions" ON ("tickets.customers"."region_id" = "tickets.customers.regions"."id")
  GROUP BY 1, 2
),
"ktx result" AS (
  SELECT
    "ktx all"."customers.segment" AS "customers.segment",
    "ktx all"."regions.name" AS "regions.name",
    COALESCE(max("ktx all"."customers.customer_count"), 0) AS "customers.customer_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count"
  FROM (
    SELECT
      "ktx facts 1"."customers.segment" AS "customers.segment",
      "ktx facts 1"."regions.name" AS "regions.name",
      "ktx facts 1"."customers.customer_count" AS "customers.customer_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx facts 1"
    UNION ALL
    SELECT
      "ktx facts 2"."customers.segment" AS "customers.segment",
      "ktx facts 2"."regions.name" AS "regions.name",
      NULL AS "customers.customer_count",
      "ktx facts 2"."tickets.ticket_count" AS "tickets.ticket_count"
    FROM "ktx facts 2"
  ) AS "ktx all"
  GROUP BY 1, 2
),
"ktx ranked" AS (
  SELECT
    "ktx"."customers.segment" AS "customers.segment",
    "ktx"."regions.name" AS "regions.name",
    "ktx"."customers.customer_count" AS "customers.customer_count",
    "ktx"."tickets.ticket_count" AS "tickets.ticket_count"
  FROM "ktx result" AS "ktx"
),
"ktx total by 1 facts 1" AS (
  SELECT
    "customers"."segment" AS "customers.segment",
    count(*) AS "customers.customer_count"
  FROM "customers"
  GROUP BY 1
),
"ktx total by 1 facts 2" AS (
  SELECT
    "tickets.customers"."segment" AS "customers.segment",
    count(*) AS "tickets.ticket_count"
  FROM "tickets"
  LEFT JOIN "customers" AS "tickets.customers" ON ("tickets"."customer_id" = "tickets.customers"."id")
  GROUP BY 1
),
"ktx total by 1 result" AS (
  SELECT
    "ktx all"."customers.segment" AS "customers.segment",
    COALESCE(max("ktx all"."customers.customer_count"), 0) AS "customers.customer_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count"
  FROM (
    SELECT
      "ktx total by 1 facts 1"."customers.segment" AS "customers.segment",
      "ktx total by 1 facts 1"."customers.customer_count" AS "customers.customer_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx total by 1 facts 1"
    UNION ALL
    SELECT
      "ktx total by 1 facts 2"."customers.segment" AS "customers.segment",
      NULL AS "customers.customer_count",
      "ktx total by 1 facts 2"."tickets.ticket_count" AS "tickets.ticket_count"
    FROM "ktx total by 1 facts 2"
  ) AS "ktx all"
  GROUP BY 1
),
"ktx total facts 1" AS (
  SELECT count(*) AS "customers.customer_count"
  FROM "customers"
),
"ktx total facts 2" AS (
  SELECT count(*) AS "tickets.ticket_count"
  FROM "tickets"
),
"ktx total result" AS (
  SELECT
    COALESCE(max("ktx all"."customers.customer_count"), 0) AS "customers.customer_count",
    COALESCE(max("ktx all"."tickets.ticket_count"), 0) AS "tickets.ticket_count"
  FROM (
    SELECT
      "ktx total facts 1"."customers.customer_count" AS "customers.customer_count",
      NULL AS "tickets.ticket_count"
    FROM "ktx total facts 1"
    UNION ALL
    SELECT
      NULL AS "customers.customer_count",
      "ktx total facts 2"."tickets.ticket_count" AS "tickets.ticket_count"
    FROM "ktx total facts 2"
  ) AS "ktx all"
),
"ktx rows" AS (
  SELECT
    "ktx"."customers.segment" AS "customers.segment",
    "ktx"."regions.name" AS "regions.name",
    "ktx"."customers.customer_count" AS "customers.customer_count",
    "ktx"."tickets.ticket_count" AS "tickets.ticket_count",
    'group' AS "kind",
    0 AS "level"
  FROM "ktx ranked" AS "ktx"
  UNION ALL
  SELECT
    "ktx"."customers.segment" AS "customers.segment",
    NULL AS "regions.name",
    "ktx"."customers.customer_count" AS "customers.customer_count",
    "ktx"."tickets.ticket_count" AS "tickets.ticket_count",
    'total by customers.segment' AS "kind",
    2 AS "level"
  FROM "ktx total by 1 result" AS "ktx"
  UNION ALL
  SELECT
    NULL AS "customers.segment",
    NULL AS "regions.name",
    "ktx"."customers.customer_count" AS "customers.customer_count",
    "ktx"."tickets.ticket_count" AS "tickets.ticket_count",
    'total' AS "kind",
    3 AS "level"
  FROM "ktx total result" AS "ktx"
)
SELECT
  "ktx"."customers.segment" AS "customers.segment",
  "ktx"."regions.name" AS "regions.name",
  "ktx"."kind" AS "row_kind",
  "ktx"."customers.customer_count" AS "customers.customer_count",
  "ktx"."tickets.ticket_count" AS "tickets.ticket_count"
FROM "ktx rows" AS "ktx"
ORDER BY "ktx"."customers.segment" NULLS LAST, "ktx"."regions.name" NULLS LAST, "ktx"."level" NULLS LAST;

-- over the result: rows beside rows
WITH "ktx facts" AS (
  SELECT
    CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "metric_time.month",
    "orders"."status" AS "orders.status",
    sum("orders"."amount") AS "orders.revenue"
  FROM "orders"
  GROUP BY 1, 2
)
SELECT
  "ktx"."metric_time.month" AS "metric_time.month",
  "ktx"."orders.status" AS "orders.status",
  "ktx"."orders.revenue" AS "orders.revenue",
  CASE WHEN "ktx"."orders.revenue" IS NOT NULL THEN rank() OVER (PARTITION BY "ktx"."orders.status" ORDER BY "ktx"."orders.revenue" DESC NULLS LAST) END AS "place",
  lag("ktx"."orders.revenue") OVER (PARTITION BY "ktx"."orders.status" ORDER BY "ktx"."metric_time.month" NULLS LAST) AS "orders.revenue.previous",
  sum("ktx"."orders.revenue") OVER (PARTITION BY "ktx"."orders.status" ORDER BY "ktx"."metric_time.month" NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "orders.revenue.running",
  ("ktx"."orders.revenue" / NULLIF((sum("ktx"."orders.revenue") OVER (PARTITION BY "ktx"."orders.status") / NULLIF(count("ktx"."orders.revenue") OVER (PARTITION BY "ktx"."orders.status"), 0)), 0)) AS "orders.revenue.to_average"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."metric_time.month" NULLS LAST, "ktx"."orders.status" NULLS LAST;

-- parameters: by default
SELECT
  (case when "orders"."amount" -3 > 0 then 'large' else 'small' end) AS "orders.size",
  sum(CASE WHEN ("orders"."status" = 'paid') THEN ("orders"."amount" / NULLIF(3, 0)) END) AS "orders.chosen",
  (sum("orders"."amount") * 0.5 + count(*)) AS "orders.taxed",
  count(CASE WHEN ("orders"."status" != 'none') THEN 1 END) AS "orders.other"
FROM "orders"
GROUP BY 1
ORDER BY "orders.size" NULLS LAST;

-- parameters: as given
SELECT
  (case when "orders"."amount" -(-2) > 0 then 'large' else 'small' end) AS "orders.size",
  sum(CASE WHEN ("orders"."status" = 'settled') THEN ("orders"."amount" / NULLIF((-2), 0)) END) AS "orders.chosen",
  (sum("orders"."amount") * (-0.25) + count(*)) AS "orders.taxed",
  count(*) AS "orders.order_count"
FROM "orders"
WHERE ("orders"."created_at" >= '2024-01-01')
GROUP BY 1
ORDER BY "orders.size" NULLS LAST;

-- parameters: odd text as given
SELECT count(CASE WHEN ("orders"."status" != 'it''s a \ " ] -- '' OR 1=1') THEN 1 END) AS "orders.other"
FROM "orders";

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

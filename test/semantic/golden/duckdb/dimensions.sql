-- own field
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

-- expression with a division
WITH "ktx facts" AS (
  SELECT
    ("orders"."amount" / "orders".quantity) AS "d1",
    count(*) AS "m1"
  FROM "orders" AS "orders"
  GROUP BY 1
)
SELECT
  "ktx"."d1" AS "orders.unit_price",
  "ktx"."m1" AS "orders.order_count"
FROM "ktx facts" AS "ktx"
ORDER BY "ktx"."d1" NULLS LAST;

-- one hop by its role
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

-- two hops
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

-- two roles
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

-- one to one
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

-- itself
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

-- without metrics
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

-- empty members
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

-- empty combinations
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

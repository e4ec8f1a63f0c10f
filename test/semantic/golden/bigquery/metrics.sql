-- several kinds
WITH `ktx facts` AS (
  SELECT
    sum(`orders`.`amount`) AS `m1`,
    count(*) AS `m2`,
    count(DISTINCT `orders`.`customer_id`) AS `m3`,
    max(`orders`.`amount`) AS `m4`
  FROM `orders` AS `orders`
)
SELECT
  `ktx`.`m1` AS `orders_revenue_1`,
  `ktx`.`m2` AS `orders_order_count_2`,
  `ktx`.`m3` AS `orders_customers_seen_3`,
  `ktx`.`m4` AS `orders_largest_4`
FROM `ktx facts` AS `ktx`;

-- of filtered rows
WITH `ktx facts` AS (
  SELECT
    sum(CASE WHEN (`orders`.`status` = 'paid') THEN `orders`.`amount` END) AS `m1`,
    sum(`orders`.`amount`) AS `m2`
  FROM `orders` AS `orders`
)
SELECT
  `ktx`.`m1` AS `orders_paid_revenue_1`,
  `ktx`.`m2` AS `orders_revenue_2`
FROM `ktx facts` AS `ktx`;

-- mean
WITH `ktx facts` AS (
  SELECT
    `orders`.`status` AS `d1`,
    avg(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_status_1`,
  `ktx`.`m1` AS `orders_average_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- median
WITH `ktx facts` AS (
  SELECT
    `orders`.`status` AS `d1`,
    (ARRAY_AGG(CAST(`orders`.`amount` AS FLOAT64) IGNORE NULLS ORDER BY CAST(`orders`.`amount` AS FLOAT64))[SAFE_OFFSET(CAST(FLOOR(0.5 * (COUNT(`orders`.`amount`) - 1)) AS INT64))] + (ARRAY_AGG(CAST(`orders`.`amount` AS FLOAT64) IGNORE NULLS ORDER BY CAST(`orders`.`amount` AS FLOAT64))[SAFE_OFFSET(CAST(CEIL(0.5 * (COUNT(`orders`.`amount`) - 1)) AS INT64))] - ARRAY_AGG(CAST(`orders`.`amount` AS FLOAT64) IGNORE NULLS ORDER BY CAST(`orders`.`amount` AS FLOAT64))[SAFE_OFFSET(CAST(FLOOR(0.5 * (COUNT(`orders`.`amount`) - 1)) AS INT64))]) * (0.5 * (COUNT(`orders`.`amount`) - 1) - FLOOR(0.5 * (COUNT(`orders`.`amount`) - 1)))) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_status_1`,
  `ktx`.`m1` AS `orders_middle_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- percentile
WITH `ktx facts` AS (
  SELECT (ARRAY_AGG(CAST(`orders`.`amount` AS FLOAT64) IGNORE NULLS ORDER BY CAST(`orders`.`amount` AS FLOAT64))[SAFE_OFFSET(CAST(FLOOR(0.9 * (COUNT(`orders`.`amount`) - 1)) AS INT64))] + (ARRAY_AGG(CAST(`orders`.`amount` AS FLOAT64) IGNORE NULLS ORDER BY CAST(`orders`.`amount` AS FLOAT64))[SAFE_OFFSET(CAST(CEIL(0.9 * (COUNT(`orders`.`amount`) - 1)) AS INT64))] - ARRAY_AGG(CAST(`orders`.`amount` AS FLOAT64) IGNORE NULLS ORDER BY CAST(`orders`.`amount` AS FLOAT64))[SAFE_OFFSET(CAST(FLOOR(0.9 * (COUNT(`orders`.`amount`) - 1)) AS INT64))]) * (0.9 * (COUNT(`orders`.`amount`) - 1) - FLOOR(0.9 * (COUNT(`orders`.`amount`) - 1)))) AS `m1`
  FROM `orders` AS `orders`
)
SELECT `ktx`.`m1` AS `percentile_orders_amount__0_9__1`
FROM `ktx facts` AS `ktx`;

-- difference
WITH `ktx facts` AS (
  SELECT
    `orders`.`status` AS `d1`,
    sum(`orders`.`amount`) AS `m1`,
    sum(`orders`.cost) AS `m2`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_status_1`,
  (`ktx`.`m1` - `ktx`.`m2`) AS `orders_profit_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- quotient of differences
WITH `ktx facts` AS (
  SELECT
    `orders`.`status` AS `d1`,
    sum(`orders`.`amount`) AS `m1`,
    sum(`orders`.cost) AS `m2`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_status_1`,
  ((`ktx`.`m1` - `ktx`.`m2`) / NULLIF(`ktx`.`m1`, 0)) AS `orders_margin_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- ratio
WITH `ktx facts` AS (
  SELECT
    `orders`.`status` AS `d1`,
    sum(`orders`.`amount`) AS `m1`,
    count(*) AS `m2`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_status_1`,
  (`ktx`.`m1` / NULLIF(`ktx`.`m2`, 0)) AS `orders_aov_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- filtered by another dataset
WITH `ktx facts` AS (
  SELECT sum(CASE WHEN (`orders.buyer`.`segment` = 'ent') THEN `orders`.`amount` END) AS `m1`
  FROM `orders` AS `orders`
  LEFT JOIN `customers` AS `orders.buyer` ON (`orders`.`customer_id` = `orders.buyer`.`id`)
)
SELECT `ktx`.`m1` AS `orders_enterprise_revenue_1`
FROM `ktx facts` AS `ktx`;

-- ad hoc
WITH `ktx facts` AS (
  SELECT
    max(`orders`.`amount`) AS `m1`,
    min(`orders`.`amount`) AS `m2`
  FROM `orders` AS `orders`
)
SELECT
  (`ktx`.`m1` - `ktx`.`m2`) AS `spread_1`,
  ((`ktx`.`m1` - `ktx`.`m2`) * 2) AS `doubled_2`
FROM `ktx facts` AS `ktx`;

-- of a query
WITH `ktx facts` AS (
  SELECT
    `large_orders.customers`.`segment` AS `d1`,
    sum(`large_orders`.`amount`) AS `m1`
  FROM (
SELECT id, customer_id, amount FROM orders WHERE amount > 3
) AS `large_orders`
  LEFT JOIN `customers` AS `large_orders.customers` ON (`large_orders`.`customer_id` = `large_orders.customers`.`id`)
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `customers_segment_1`,
  `ktx`.`m1` AS `large_orders_large_revenue_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- of nobody
WITH `ktx facts` AS (
  SELECT
    sum(`orders`.`amount`) AS `m1`,
    count(*) AS `m2`
  FROM `orders` AS `orders`
  WHERE (`orders`.`status` = 'none')
)
SELECT
  `ktx`.`m1` AS `orders_revenue_1`,
  `ktx`.`m2` AS `orders_order_count_2`
FROM `ktx facts` AS `ktx`;

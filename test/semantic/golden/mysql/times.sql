-- second
WITH `ktx facts` AS (
  SELECT
    CAST(DATE_FORMAT(`orders`.`created_at`, '%Y-%m-%d %H:%i:%s') AS DATETIME) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.second`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- hour
WITH `ktx facts` AS (
  SELECT
    CAST(DATE_FORMAT(`orders`.`created_at`, '%Y-%m-%d %H:00:00') AS DATETIME) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.hour`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- day of metric_time
WITH `ktx facts` AS (
  SELECT
    DATE(`orders`.`created_at`) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `metric_time.day`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- weeks from Monday
WITH `ktx facts` AS (
  SELECT
    (DATE(`orders`.`created_at`) - INTERVAL WEEKDAY(`orders`.`created_at`) DAY) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.week`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- weeks from Sunday
WITH `ktx facts` AS (
  SELECT
    (DATE(`orders`.`created_at`) - INTERVAL (DAYOFWEEK(`orders`.`created_at`) - 1) DAY) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.week`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- weeks of dates
WITH `ktx facts` AS (
  SELECT
    (DATE(`orders`.`shipped_on`) - INTERVAL WEEKDAY(`orders`.`shipped_on`) DAY) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.shipped_on.week`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- month
WITH `ktx facts` AS (
  SELECT
    CAST(DATE_FORMAT(`orders`.`created_at`, '%Y-%m-01') AS DATE) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.month`,
  `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- quarter
WITH `ktx facts` AS (
  SELECT
    (CAST(DATE_FORMAT(`orders`.`shipped_on`, '%Y-01-01') AS DATE) + INTERVAL (QUARTER(`orders`.`shipped_on`) - 1) QUARTER) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.shipped_on.quarter`,
  `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

-- year
WITH `ktx facts` AS (
  SELECT
    CAST(DATE_FORMAT(`orders`.`shipped_on`, '%Y-01-01') AS DATE) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.shipped_on.year`,
  `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;

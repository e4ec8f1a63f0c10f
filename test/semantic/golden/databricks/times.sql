-- second
WITH `ktx facts` AS (
  SELECT
    date_trunc('SECOND', CAST(`orders`.`created_at` AS TIMESTAMP_NTZ)) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.second`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- hour
WITH `ktx facts` AS (
  SELECT
    date_trunc('HOUR', CAST(`orders`.`created_at` AS TIMESTAMP_NTZ)) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.hour`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- day of metric_time
WITH `ktx facts` AS (
  SELECT
    CAST(date_trunc('DAY', CAST(`orders`.`created_at` AS TIMESTAMP_NTZ)) AS DATE) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `metric_time.day`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- weeks from Monday
WITH `ktx facts` AS (
  SELECT
    CAST(date_trunc('WEEK', CAST(`orders`.`created_at` AS TIMESTAMP_NTZ)) AS DATE) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.week`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- weeks from Sunday
WITH `ktx facts` AS (
  SELECT
    date_sub(CAST(date_trunc('WEEK', date_add(CAST(CAST(`orders`.`created_at` AS TIMESTAMP_NTZ) AS DATE), 1)) AS DATE), 1) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.week`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- weeks of dates
WITH `ktx facts` AS (
  SELECT
    CAST(date_trunc('WEEK', CAST(`orders`.`shipped_on` AS TIMESTAMP_NTZ)) AS DATE) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.shipped_on.week`,
  `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- month
WITH `ktx facts` AS (
  SELECT
    CAST(date_trunc('MONTH', CAST(`orders`.`created_at` AS TIMESTAMP_NTZ)) AS DATE) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.created_at.month`,
  `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- quarter
WITH `ktx facts` AS (
  SELECT
    CAST(date_trunc('QUARTER', CAST(`orders`.`shipped_on` AS TIMESTAMP_NTZ)) AS DATE) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.shipped_on.quarter`,
  `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- year
WITH `ktx facts` AS (
  SELECT
    CAST(date_trunc('YEAR', CAST(`orders`.`shipped_on` AS TIMESTAMP_NTZ)) AS DATE) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.shipped_on.year`,
  `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

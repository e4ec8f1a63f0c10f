-- second
WITH `ktx facts` AS (
  SELECT
    DATETIME_TRUNC(CAST(`orders`.`created_at` AS DATETIME), SECOND) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_created_at_second_1`,
  `ktx`.`m1` AS `orders_order_count_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- hour
WITH `ktx facts` AS (
  SELECT
    DATETIME_TRUNC(CAST(`orders`.`created_at` AS DATETIME), HOUR) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_created_at_hour_1`,
  `ktx`.`m1` AS `orders_order_count_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- day of metric_time
WITH `ktx facts` AS (
  SELECT
    DATE_TRUNC(CAST(CAST(`orders`.`created_at` AS DATETIME) AS DATE), DAY) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `metric_time_day_1`,
  `ktx`.`m1` AS `orders_order_count_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- weeks from Monday
WITH `ktx facts` AS (
  SELECT
    DATE_TRUNC(CAST(CAST(`orders`.`created_at` AS DATETIME) AS DATE), WEEK(MONDAY)) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_created_at_week_1`,
  `ktx`.`m1` AS `orders_order_count_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- weeks from Sunday
WITH `ktx facts` AS (
  SELECT
    DATE_TRUNC(CAST(CAST(`orders`.`created_at` AS DATETIME) AS DATE), WEEK(SUNDAY)) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_created_at_week_1`,
  `ktx`.`m1` AS `orders_order_count_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- weeks of dates
WITH `ktx facts` AS (
  SELECT
    DATE_TRUNC(CAST(CAST(`orders`.`shipped_on` AS DATETIME) AS DATE), WEEK(MONDAY)) AS `d1`,
    count(*) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_shipped_on_week_1`,
  `ktx`.`m1` AS `orders_order_count_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- month
WITH `ktx facts` AS (
  SELECT
    DATE_TRUNC(CAST(CAST(`orders`.`created_at` AS DATETIME) AS DATE), MONTH) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_created_at_month_1`,
  `ktx`.`m1` AS `orders_revenue_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- quarter
WITH `ktx facts` AS (
  SELECT
    DATE_TRUNC(CAST(CAST(`orders`.`shipped_on` AS DATETIME) AS DATE), QUARTER) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_shipped_on_quarter_1`,
  `ktx`.`m1` AS `orders_revenue_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

-- year
WITH `ktx facts` AS (
  SELECT
    DATE_TRUNC(CAST(CAST(`orders`.`shipped_on` AS DATETIME) AS DATE), YEAR) AS `d1`,
    sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders_shipped_on_year_1`,
  `ktx`.`m1` AS `orders_revenue_2`
FROM `ktx facts` AS `ktx`
ORDER BY `ktx`.`d1` NULLS LAST;

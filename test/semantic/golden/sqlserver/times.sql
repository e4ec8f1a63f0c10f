-- second
WITH [ktx facts] AS (
  SELECT
    DATEADD(second, DATEDIFF(second, CAST([orders].[created_at] AS date), [orders].[created_at]), CAST(CAST([orders].[created_at] AS date) AS datetime2(0))) AS [d1],
    count(*) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEADD(second, DATEDIFF(second, CAST([orders].[created_at] AS date), [orders].[created_at]), CAST(CAST([orders].[created_at] AS date) AS datetime2(0)))
)
SELECT
  [ktx].[d1] AS [orders.created_at.second],
  [ktx].[m1] AS [orders.order_count]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- hour
WITH [ktx facts] AS (
  SELECT
    DATEADD(hour, DATEDIFF(hour, CAST([orders].[created_at] AS date), [orders].[created_at]), CAST(CAST([orders].[created_at] AS date) AS datetime2(0))) AS [d1],
    count(*) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEADD(hour, DATEDIFF(hour, CAST([orders].[created_at] AS date), [orders].[created_at]), CAST(CAST([orders].[created_at] AS date) AS datetime2(0)))
)
SELECT
  [ktx].[d1] AS [orders.created_at.hour],
  [ktx].[m1] AS [orders.order_count]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- day of metric_time
WITH [ktx facts] AS (
  SELECT
    CAST([orders].[created_at] AS date) AS [d1],
    count(*) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY CAST([orders].[created_at] AS date)
)
SELECT
  [ktx].[d1] AS [metric_time.day],
  [ktx].[m1] AS [orders.order_count]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- weeks from Monday
WITH [ktx facts] AS (
  SELECT
    DATEADD(day, -(DATEDIFF(day, CAST('00010101' AS date), CAST([orders].[created_at] AS date)) % 7), CAST([orders].[created_at] AS date)) AS [d1],
    count(*) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEADD(day, -(DATEDIFF(day, CAST('00010101' AS date), CAST([orders].[created_at] AS date)) % 7), CAST([orders].[created_at] AS date))
)
SELECT
  [ktx].[d1] AS [orders.created_at.week],
  [ktx].[m1] AS [orders.order_count]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- weeks from Sunday
WITH [ktx facts] AS (
  SELECT
    DATEADD(day, -(DATEDIFF(day, CAST('00010107' AS date), CAST([orders].[created_at] AS date)) % 7), CAST([orders].[created_at] AS date)) AS [d1],
    count(*) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEADD(day, -(DATEDIFF(day, CAST('00010107' AS date), CAST([orders].[created_at] AS date)) % 7), CAST([orders].[created_at] AS date))
)
SELECT
  [ktx].[d1] AS [orders.created_at.week],
  [ktx].[m1] AS [orders.order_count]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- weeks of dates
WITH [ktx facts] AS (
  SELECT
    DATEADD(day, -(DATEDIFF(day, CAST('00010101' AS date), CAST([orders].[shipped_on] AS date)) % 7), CAST([orders].[shipped_on] AS date)) AS [d1],
    count(*) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEADD(day, -(DATEDIFF(day, CAST('00010101' AS date), CAST([orders].[shipped_on] AS date)) % 7), CAST([orders].[shipped_on] AS date))
)
SELECT
  [ktx].[d1] AS [orders.shipped_on.week],
  [ktx].[m1] AS [orders.order_count]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- month
WITH [ktx facts] AS (
  SELECT
    DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1) AS [d1],
    sum([orders].[amount]) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1)
)
SELECT
  [ktx].[d1] AS [orders.created_at.month],
  [ktx].[m1] AS [orders.revenue]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- quarter
WITH [ktx facts] AS (
  SELECT
    DATEFROMPARTS(YEAR([orders].[shipped_on]), DATEPART(quarter, [orders].[shipped_on]) * 3 - 2, 1) AS [d1],
    sum([orders].[amount]) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEFROMPARTS(YEAR([orders].[shipped_on]), DATEPART(quarter, [orders].[shipped_on]) * 3 - 2, 1)
)
SELECT
  [ktx].[d1] AS [orders.shipped_on.quarter],
  [ktx].[m1] AS [orders.revenue]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- year
WITH [ktx facts] AS (
  SELECT
    DATEFROMPARTS(YEAR([orders].[shipped_on]), 1, 1) AS [d1],
    sum([orders].[amount]) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEFROMPARTS(YEAR([orders].[shipped_on]), 1, 1)
)
SELECT
  [ktx].[d1] AS [orders.shipped_on.year],
  [ktx].[m1] AS [orders.revenue]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

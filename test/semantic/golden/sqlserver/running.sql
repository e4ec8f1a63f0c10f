-- balance
WITH [ktx facts] AS (
  SELECT
    [ktx rows].[d1] AS [d1],
    sum(CASE WHEN ([ktx rows].[o] = 1) AND ([ktx rows].[r] = 1) THEN [ktx rows].[v1] END) AS [m1]
  FROM (
    SELECT
      DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1) AS [d1],
      [orders].[amount] AS [v1],
      CASE WHEN ([orders].[created_at] IS NOT NULL) THEN 1 END AS [o],
      rank() OVER (PARTITION BY CASE WHEN ([orders].[created_at] IS NOT NULL) THEN 1 END, [orders].[customer_id], DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1) ORDER BY [orders].[created_at] DESC) AS [r]
    FROM [orders] AS [orders]
  ) AS [ktx rows]
  GROUP BY [ktx rows].[d1]
)
SELECT
  [ktx].[d1] AS [metric_time.month],
  [ktx].[m1] AS [orders.latest]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- average of each
WITH [ktx facts] AS (
  SELECT
    [ktx].[d1] AS [d1],
    avg(CASE WHEN ([ktx].[d2] IS NOT NULL) THEN [ktx].[m1] END * 1e0) AS [m1]
  FROM (
    SELECT
      [orders].[status] AS [d1],
      [orders].[customer_id] AS [d2],
      sum([orders].[amount]) AS [m1]
    FROM [orders] AS [orders]
    GROUP BY [orders].[status], [orders].[customer_id]
  ) AS [ktx]
  GROUP BY [ktx].[d1]
)
SELECT
  [ktx].[d1] AS [orders.status],
  [ktx].[m1] AS [orders.per_buyer]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- growth
WITH [ktx facts 1] AS (
  SELECT
    DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1) AS [d1],
    sum([orders].[amount]) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1)
),
[ktx facts 2] AS (
  SELECT
    DATEFROMPARTS(YEAR(DATEADD(month, 1, [orders].[created_at])), MONTH(DATEADD(month, 1, [orders].[created_at])), 1) AS [d1],
    sum([orders].[amount]) AS [m2]
  FROM [orders] AS [orders]
  GROUP BY DATEFROMPARTS(YEAR(DATEADD(month, 1, [orders].[created_at])), MONTH(DATEADD(month, 1, [orders].[created_at])), 1)
),
[ktx result] AS (
  SELECT
    [ktx all].[d1] AS [d1],
    max([ktx all].[m1]) AS [m1],
    max([ktx all].[m2]) AS [m2]
  FROM (
    SELECT
      [ktx facts 1].[d1] AS [d1],
      [ktx facts 1].[m1] AS [m1],
      (SELECT [m2] FROM [ktx facts 2] WHERE 1 = 0) AS [m2]
    FROM [ktx facts 1] AS [ktx facts 1]
    UNION ALL
    SELECT
      [ktx facts 2].[d1] AS [d1],
      (SELECT [m1] FROM [ktx facts 1] WHERE 1 = 0) AS [m1],
      [ktx facts 2].[m2] AS [m2]
    FROM [ktx facts 2] AS [ktx facts 2]
  ) AS [ktx all]
  GROUP BY [ktx all].[d1]
)
SELECT
  [ktx].[d1] AS [metric_time.month],
  [ktx].[m1] AS [orders.revenue],
  (COALESCE([ktx].[m1], 0) - COALESCE([ktx].[m2], 0)) AS [orders.growth]
FROM [ktx result] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- total
WITH [ktx periods] AS (
  SELECT DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1) AS [d1]
  FROM [orders] AS [orders]
  GROUP BY DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1)
),
[ktx facts] AS (
  SELECT
    [ktx periods].[d1] AS [d1],
    sum([orders].[amount]) AS [m1]
  FROM [ktx periods] AS [ktx periods]
  JOIN [orders] AS [orders] ON ((DATEFROMPARTS(YEAR([orders].[created_at]), MONTH([orders].[created_at]), 1) <= [ktx periods].[d1]))
  GROUP BY [ktx periods].[d1]
)
SELECT
  [ktx].[d1] AS [metric_time.month],
  [ktx].[m1] AS [orders.running]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- to date
WITH [ktx periods] AS (
  SELECT CAST([orders].[created_at] AS date) AS [d1]
  FROM [orders] AS [orders]
  GROUP BY CAST([orders].[created_at] AS date)
),
[ktx facts] AS (
  SELECT
    [ktx periods].[d1] AS [d1],
    sum([orders].[amount]) AS [m1]
  FROM [ktx periods] AS [ktx periods]
  JOIN [orders] AS [orders] ON ((CAST([orders].[created_at] AS date) <= [ktx periods].[d1]) AND (DATEFROMPARTS(YEAR([orders].[created_at]), 1, 1) = DATEFROMPARTS(YEAR([ktx periods].[d1]), 1, 1)))
  GROUP BY [ktx periods].[d1]
)
SELECT
  [ktx].[d1] AS [metric_time.day],
  [ktx].[m1] AS [orders.year_to_date]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- followed by itself
WITH [ktx facts] AS (
  SELECT
    [orders].[status] AS [d1],
    count([ktx conversions].[v]) AS [m1]
  FROM [orders] AS [orders]
  LEFT JOIN (
    SELECT
      [ktx rows].[k1] AS [k1],
      [ktx rows].[v] AS [v]
    FROM (
      SELECT
        [ktx base].[k1] AS [k1],
        [ktx next].[v] AS [v],
        rank() OVER (PARTITION BY [ktx next].[k1] ORDER BY [ktx base].[t] DESC, [ktx base].[k1] DESC) AS [r]
      FROM (
        SELECT
          [orders].[id] AS [k1],
          [orders].[customer_id] AS [e1],
          [orders].[created_at] AS [t]
        FROM [orders] AS [orders]
      ) AS [ktx base]
      JOIN (
        SELECT
          [orders].[id] AS [k1],
          [orders].[customer_id] AS [e1],
          [orders].[created_at] AS [t],
          1 AS [v]
        FROM [orders] AS [orders]
      ) AS [ktx next] ON (([ktx base].[e1] = [ktx next].[e1]) AND ([ktx base].[t] <= [ktx next].[t]) AND (DATEADD(second, DATEDIFF(second, CAST([ktx base].[t] AS date), [ktx base].[t]), CAST(CAST([ktx base].[t] AS date) AS datetime2(0))) > DATEADD(day, -30, DATEADD(second, DATEDIFF(second, CAST([ktx next].[t] AS date), [ktx next].[t]), CAST(CAST([ktx next].[t] AS date) AS datetime2(0))))) AND (NOT (([ktx base].[k1] = [ktx next].[k1]))))
    ) AS [ktx rows]
    WHERE ([ktx rows].[r] = 1)
  ) AS [ktx conversions] ON (([orders].[id] = [ktx conversions].[k1]))
  GROUP BY [orders].[status]
)
SELECT
  [ktx].[d1] AS [orders.status],
  [ktx].[m1] AS [orders.bought_again]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- followed by another
WITH [ktx facts 1] AS (
  SELECT
    [orders.buyer].[segment] AS [d1],
    count([ktx conversions].[v]) AS [m1]
  FROM [orders] AS [orders]
  LEFT JOIN [customers] AS [orders.buyer] ON ([orders].[customer_id] = [orders.buyer].[id])
  LEFT JOIN (
    SELECT
      [ktx rows].[k1] AS [k1],
      [ktx rows].[v] AS [v]
    FROM (
      SELECT
        [ktx base].[k1] AS [k1],
        [ktx next].[v] AS [v],
        rank() OVER (PARTITION BY [ktx next].[k1] ORDER BY [ktx base].[t] DESC, [ktx base].[k1] DESC) AS [r]
      FROM (
        SELECT
          [orders].[id] AS [k1],
          [orders].[customer_id] AS [e1],
          [orders].[created_at] AS [t]
        FROM [orders] AS [orders]
      ) AS [ktx base]
      JOIN (
        SELECT
          [tickets].[id] AS [k1],
          [tickets].[customer_id] AS [e1],
          [tickets].[opened_on] AS [t],
          1 AS [v]
        FROM [tickets] AS [tickets]
      ) AS [ktx next] ON (([ktx base].[e1] = [ktx next].[e1]) AND (CAST([ktx base].[t] AS date) <= CAST([ktx next].[t] AS date)) AND (CAST([ktx base].[t] AS date) > CAST(DATEADD(month, -2, CAST(CAST([ktx next].[t] AS date) AS datetime2)) AS DATE)))
    ) AS [ktx rows]
    WHERE ([ktx rows].[r] = 1)
  ) AS [ktx conversions] ON (([orders].[id] = [ktx conversions].[k1]))
  WHERE ([orders].[amount] > 2)
  GROUP BY [orders.buyer].[segment]
),
[ktx facts 2] AS (
  SELECT
    [orders.buyer].[segment] AS [d1],
    count(*) AS [m2]
  FROM [orders] AS [orders]
  LEFT JOIN [customers] AS [orders.buyer] ON ([orders].[customer_id] = [orders.buyer].[id])
  WHERE ([orders].[amount] > 2)
  GROUP BY [orders.buyer].[segment]
),
[ktx result] AS (
  SELECT
    [ktx all].[d1] AS [d1],
    COALESCE(max([ktx all].[m1]), 0) AS [m1],
    COALESCE(max([ktx all].[m2]), 0) AS [m2]
  FROM (
    SELECT
      [ktx facts 1].[d1] AS [d1],
      [ktx facts 1].[m1] AS [m1],
      (SELECT [m2] FROM [ktx facts 2] WHERE 1 = 0) AS [m2]
    FROM [ktx facts 1] AS [ktx facts 1]
    UNION ALL
    SELECT
      [ktx facts 2].[d1] AS [d1],
      (SELECT [m1] FROM [ktx facts 1] WHERE 1 = 0) AS [m1],
      [ktx facts 2].[m2] AS [m2]
    FROM [ktx facts 2] AS [ktx facts 2]
  ) AS [ktx all]
  GROUP BY [ktx all].[d1]
)
SELECT
  [ktx].[d1] AS [buyer.segment],
  ([ktx].[m1] * 1e0 / NULLIF([ktx].[m2], 0)) AS [orders.complained],
  [ktx].[m2] AS [orders.order_count]
FROM [ktx result] AS [ktx]
ORDER BY CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- filled
-- not_supported: There is no SQL for sqlserver that gives periods without rows, however many (fill_time)

-- by a metric
WITH [ktx facts] AS (
  SELECT
    [orders].[status] AS [d1],
    sum([orders].[amount]) AS [m1]
  FROM [orders] AS [orders]
  GROUP BY [orders].[status]
)
SELECT
  [ktx].[d1] AS [orders.status],
  [ktx].[m1] AS [orders.revenue]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[m1] IS NULL THEN 1 ELSE 0 END, [ktx].[m1] DESC, CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1]
OFFSET 0 ROWS FETCH NEXT 3 ROWS ONLY;

-- by one that is not shown
WITH [ktx facts] AS (
  SELECT
    [orders].[status] AS [d1],
    sum([orders].[amount]) AS [m1],
    count(*) AS [m2]
  FROM [orders] AS [orders]
  GROUP BY [orders].[status]
)
SELECT
  [ktx].[d1] AS [orders.status],
  [ktx].[m1] AS [orders.revenue]
FROM [ktx facts] AS [ktx]
ORDER BY CASE WHEN [ktx].[m2] IS NULL THEN 1 ELSE 0 END, [ktx].[m2] DESC, CASE WHEN [ktx].[d1] IS NULL THEN 1 ELSE 0 END, [ktx].[d1];

-- limit alone
WITH [ktx facts] AS (
  SELECT sum([orders].[amount]) AS [m1]
  FROM [orders] AS [orders]
)
SELECT [ktx].[m1] AS [orders.revenue]
FROM [ktx facts] AS [ktx]
ORDER BY (SELECT NULL) OFFSET 0 ROWS FETCH NEXT 1 ROWS ONLY;

-- second in UTC
SELECT DATEADD(second, DATEDIFF(second, CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date), CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)), CAST(CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date) AS datetime2(0)));
-- minute in UTC
SELECT DATEADD(minute, DATEDIFF(minute, CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date), CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)), CAST(CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date) AS datetime2(0)));
-- hour in UTC
SELECT DATEADD(hour, DATEDIFF(hour, CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date), CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)), CAST(CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date) AS datetime2(0)));
-- day in UTC
SELECT CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date);
-- week in UTC
SELECT DATEADD(day, -(DATEDIFF(day, CAST('00010107' AS date), CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date)) % 7), CAST(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2) AS date));
-- month in UTC
SELECT DATEFROMPARTS(YEAR(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)), MONTH(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)), 1);
-- quarter in UTC
SELECT DATEFROMPARTS(YEAR(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)), DATEPART(quarter, CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)) * 3 - 2, 1);
-- year in UTC
SELECT DATEFROMPARTS(YEAR(CAST(SWITCHOFFSET([at], '+00:00') AS datetime2)), 1, 1);
-- second in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own
-- minute in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own
-- hour in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own
-- day in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own
-- week in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own
-- month in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own
-- quarter in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own
-- year in Europe/Paris
-- UserError: There is no SQL for SQL Server that gives periods cut in Europe/Paris: it has zone names of its own

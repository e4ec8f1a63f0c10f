-- second in UTC
SELECT date_trunc('second', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12)));
-- minute in UTC
SELECT date_trunc('minute', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12)));
-- hour in UTC
SELECT date_trunc('hour', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12)));
-- day in UTC
SELECT CAST(date_trunc('day', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12))) AS DATE);
-- week in UTC
SELECT CAST(date_trunc('week', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12)) + INTERVAL '1' DAY) - INTERVAL '1' DAY AS DATE);
-- month in UTC
SELECT CAST(date_trunc('month', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12))) AS DATE);
-- quarter in UTC
SELECT CAST(date_trunc('quarter', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12))) AS DATE);
-- year in UTC
SELECT CAST(date_trunc('year', CAST(("at") AT TIME ZONE 'UTC' AS TIMESTAMP(12))) AS DATE);
-- second in Europe/Paris
SELECT date_trunc('second', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12)));
-- minute in Europe/Paris
SELECT date_trunc('minute', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12)));
-- hour in Europe/Paris
SELECT date_trunc('hour', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12)));
-- day in Europe/Paris
SELECT CAST(date_trunc('day', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12))) AS DATE);
-- week in Europe/Paris
SELECT CAST(date_trunc('week', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12)) + INTERVAL '1' DAY) - INTERVAL '1' DAY AS DATE);
-- month in Europe/Paris
SELECT CAST(date_trunc('month', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12))) AS DATE);
-- quarter in Europe/Paris
SELECT CAST(date_trunc('quarter', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12))) AS DATE);
-- year in Europe/Paris
SELECT CAST(date_trunc('year', CAST(("at") AT TIME ZONE 'Europe/Paris' AS TIMESTAMP(12))) AS DATE);

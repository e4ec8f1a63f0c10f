-- second in UTC
SELECT date_trunc('second', ("at") AT TIME ZONE 'UTC');
-- minute in UTC
SELECT date_trunc('minute', ("at") AT TIME ZONE 'UTC');
-- hour in UTC
SELECT date_trunc('hour', ("at") AT TIME ZONE 'UTC');
-- day in UTC
SELECT CAST(date_trunc('day', ("at") AT TIME ZONE 'UTC') AS DATE);
-- week in UTC
SELECT CAST(date_trunc('week', ("at") AT TIME ZONE 'UTC' + INTERVAL '1 day') - INTERVAL '1 day' AS DATE);
-- month in UTC
SELECT CAST(date_trunc('month', ("at") AT TIME ZONE 'UTC') AS DATE);
-- quarter in UTC
SELECT CAST(date_trunc('quarter', ("at") AT TIME ZONE 'UTC') AS DATE);
-- year in UTC
SELECT CAST(date_trunc('year', ("at") AT TIME ZONE 'UTC') AS DATE);
-- second in Europe/Paris
SELECT date_trunc('second', ("at") AT TIME ZONE 'Europe/Paris');
-- minute in Europe/Paris
SELECT date_trunc('minute', ("at") AT TIME ZONE 'Europe/Paris');
-- hour in Europe/Paris
SELECT date_trunc('hour', ("at") AT TIME ZONE 'Europe/Paris');
-- day in Europe/Paris
SELECT CAST(date_trunc('day', ("at") AT TIME ZONE 'Europe/Paris') AS DATE);
-- week in Europe/Paris
SELECT CAST(date_trunc('week', ("at") AT TIME ZONE 'Europe/Paris' + INTERVAL '1 day') - INTERVAL '1 day' AS DATE);
-- month in Europe/Paris
SELECT CAST(date_trunc('month', ("at") AT TIME ZONE 'Europe/Paris') AS DATE);
-- quarter in Europe/Paris
SELECT CAST(date_trunc('quarter', ("at") AT TIME ZONE 'Europe/Paris') AS DATE);
-- year in Europe/Paris
SELECT CAST(date_trunc('year', ("at") AT TIME ZONE 'Europe/Paris') AS DATE);

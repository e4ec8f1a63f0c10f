-- second in UTC
SELECT DATETIME_TRUNC(DATETIME(`at`, 'UTC'), SECOND);
-- minute in UTC
SELECT DATETIME_TRUNC(DATETIME(`at`, 'UTC'), MINUTE);
-- hour in UTC
SELECT DATETIME_TRUNC(DATETIME(`at`, 'UTC'), HOUR);
-- day in UTC
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'UTC') AS DATE), DAY);
-- week in UTC
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'UTC') AS DATE), WEEK(SUNDAY));
-- month in UTC
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'UTC') AS DATE), MONTH);
-- quarter in UTC
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'UTC') AS DATE), QUARTER);
-- year in UTC
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'UTC') AS DATE), YEAR);
-- second in Europe/Paris
SELECT DATETIME_TRUNC(DATETIME(`at`, 'Europe/Paris'), SECOND);
-- minute in Europe/Paris
SELECT DATETIME_TRUNC(DATETIME(`at`, 'Europe/Paris'), MINUTE);
-- hour in Europe/Paris
SELECT DATETIME_TRUNC(DATETIME(`at`, 'Europe/Paris'), HOUR);
-- day in Europe/Paris
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'Europe/Paris') AS DATE), DAY);
-- week in Europe/Paris
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'Europe/Paris') AS DATE), WEEK(SUNDAY));
-- month in Europe/Paris
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'Europe/Paris') AS DATE), MONTH);
-- quarter in Europe/Paris
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'Europe/Paris') AS DATE), QUARTER);
-- year in Europe/Paris
SELECT DATE_TRUNC(CAST(DATETIME(`at`, 'Europe/Paris') AS DATE), YEAR);

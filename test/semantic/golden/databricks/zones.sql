-- second in UTC
SELECT date_trunc('SECOND', convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ)));
-- minute in UTC
SELECT date_trunc('MINUTE', convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ)));
-- hour in UTC
SELECT date_trunc('HOUR', convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ)));
-- day in UTC
SELECT CAST(date_trunc('DAY', convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);
-- week in UTC
SELECT date_sub(CAST(date_trunc('WEEK', date_add(CAST(convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ)) AS DATE), 1)) AS DATE), 1);
-- month in UTC
SELECT CAST(date_trunc('MONTH', convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);
-- quarter in UTC
SELECT CAST(date_trunc('QUARTER', convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);
-- year in UTC
SELECT CAST(date_trunc('YEAR', convert_timezone(current_timezone(), 'UTC', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);
-- second in Europe/Paris
SELECT date_trunc('SECOND', convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ)));
-- minute in Europe/Paris
SELECT date_trunc('MINUTE', convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ)));
-- hour in Europe/Paris
SELECT date_trunc('HOUR', convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ)));
-- day in Europe/Paris
SELECT CAST(date_trunc('DAY', convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);
-- week in Europe/Paris
SELECT date_sub(CAST(date_trunc('WEEK', date_add(CAST(convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ)) AS DATE), 1)) AS DATE), 1);
-- month in Europe/Paris
SELECT CAST(date_trunc('MONTH', convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);
-- quarter in Europe/Paris
SELECT CAST(date_trunc('QUARTER', convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);
-- year in Europe/Paris
SELECT CAST(date_trunc('YEAR', convert_timezone(current_timezone(), 'Europe/Paris', CAST(`at` AS TIMESTAMP_NTZ))) AS DATE);

-- second in UTC
SELECT CAST(DATE_FORMAT(CONVERT_TZ(`at`, @@session.time_zone, '+00:00'), '%Y-%m-%d %H:%i:%s') AS DATETIME);
-- minute in UTC
SELECT CAST(DATE_FORMAT(CONVERT_TZ(`at`, @@session.time_zone, '+00:00'), '%Y-%m-%d %H:%i:00') AS DATETIME);
-- hour in UTC
SELECT CAST(DATE_FORMAT(CONVERT_TZ(`at`, @@session.time_zone, '+00:00'), '%Y-%m-%d %H:00:00') AS DATETIME);
-- day in UTC
SELECT DATE(CONVERT_TZ(`at`, @@session.time_zone, '+00:00'));
-- week in UTC
SELECT (DATE(CONVERT_TZ(`at`, @@session.time_zone, '+00:00')) - INTERVAL (DAYOFWEEK(CONVERT_TZ(`at`, @@session.time_zone, '+00:00')) - 1) DAY);
-- month in UTC
SELECT CAST(DATE_FORMAT(CONVERT_TZ(`at`, @@session.time_zone, '+00:00'), '%Y-%m-01') AS DATE);
-- quarter in UTC
SELECT (CAST(DATE_FORMAT(CONVERT_TZ(`at`, @@session.time_zone, '+00:00'), '%Y-01-01') AS DATE) + INTERVAL (QUARTER(CONVERT_TZ(`at`, @@session.time_zone, '+00:00')) - 1) QUARTER);
-- year in UTC
SELECT CAST(DATE_FORMAT(CONVERT_TZ(`at`, @@session.time_zone, '+00:00'), '%Y-01-01') AS DATE);
-- second in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server
-- minute in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server
-- hour in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server
-- day in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server
-- week in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server
-- month in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server
-- quarter in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server
-- year in Europe/Paris
-- UserError: There is no SQL for MySQL and MariaDB that gives periods cut in Europe/Paris for certain, on every server

-- second in UTC
SELECT toStartOfSecond(toDateTime64(toTimeZone("at", 'UTC'), 3));
-- minute in UTC
SELECT toStartOfMinute(toTimeZone("at", 'UTC'));
-- hour in UTC
SELECT toStartOfHour(toTimeZone("at", 'UTC'));
-- day in UTC
SELECT toDate32(toTimeZone("at", 'UTC'));
-- week in UTC
SELECT toStartOfWeek(toTimeZone("at", 'UTC'), 0);
-- month in UTC
SELECT toStartOfMonth(toTimeZone("at", 'UTC'));
-- quarter in UTC
SELECT toStartOfQuarter(toTimeZone("at", 'UTC'));
-- year in UTC
SELECT toStartOfYear(toTimeZone("at", 'UTC'));
-- second in Europe/Paris
SELECT toStartOfSecond(toDateTime64(toTimeZone("at", 'Europe/Paris'), 3));
-- minute in Europe/Paris
SELECT toStartOfMinute(toTimeZone("at", 'Europe/Paris'));
-- hour in Europe/Paris
SELECT toStartOfHour(toTimeZone("at", 'Europe/Paris'));
-- day in Europe/Paris
SELECT toDate32(toTimeZone("at", 'Europe/Paris'));
-- week in Europe/Paris
SELECT toStartOfWeek(toTimeZone("at", 'Europe/Paris'), 0);
-- month in Europe/Paris
SELECT toStartOfMonth(toTimeZone("at", 'Europe/Paris'));
-- quarter in Europe/Paris
SELECT toStartOfQuarter(toTimeZone("at", 'Europe/Paris'));
-- year in Europe/Paris
SELECT toStartOfYear(toTimeZone("at", 'Europe/Paris'));

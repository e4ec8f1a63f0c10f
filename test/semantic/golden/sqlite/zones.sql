-- second in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:%S', "at") ELSE CAST("at" AS TEXT) END;
-- minute in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:00', "at") ELSE CAST("at" AS TEXT) END;
-- hour in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN strftime('%Y-%m-%d %H:00:00', "at") ELSE CAST("at" AS TEXT) END;
-- day in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN date("at") ELSE CAST("at" AS TEXT) END;
-- week in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN date("at", 'weekday 6', '-6 days') ELSE CAST("at" AS TEXT) END;
-- month in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN date("at", 'start of month') ELSE CAST("at" AS TEXT) END;
-- quarter in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN date("at", 'start of month', '-' || ((strftime('%m', "at") - 1) % 3) || ' months') ELSE CAST("at" AS TEXT) END;
-- year in UTC
SELECT CASE WHEN typeof("at") = 'text' AND date(substr("at", 1, 10)) = substr("at", 1, 10) AND date("at") IS NOT NULL THEN date("at", 'start of year') ELSE CAST("at" AS TEXT) END;
-- second in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris
-- minute in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris
-- hour in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris
-- day in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris
-- week in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris
-- month in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris
-- quarter in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris
-- year in Europe/Paris
-- UserError: SQLite knows no time zones, so a period cannot be cut in Europe/Paris

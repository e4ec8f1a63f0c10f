import type { EngineName } from '../support/warehouses.ts';

/** The table that the statements read: `n` from 0 to 999. */
export const heavyTable = `CREATE TABLE t (n INTEGER); INSERT INTO t VALUES ${Array.from({ length: 1000 }, (_, n) => `(${n})`).join(', ')}`;

const times = (count: number, text: string, separator = ''): string =>
  Array.from({ length: count }, () => text).join(separator);
const list = (count: number, item: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator);
const cross = (count: number): string => list(count, (index) => `t AS t${index}`);
const sumOf = (count: number): string => list(count, (index) => `t${index}.n`, ' + ');

/** What every engine can be asked. */
const everywhere = [
  `SELECT count(*) FROM ${cross(6)} WHERE ${sumOf(6)} < 0`,
  `SELECT ${sumOf(4)} AS s FROM ${cross(4)} ORDER BY 1 DESC LIMIT 1 OFFSET 100000000`,
  `SELECT t0.n, t1.n, t2.n, t3.n, count(*) FROM ${cross(4)} GROUP BY 1, 2, 3, 4`,
  `SELECT count(*) FROM (SELECT DISTINCT t0.n AS a, t1.n AS b, t2.n AS c, t3.n AS d FROM ${cross(4)}) AS x`,
  `SELECT sum(s) FROM (SELECT sum(t0.n) OVER (ORDER BY t0.n, t1.n, t2.n) AS s FROM ${cross(3)}) AS x`,
  `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 2000000000) SELECT count(*) FROM r`,
  `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT r.i + 1 FROM r, t WHERE i < 2000000000) SELECT max(i) FROM r`,
  `WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b % 1000000007, (a + b) % 1000000007 FROM f) SELECT max(a) FROM f`,
  `SELECT ${times(8000, '(')}1${times(8000, ')')}`,
  `SELECT 1${times(2000, ' + 1')}`,
  `SELECT n FROM t WHERE n IN (${list(15000, String)})`,
  `SELECT ${list(1500, (index) => `n AS c${index}`)} FROM t`,
  `SELECT ${times(400, 'CASE WHEN n > 1 THEN ')}1${times(400, ' ELSE 0 END')} FROM t`,
  list(150, () => 'SELECT n FROM t', ' UNION ALL '),
  list(60, (index) => `SELECT n + ${index} FROM t`, ' UNION '),
  `SELECT count(*) FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS b, t AS c, t AS d WHERE a.n + b.n + c.n + d.n < 0)`,
  `SELECT (SELECT sum(b.n * c.n * d.n) FROM t AS b, t AS c, t AS d WHERE b.n + c.n + d.n > a.n) FROM t AS a`,
  `SELECT t0.n FROM ${cross(12)} WHERE ${list(11, (index) => `t${index}.n + 1 = t${index + 1}.n + t0.n`, ' AND ')}`,
  `SELECT count(DISTINCT t0.n * 1000000 + t1.n * 1000 + t2.n + t3.n / 7.0) FROM ${cross(4)}`,
  `SELECT '${times(90000, 'x')}' AS a`,
];

const duckdb = [
  'SELECT repeat([1,2,3],1000000000)',
  "SELECT bitstring('1',2000000000)",
  "SELECT lpad('x',2000000000,'y')",
  'SELECT list_resize([1],3000000000)',
  "SELECT rpad('x',2000000000,'y')",
  "SELECT length(repeat('ab',2000000000))",
  'SELECT range(2000000000)',
  'SELECT sum(i) FROM range(1000000000000) AS r(i)',
  "SELECT string_agg(repeat('x', 10000000), '') FROM t",
  "SELECT list(repeat('x', 10000000)) FROM t",
  "SELECT repeat('x', 1000000) FROM t",
  'SELECT list(i) FROM range(3000000000) AS r(i)',
  "SELECT regexp_replace(repeat('a', 200000000), 'a', 'bb', 'g')",
  "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))",
  "SELECT CAST(repeat('[', 50000000) AS JSON)",
  'SELECT list_transform(range(300000000), lambda x: x * x)',
  'SELECT list_sort(range(500000000))',
  "SELECT string_split(repeat('a,', 500000000), ',')",
  'SELECT to_json(range(300000000))',
  'SELECT n, range(1000000) FROM t',
];

const sqlite = [
  "SELECT printf('%.*c', 1000000000, 'x')",
  'SELECT hex(zeroblob(400000000))',
  "SELECT replace(hex(zeroblob(10000000)), '0', 'aaaaaaaaaaaaaaaaaaaa')",
  "SELECT group_concat(printf('%.*c', 1000000, 'x')) FROM t",
  "SELECT json_group_array(printf('%.*c', 1000000, 'x')) FROM t",
  "SELECT printf('%.*c', 1000000, 'x') FROM t",
  "SELECT printf('%.*c', 50000, 'a') LIKE '%a%a%a%a%a%a%a%a%b'",
  "SELECT printf('%.*c', 50000, 'a') GLOB '*a*a*a*a*a*a*a*a*b'",
  "SELECT json(printf('%.*c', 1000000, '['))",
  "SELECT count(*) FROM json_each('[' || printf('%.*c', 20000000, ',') || ']')",
  "SELECT count(*) FROM json_each('[' || replace(printf('%.*c', 10000000, ','), ',', '1,') || '1]')",
  'SELECT quote(zeroblob(300000000))',
  "SELECT upper(printf('%.*c', 60000000, 'x'))",
  "WITH RECURSIVE r(i, s) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, s || s FROM r) SELECT max(length(s)) FROM r",
  `SELECT ktx_percentile(${sumOf(4)}, 0.5) FROM ${cross(4)}`,
  'WITH RECURSIVE r(i) AS (SELECT 1 UNION SELECT i + 1 FROM r) SELECT count(*) FROM r ORDER BY i',
  "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT group_concat(i || 'xxxxxxxxxxxxxxxx') FROM r",
  "SELECT length(trim(printf('%.*c', 60000000, 'x'), 'y'))",
  "SELECT instr(printf('%.*c', 30000000, 'a'), printf('%.*c', 15000000, 'a') || 'b')",
  'SELECT total(n) FROM (SELECT a.n FROM t AS a, t AS b, t AS c, t AS d ORDER BY a.n * b.n * c.n * d.n)',
];

const postgres = [
  'SELECT count(*) FROM generate_series(1, 100000000000)',
  "SELECT repeat('x', 1000000000)",
  "SELECT lpad('x', 1000000000, 'y')",
  "SELECT string_agg(repeat('x', 1000000), '') FROM t",
  'SELECT array_agg(i) FROM generate_series(1, 100000000) AS i',
  "SELECT repeat('x', 1000000) FROM t",
  "SELECT repeat('a', 3000) ~ '^(a?){300}a{300}b$'",
  "SELECT regexp_replace(repeat('a', 20000), '(a|aa)+(a|aa)+(a|aa)+b', 'x', 'g')",
  "SELECT repeat('[', 100000000)::json",
  "SELECT jsonb_agg(repeat('x', 1000000)) FROM t",
  'SELECT factorial(200000)',
  'SELECT power(9.99::numeric, 20000) * power(9.99::numeric, 20000)',
  "SELECT md5(repeat('x', 1000000000))",
  "SELECT string_to_array(repeat('a,', 100000000), ',')",
  'SELECT array_fill(1, ARRAY[100000000])',
  "SELECT format('%1000000000s', 'x')",
  "SELECT repeat(repeat('x', 1000000), 1000)",
  "WITH RECURSIVE r(i, s) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, s || s FROM r) SELECT max(length(s)) FROM r",
  "SELECT to_tsvector('simple', repeat('word other ', 10000000))",
  `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ${sumOf(4)}) FROM ${cross(4)}`,
];

const mysql = [
  "SELECT repeat('x', 1000000000)",
  "SELECT length(rpad('x', 1000000000, 'y'))",
  "SELECT group_concat(repeat('x', 1000000)) FROM t",
  "SELECT json_arrayagg(repeat('x', 1000000)) FROM t",
  "SELECT repeat('x', 1000000) FROM t",
  'SELECT sleep(100)',
  "SELECT benchmark(10000000000, md5('x'))",
  "SELECT repeat('a', 30000) REGEXP '^(a+)+$b'",
  // MariaDB does not look for a KILL inside LIKE: a longer text would keep its server busy for
  // good.
  "SELECT repeat('a', 2000) LIKE '%a%a%a%b'",
  "SELECT regexp_replace(repeat('a', 10000000), 'a', 'bb')",
  "SELECT json_valid(repeat('[', 10000000))",
  "SELECT json_length(concat('[', repeat('1,', 5000000), '1]'))",
  "SELECT md5(repeat('x', 15000000)) FROM t, t AS u",
  "SELECT sum(length(repeat('xy', 5000000))) FROM t, t AS u",
  "SELECT replace(repeat('a', 15000000), 'a', 'b') FROM t",
  "SELECT hex(repeat('a', 8000000)) FROM t",
  "WITH RECURSIVE r(i, s) AS (SELECT 1, cast('x' AS char(60000)) UNION ALL SELECT i + 1, concat(s, 'xxxxxxxx') FROM r) SELECT max(length(s)) FROM r",
  `SELECT sum(${sumOf(4)} / 3.0) FROM ${cross(4)}`,
  `SELECT std(${sumOf(4)}) FROM ${cross(4)}`,
  `SELECT group_concat(${sumOf(4)}) FROM ${cross(4)}`,
];

/** Statements that need far more memory or time than a question does. Forty per engine. */
export const heavyStatements: Readonly<Record<EngineName, readonly string[]>> = {
  duckdb: [...duckdb, ...everywhere],
  sqlite: [...sqlite, ...everywhere],
  postgres: [...postgres, ...everywhere],
  mysql: [...mysql, ...everywhere],
};

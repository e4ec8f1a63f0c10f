/** A company whose tables have names that say little, and what its people ask again and again. */
export const schema = `
CREATE TABLE cu (cid INTEGER, zone VARCHAR(20), joined TIMESTAMP, touched TIMESTAMP);
CREATE TABLE sh (skey INTEGER, town VARCHAR(20));
CREATE TABLE pr (pk INTEGER, label VARCHAR(40), kind VARCHAR(20));
CREATE TABLE od (oid INTEGER, a INTEGER, b INTEGER, st VARCHAR(10) CHECK (st IN ('paid', 'open', 'void')),
  amt DECIMAL(10, 2), fee DECIMAL(10, 2), is_test BOOLEAN, placed TIMESTAMP, shipped TIMESTAMP, note VARCHAR(80));
CREATE TABLE li (lid INTEGER, x INTEGER, y INTEGER, qty INTEGER, price DECIMAL(10, 2));
CREATE TABLE nu (nid INTEGER, v INTEGER);
`;

/** Rows that make every key fit into many others: only the queries tell which joins are meant. */
export function rows(): string {
  const insert = (table: string, count: number, row: (n: number) => string): string =>
    `INSERT INTO ${table} VALUES ${Array.from({ length: count }, (_, index) => `(${row(index + 1)})`).join(', ')};`;
  const day = (n: number) => `'2026-0${(n % 9) + 1}-1${n % 9} 10:00:00'`;
  const status = ['paid', 'open', 'void'];
  return [
    insert('cu', 95, (n) => `${n}, 'z${n % 4}', ${day(n)}, ${day(n + 1)}`),
    insert('sh', 100, (n) => `${n}, 'town${n}'`),
    insert('pr', 105, (n) => `${n}, 'p${n}', 'k${n % 5}'`),
    insert('od', 400, (n) =>
      [n, ((n * 7) % 88) + 1, ((n * 11) % 70) + 1, `'${status[n % 3]}'`, n * 1.5, n % 7]
        .concat([n % 10 === 0 ? 'TRUE' : 'FALSE', day(n), day(n + 2), `'n${n}'`])
        .join(', '),
    ),
    insert(
      'li',
      500,
      (n) => `${n}, ${((n * 3) % 390) + 1}, ${((n * 13) % 90) + 1}, ${n % 5}, ${n % 50}`,
    ),
    insert('nu', 50, (n) => `${n}, ${n % 9}`),
  ].join('\n');
}

export const truth = {
  joins: ['od.a -> cu.cid', 'od.b -> sh.skey', 'li.x -> od.oid', 'li.y -> pr.pk'],
  metrics: [
    'od sum(amt) if is_test',
    'od sum(amt - fee) if is_test',
    'od count_distinct(a) if is_test',
    'li sum(qty * price)',
  ],
  filters: ['od st equals', 'od is_test flag', 'od placed range', 'li qty range'],
  times: ['od placed', 'cu joined'],
} as const;

/** `{}` stands for a text that no other run has, `{n}` for such a number. */
interface Asked {
  readonly sql: string;
  readonly runs: number;
}

/** What people ask. */
export const questions: readonly Asked[] = [
  // Joins, each in several forms.
  ...[
    `SELECT c.zone, sum(o.amt) AS s FROM od AS o JOIN cu AS c ON o.a = c.cid WHERE o.st = '{}' AND o.note <> '{}' GROUP BY c.zone`,
    `SELECT sum(amt) FROM od JOIN cu ON cu.cid = od.a WHERE od.st = '{}' AND cu.zone IN ('{}', '{}') AND NOT od.is_test AND od.placed >= '2026-01-01'`,
    `SELECT h.town, sum(od.amt) FROM od, sh AS h WHERE od.b = h.skey AND NOT od.is_test AND od.st = '{}' AND od.placed >= '2026-02-{d}' GROUP BY h.town`,
    `SELECT count(*) FROM (SELECT od.oid FROM od JOIN sh ON od.b = sh.skey WHERE od.placed > '2026-03-{d}' AND od.note = '{}') AS q`,
    `SELECT p.kind, sum(l.qty * l.price) FROM li AS l JOIN pr AS p ON l.y = p.pk WHERE l.qty > {n} AND p.label = '{}' GROUP BY p.kind`,
    `SELECT max(l.price) FROM li AS l JOIN od AS o ON l.x = o.oid JOIN pr AS p ON p.pk = l.y WHERE o.note LIKE '{}%' AND o.placed BETWEEN '2026-01-{d}' AND '2026-09-{d}'`,
    `SELECT sum(l.qty * l.price) FROM li AS l JOIN od AS o ON o.oid = l.x WHERE l.qty >= {n} AND o.note = '{}'`,
    `SELECT o.oid, l.lid FROM od AS o JOIN li AS l ON o.oid = l.x AND l.y <> {n} WHERE o.st = '{}'`,
    `SELECT c.cid, o.oid FROM cu AS c LEFT JOIN od AS o ON o.a = c.cid WHERE c.joined >= '2026-04-{d}' AND c.zone = '{}'`,
    `SELECT s.town, o.oid FROM sh AS s JOIN od AS o ON (o.b = s.skey AND o.note <> '{}') ORDER BY 1 LIMIT 5`,
    `WITH w AS (SELECT y, qty FROM li WHERE qty > {n}) SELECT pr.label FROM li JOIN pr ON li.y = pr.pk WHERE pr.kind = '{}'`,
  ].map((sql) => ({ sql, runs: 52 })),
  // Metrics.
  ...[
    `SELECT sum(amt) FROM od WHERE NOT is_test AND st = '{}' AND placed >= '2026-05-{d}'`,
    `SELECT b, sum(amt) FROM od WHERE NOT is_test AND st = '{}' AND placed < '2026-06-{d}' GROUP BY b`,
    `SELECT sum(amt - fee) FROM od WHERE st = '{}' AND NOT is_test AND placed > '2026-01-{d}'`,
    `SELECT count(DISTINCT a) FROM od WHERE st = '{}' AND NOT is_test AND placed > '2026-01-{d}'`,
    `SELECT count(DISTINCT a) FROM od WHERE placed > '2026-07-{d}' AND st = '{}' AND b = {n}`,
    `SELECT sum(amt - fee) FROM od WHERE st = '{}' AND b = {n} AND placed > '2026-07-{d}'`,
    `SELECT sum(amt - fee) FROM od WHERE st = '{}' AND a > {n} AND NOT is_test AND placed > '2026-07-{d}'`,
    `SELECT count(DISTINCT a) FROM od WHERE st = '{}' AND NOT is_test AND oid > {n} AND placed > '2026-07-{d}'`,
    `SELECT zone FROM cu WHERE joined > '2026-01-{d}' AND zone <> '{}'`,
  ].map((sql) => ({ sql, runs: 12 })),
];

/** What must not count: rare statements, those of tools, joins of few people, system tables. */
export const noise: readonly Asked[] = [
  { sql: `SELECT min(fee) FROM od WHERE note = '{}'`, runs: 2 },
  { sql: `SELECT count(*) FROM nu JOIN cu ON nu.v = cu.cid WHERE nu.nid = {n}`, runs: 1 },
  { sql: `SELECT 1 FROM od JOIN pr ON od.oid = pr.pk WHERE od.note = '{}'`, runs: 1 },
  { sql: `SELECT avg(v) FROM nu WHERE nid <> {n} AND '{}' <> ''`, runs: 3 },
];

/** What a loader runs all day. */
export const loader: readonly Asked[] = [
  { sql: `SELECT avg(price) FROM li WHERE lid > {n} AND '{}' <> ''`, runs: 40 },
  { sql: `SELECT max(touched) FROM cu WHERE zone <> '{}'`, runs: 40 },
];

/** The statements of one login: every literal is one that must never be seen again. */
export function* statementsOf(asked: readonly Asked[], share: number, canary: () => Canary) {
  for (const { sql, runs } of asked)
    for (let run = 0; run < Math.ceil(runs / share); run += 1)
      yield sql
        .replaceAll('{}', () => canary().text)
        .replaceAll('{n}', () => String(canary().number))
        .replaceAll('{d}', () => String((canary().number % 18) + 10));
}

export interface Canary {
  readonly text: string;
  readonly number: number;
}

/** Two hundred texts and numbers that nothing else has, in turn. */
export function canaries() {
  const all = Array.from({ length: 200 }, (_, index) => ({
    text: `canary${String(index).padStart(3, '0')}zq`,
    number: 770_000_000 + index * 7919,
  }));
  let next = -1;
  return {
    all,
    used: () => Math.min(next + 1, all.length),
    take: (): Canary => all[(next += 1) % all.length] ?? { text: '', number: 0 },
  };
}

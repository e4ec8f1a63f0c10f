import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { ktx } from '../cli/run-cli.ts';

const page = (formulas: Readonly<Record<string, string>>): string =>
  `| Metric | Meaning | Formula |\n|---|---|---|\n${Object.entries(formulas)
    .map(([name, formula]) => `| ${name} | As we read it. | \`${formula}\` |\n`)
    .join('')}`;

/**
 * A project whose orders have rows for the roles dach and us, each with a value of its own, a field
 * and a metric that are hidden, two conflicts (one about the hidden metric), and a row rule that
 * another tool has. The caller removes it.
 */
export async function rolesProject(): Promise<string> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-team-')));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT, city TEXT, amount INTEGER,
      status TEXT, cost_secret INTEGER);
    CREATE TABLE shops (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO shops VALUES (1, 'North'), (2, 'South');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO orders SELECT i, CASE i % 2 WHEN 0 THEN 'dach' ELSE 'us' END,
        CASE i % 2 WHEN 0 THEN 'canary-dach' ELSE 'canary-us' END, i * 10,
        CASE i % 3 WHEN 0 THEN 'open' ELSE 'paid' END, i FROM n;`);
  db.close();
  await run(cwd, 'setup', '--driver', 'sqlite', '--path', 'shop.db');
  mkdirSync(join(cwd, 'docs'));
  writeFileSync(
    join(cwd, 'docs/a.md'),
    page({ Revenue: 'sum(orders.amount)', 'Secret margin': 'avg(orders.amount)' }),
  );
  writeFileSync(
    join(cwd, 'docs/b.md'),
    page({
      Revenue: "sum(orders.amount) where status = 'paid'",
      'Secret margin': "avg(orders.amount) where status = 'paid'",
    }),
  );
  await run(cwd, 'connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs');
  await run(cwd, 'ingest');
  hideAndRule(cwd);
  return cwd;
}

/** As a person edits the file of the orders. */
function hideAndRule(cwd: string): void {
  const file = join(cwd, 'semantic-layer/warehouse/orders.yaml');
  const text = readFileSync(file, 'utf8');
  const hidden = text
    .replace('{name: cost_secret,', '{name: cost_secret, hidden: true,')
    .replace('{name: secret_margin,', '{name: secret_margin, hidden: true,');
  const rules = `access:
  - {role: dach, where: "city = 'canary-dach'"}
  - {role: us, where: "city = 'canary-us'"}
  - {role: admin, where: 'true'}
`;
  writeFileSync(file, `${hidden.trimEnd()}\n${rules}`);
  const claim = {
    subject: 'dataset:warehouse.shops',
    kind: 'possible_access',
    body: { field: 'shops.name', attribute: 'rule_secret' },
    evidence: { connection: 'bi', origin: 'code', extractor: 'bi@1', confidence: 1 },
  };
  const claims = join(cwd, 'claims/warehouse/shops.jsonl');
  writeFileSync(claims, `${readFileSync(claims, 'utf8')}${JSON.stringify(claim)}\n`);
}

async function run(cwd: string, ...argv: readonly string[]): Promise<void> {
  const { code, stderr } = await ktx(argv, { cwd });
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scanConfigSchema } from '../src/scan/config.ts';
import { scan } from '../src/scan/scan.ts';
import { withWarehouse } from './relationships/score.ts';

/**
 * `npm run bench:scan` measures the CPU time of a scan per table, in small and large warehouses
 * whose keys are all dense and start at 1, so that every column could refer to many keys. A ratio
 * near 1 means that the time grows with the number of tables, not with the number of pairs.
 */
const sizes = [200, 1000] as const;
const rounds = 3;
const adjectives =
  'sales purchase stock ship bill ledger payroll crm web store plant asset fleet tax audit risk loan claim lab course';
const nouns =
  'order line item account contact address batch rule status document note plan budget period region group member rate price unit ' +
  'level step entry payment refund receipt schedule slot device reading limit alert model template category tag session visit ' +
  'request comment file link score target forecast approval version role history type';

const dir = mkdtempSync(join(tmpdir(), 'ktx-scan-'));
try {
  await scanned(20);
  const measured = [await scanned(sizes[0]), await scanned(sizes[1])] as const;
  const [small, large] = measured;
  for (const key of ['first', 'again'] as const) {
    const cells = measured.map(
      (one, index) => `${one[key].toFixed(2)} ms a table of ${sizes[index]}`,
    );
    console.log(
      `${key.padEnd(6)} ${cells.join(', ')}; ratio ${(large[key] / small[key]).toFixed(2)}`,
    );
  }
} finally {
  rmSync(dir, { recursive: true });
}

/**
 * CPU milliseconds of this process per table: for the first scan, and for the fastest scan without
 * changes.
 */
async function scanned(size: number): Promise<{ first: number; again: number }> {
  const path = join(dir, `${size}.sqlite`);
  write(path, size);
  return withWarehouse(path, async (warehouse) => {
    const db = new DatabaseSync(':memory:');
    const options = {
      warehouse,
      scope: {},
      state: { db },
      config: scanConfigSchema.parse({}),
      signal: new AbortController().signal,
    };
    const times: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const started = process.cpuUsage();
      await scan(options);
      const { user, system } = process.cpuUsage(started);
      times.push((user + system) / 1000 / size);
    }
    db.close();
    const [first = 0, ...again] = times;
    return { first, again: Math.min(...again) };
  });
}

/** Tables that each refer to two earlier ones and have the same other columns. */
function write(path: string, size: number): void {
  const words = [adjectives.split(' '), nouns.split(' ')] as const;
  const name = (table: number): string =>
    `${words[0][table % words[0].length]}_${words[1][Math.floor(table / words[0].length)]}`;
  const db = new DatabaseSync(path);
  db.exec('BEGIN');
  for (let table = 0; table < size; table += 1) {
    const parents = [
      ...new Set(
        [7, 13].map((step) => `${name((step * step * (table + step)) % Math.max(1, table))}_id`),
      ),
    ];
    const columns = parents.map((parent) => `${parent} integer, `).join('');
    db.exec(
      `CREATE TABLE ${name(table)} (id integer, ${columns}name text, status text, quantity integer, amount decimal(12,2), sort_order integer)`,
    );
    const references = parents.map((_, index) => `value * ${index + 3} % 20 + 1, `).join('');
    const numbers = JSON.stringify(
      Array.from({ length: 20 + ((table * 31) % 150) }, (_, row) => row + 1),
    );
    db.exec(
      `INSERT INTO ${name(table)} SELECT value, ${references}'thing ' || value, substr('abc', value % 3 + 1, 1), value % 12 + 1, value * 7.25, value - 1 FROM json_each('${numbers}')`,
    );
  }
  db.exec('COMMIT');
  db.close();
}

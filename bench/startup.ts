// Measures how much longer commands take than starting Node, on the built package: starts them in
// turns and prints medians and ratios. `-- <rounds>` measures more often.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rounds = Number(process.argv[2] ?? 31);

execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });

const folder = mkdtempSync(join(tmpdir(), 'ktx-startup-'));
const demo = join(folder, 'demo');
ktx('demo', '--dir', demo, '--quiet');
const shop = join(folder, 'shop');
mkdirSync(shop);
const db = new DatabaseSync(join(shop, 'shop.db'));
db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT)');
db.exec("INSERT INTO orders VALUES (1, 'paid'), (2, 'refunded')");
db.close();
ktx('setup', '--driver', 'sqlite', '--path', 'shop.db', '--project-dir', shop);
ktx('ingest', '--quiet', '--project-dir', shop);

/** The goal is a multiple of `node -e 0`. */
const commands: readonly {
  readonly name: string;
  readonly args: readonly string[];
  goal?: number;
}[] = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'ktx --version', args: ['bin/ktx.js', '--version'], goal: 1.2 },
  { name: 'ktx --help', args: ['bin/ktx.js', '--help'], goal: 2 },
  {
    name: 'completion',
    args: ['bin/ktx.js', 'completion', '--line', `ktx --project-dir ${demo} sl query -m orders.`],
  },
  { name: 'sl list', args: ['bin/ktx.js', 'sl', 'list', '--project-dir', demo], goal: 2.5 },
  {
    name: 'sl query, SQLite',
    args: ['bin/ktx.js', 'sl', 'query', '-m', 'orders.count', '--project-dir', shop],
    goal: 6,
  },
  {
    name: 'sl query, DuckDB',
    args: ['bin/ktx.js', 'sl', 'query', '-m', 'orders.revenue', '--project-dir', demo],
    goal: 8,
  },
];
const times = commands.map((): number[] => []);
for (let round = 0; round < rounds; round += 1)
  for (const [index, { args }] of commands.entries()) times[index]?.push(milliseconds(args));
rmSync(folder, { recursive: true, force: true });

const bare = median(times[0] ?? []);
console.log(`median of ${rounds}`.padEnd(20), '     ms  ratio   goal');
for (const [index, { name, goal }] of commands.entries()) {
  const time = median(times[index] ?? []);
  const ratio = time / bare;
  const missed = goal !== undefined && ratio > goal ? '  missed' : '';
  const shown = [time.toFixed(1).padStart(7), ratio.toFixed(2).padStart(6)];
  console.log(name.padEnd(20), ...shown, `${goal ?? ''}`.padStart(6) + missed);
}

function ktx(...args: readonly string[]): void {
  milliseconds(['bin/ktx.js', ...args]);
}

function milliseconds(args: readonly string[]): number {
  const started = performance.now();
  execFileSync(process.execPath, args, { cwd: root, stdio: 'ignore' });
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

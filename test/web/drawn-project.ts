import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a shop of some size has: subjects of tables, and what their rows are about. */
const areas = [
  'sales',
  'billing',
  'shipping',
  'support',
  'catalog',
  'marketing',
  'stock',
  'staff',
  'web',
  'partners',
];
const parts = ['orders', 'lines', 'events', 'accounts', 'types', 'regions', 'statuses'];

interface DrawnSize {
  readonly datasets: number;
  readonly joins: number;
}

/**
 * A project with so many datasets and joins, as files only: facts refer to dimensions of their own
 * area and to some of others, as in real warehouses. The caller removes it.
 */
export function drawnProject({ datasets, joins }: DrawnSize): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-drawn-')));
  const folder = join(dir, 'semantic-layer/shop');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(dir, 'ktx.yaml'), 'connections:\n  shop: {driver: sqlite, path: shop.db}\n');
  const names = Array.from({ length: datasets }, (_, index) => nameOf(index));
  const targets = linksBetween(names, joins);
  for (const [index, name] of names.entries()) {
    const own = targets.get(index) ?? [];
    const fields = ['id', 'amount', ...own.map((target) => `${names[target]}_id`)];
    const lines = [
      `dataset: ${name}`,
      `source: main.${name}`,
      'primary_key: [id]',
      'fields:',
      ...fields.map((field) => `  - {name: ${field}, type: integer}`),
      'metrics:',
      '  - {name: count, agg: count}',
      '  - {name: total, agg: sum, of: amount}',
      ...(own.length === 0 ? [] : ['relationships:']),
      ...own.map((target) => `  - {to: ${names[target]}, on: {${names[target]}_id: id}}`),
    ];
    writeFileSync(join(folder, `${name}.yaml`), `${lines.join('\n')}\n`);
  }
  execFileSync('git', ['init', '--quiet'], { cwd: dir });
  return dir;
}

function nameOf(index: number): string {
  const area = areas[Math.floor(index / parts.length) % areas.length] ?? '';
  const round = Math.floor(index / (parts.length * areas.length));
  return `${area}_${parts[index % parts.length]}${round === 0 ? '' : `_${round + 1}`}`;
}

/** Every dataset to one of its area, then others across: never twice, never in a circle. */
function linksBetween(
  names: readonly string[],
  most: number,
): ReadonlyMap<number, readonly number[]> {
  const targets = new Map<number, number[]>();
  let count = 0;
  const link = (from: number, to: number): void => {
    const own = targets.get(from) ?? [];
    if (from === to || to >= names.length || own.includes(to) || count >= most) return;
    targets.set(from, [...own, to]);
    count += 1;
  };
  const size = parts.length;
  for (const [index] of names.entries()) {
    const [area, part] = [Math.floor(index / size) * size, index % size];
    if (part < 3) link(index, area + 3 + (part % 2));
    else if (part === 3) link(index, area + 5);
    else if (part === 4) link(index, area + 6);
  }
  // Across areas: facts refer to accounts and regions of the first ones.
  for (let step = 0; step < names.length * 20; step += 1) {
    const from = (step * 11) % names.length;
    const area = (step % 4) * size;
    if (from % size < 3) link(from, area + 3 + ((step * 5) % 3));
  }
  return targets;
}

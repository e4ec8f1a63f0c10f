import { existsSync } from 'node:fs';
import { cp, readdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { readConfig } from '../../project/open/config-file.ts';
import { createFolder, setUpProject, writeConnection } from '../../project/setup/setup.ts';
import { absent, readText, writeAtomically } from '../../store/files.ts';
import { git } from '../../store/git.ts';
import { ownDatabaseDriver } from '../../warehouse/config.ts';
import { invocation, shortPath, type Surroundings } from '../terminal/output.ts';

export const connection = 'shop';
const warehouseFile = ownDatabaseDriver.file.defaultName;
const config = { driver: ownDatabaseDriver.name, path: warehouseFile } as const;
export const metricFile = `semantic-layer/${connection}/orders.yaml`;

/** What lies beside the warehouse: folders that the demo gets a copy of. */
const sources = {
  dbt: { driver: 'dbt', path: 'dbt', target_schema: 'main' },
  handbook: { driver: 'docs', path: 'handbook' },
} as const;

/** What a person who knows the business writes. */
const gifts = [
  '# What went to somebody else than who paid for it.',
  '- {name: gifts, agg: count, where: recipient_id <> buyer_id}',
];

/** Completes the demo's folder: warehouse file, repository, project. Gives the names of what was made; nothing where all stood. */
export async function prepareFolder(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const ours = [warehouseFile, 'ktx.yaml', '.git', '.gitignore', '.ktx', ...Object.keys(sources)];
  const names = (await readdir(dir).catch(absent)) ?? [];
  const isOurs = names.includes('ktx.yaml')
    ? canonicalJson((await readConfig(dir)).connections[connection] ?? {}) === canonicalJson(config)
    : names.every((name) => ours.includes(name.replace(/\.new(\.wal)?$/, '')));
  if (!isOurs) {
    throw new UserError('folder_not_empty', `${dir} is no empty folder and no demo.`, {
      hint: 'choose another: ktx demo --dir <folder>',
      exitCode: 2,
    });
  }
  await createFolder(dir);
  const made: string[] = [];
  const file = join(dir, warehouseFile);
  if (!existsSync(file)) {
    const { writeWarehouseFile } = await import('./warehouse-file.ts');
    for (const leftover of ['.new', '.new.wal']) await rm(file + leftover, { force: true });
    await writeWarehouseFile(`${file}.new`);
    await rename(`${file}.new`, file);
    made.push(warehouseFile);
  }
  // A repository of its own, also inside another one: the demo is no part of that.
  if (!existsSync(join(dir, '.git'))) {
    await git(dir, ['init', '--quiet']);
    made.push('.git');
  }
  if ((await readText(join(dir, '.gitignore'))) === undefined)
    await writeAtomically(join(dir, '.gitignore'), `*${extname(warehouseFile)}\n`);
  const { written } = await setUpProject({ dir, name: connection, config }, signal);
  return [...made, ...written, ...(await addSources(dir))];
}

/** Beside a warehouse that stands; a folder that a person has changed is theirs. */
async function addSources(dir: string): Promise<readonly string[]> {
  const made: string[] = [];
  const { connections } = await readConfig(dir);
  for (const [name, source] of Object.entries(sources)) {
    if (!existsSync(join(dir, source.path))) {
      await cp(new URL(name, import.meta.url), join(dir, source.path), { recursive: true });
      made.push(`${source.path}/`);
    }
    if (connections[name] === undefined) await writeConnection({ dir, name, config: source });
  }
  return made;
}

/** Adds the metric to the text of the file, as an editor would; undefined where it is there already. */
export async function addGifts(dir: string): Promise<readonly string[] | undefined> {
  const text = (await readText(join(dir, metricFile))) ?? '';
  if (/name: gifts\b/.test(text)) return undefined;
  const lines = text.trimEnd().split('\n');
  const at = lines.indexOf('metrics:');
  const added =
    at === -1
      ? ['metrics:', ...indented('  ')]
      : indented(/^ */.exec(lines[at + 1] ?? '')?.[0] ?? '');
  lines.splice(at === -1 ? lines.length : at + 1, 0, ...added);
  await writeAtomically(join(dir, metricFile), `${lines.join('\n')}\n`);
  return added;
}

const indented = (space: string): string[] => gifts.map((line) => space + line);

/** Commands that work from where the person stands, typed as the demo itself was started. */
export function commandsToTry(dir: string, surroundings: Surroundings): readonly string[] {
  const ktx = invocation(surroundings, shortPath(surroundings.cwd, dir));
  return [
    `${ktx} review`,
    `${ktx} explain orders.revenue`,
    `${ktx} sl query -m orders.average_order -m orders.gifts -d orders.channel`,
    `${ktx} sl query -m tickets.count -d tickets.customers.regions.rgn_nm`,
    `${ktx} explain "relationship:${connection}.orders(recipient_id)"`,
    `${ktx} search "guest order"`,
  ];
}

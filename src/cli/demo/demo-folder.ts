import { existsSync } from 'node:fs';
import { cp, readdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { readConfig } from '../../project/open/config-file.ts';
import { createFolder, setUpProject, writeConnection } from '../../project/setup/setup.ts';
import { undefinedIfMissing, readText, writeAtomically } from '../../store/files.ts';
import { git } from '../../store/git.ts';
import { ownDatabaseDriver } from '../../warehouse/config.ts';
import { ktxInvocation, shortPath } from '../terminal/invocation.ts';
import type { CliHost } from '../terminal/screen.ts';

export const connection = 'shop';
export const metricFile = `semantic-layer/${connection}/orders.yaml`;
const warehouseFile = ownDatabaseDriver.file.defaultName;
const warehouseConfig = { driver: ownDatabaseDriver.name, path: warehouseFile } as const;

/** Sources beside the warehouse, by connection name; the demo gets a copy of each folder. */
const sources = {
  dbt: { driver: 'dbt', path: 'dbt', target_schema: 'main' },
  handbook: { driver: 'docs', path: 'handbook' },
  looker: { driver: 'lookml', path: 'looker' },
} as const;

/** The lines that the demo adds to `metricFile`, as a person would. */
const giftsMetric = [
  '# What went to somebody else than who paid for it.',
  '- {name: gifts, agg: count, where: recipient_id <> buyer_id}',
];

/**
 * Creates what the demo's folder lacks: warehouse file, repository, project, sources. Returns the
 * names of what it created; empty if everything was there.
 */
export async function prepareDemoFolder(
  dir: string,
  env: CliHost['env'],
  signal: AbortSignal,
): Promise<readonly string[]> {
  await requireDemoFolder(dir);
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
  // The demo gets its own repository, even inside another one.
  if (!existsSync(join(dir, '.git'))) {
    await git(dir, ['init', '--quiet']);
    made.push('.git');
  }
  if ((await readText(join(dir, '.gitignore'))) === undefined)
    await writeAtomically(join(dir, '.gitignore'), `*${extname(warehouseFile)}\n`);
  const { written } = await setUpProject(
    { dir, name: connection, config: warehouseConfig, env },
    signal,
  );
  return [...made, ...written, ...(await addSources(dir))];
}

/** Throws unless the folder is empty, a demo, or what an interrupted demo left. */
async function requireDemoFolder(dir: string): Promise<void> {
  const ownFiles = [
    warehouseFile,
    'ktx.yaml',
    '.git',
    '.gitignore',
    '.ktx',
    ...Object.keys(sources),
  ];
  const names = (await readdir(dir).catch(undefinedIfMissing)) ?? [];
  const isDemo = names.includes('ktx.yaml')
    ? canonicalJson((await readConfig(dir)).connections[connection] ?? {}) ===
      canonicalJson(warehouseConfig)
    : names.every((name) => ownFiles.includes(name.replace(/\.new(\.wal)?$/, '')));
  if (isDemo) return;
  throw new UserError('folder_not_empty', `${dir} is not empty and not a demo.`, {
    hint: 'choose another folder: ktx demo --dir <folder>',
    exitCode: 2,
  });
}

/** Copies a source's folder only if it is missing, so that people's changes stay. */
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

/**
 * Adds the metric to `metricFile`, as a person would in an editor. Returns the lines; undefined if
 * it is there already.
 */
export async function addGiftsMetric(dir: string): Promise<readonly string[] | undefined> {
  const text = (await readText(join(dir, metricFile))) ?? '';
  if (/name: gifts\b/.test(text)) return undefined;
  const lines = text.trimEnd().split('\n');
  const metricsLine = lines.indexOf('metrics:');
  const indent = metricsLine === -1 ? '  ' : (/^ */.exec(lines[metricsLine + 1] ?? '')?.[0] ?? '');
  const indented = giftsMetric.map((line) => indent + line);
  const added = metricsLine === -1 ? ['metrics:', ...indented] : indented;
  lines.splice(metricsLine === -1 ? lines.length : metricsLine + 1, 0, ...added);
  await writeAtomically(join(dir, metricFile), `${lines.join('\n')}\n`);
  return added;
}

/** Commands that work from the current folder, with `ktx` as the demo itself was started. */
export function commandsToTry(dir: string, host: CliHost): readonly string[] {
  const ktx = ktxInvocation(host, shortPath(host.cwd, dir));
  return [
    `${ktx} review`,
    `${ktx} explain orders.revenue`,
    `${ktx} sl query -m orders.average_order -m orders.gifts -d orders.channel`,
    `${ktx} sl query -m tickets.count -d tickets.customers.regions.rgn_nm`,
    `${ktx} explain "relationship:${connection}.orders(recipient_id)"`,
    `${ktx} search "guest order"`,
  ];
}

/** What a person may want next, and the command for it. They work from the current folder. */
export function nextChoices(
  dir: string,
  host: CliHost,
): readonly (readonly [choice: string, command: string])[] {
  const anywhere = ktxInvocation(host, undefined);
  const inDemo = ktxInvocation(host, shortPath(host.cwd, dir));
  return [
    ['ask it', `${inDemo} sl query revenue -d orders.channel`],
    ['decide', `${inDemo} review`],
    ['look at it', `${inDemo} web --open`],
    ['see each step', `${anywhere} demo --dir ${shortPath(host.cwd, dir)} --tour`],
    ['connect yours', `${anywhere} setup`],
  ];
}

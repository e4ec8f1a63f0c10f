import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { runKtxJson, startKtx } from './ktx-process.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What a variable of this process may do to npm or to ktx stays out of the clean home. */
const ownVariables = /^(?:npm_|KTX_|XDG_|CLAUDE|ANTHROPIC|NODE_OPTIONS$|NODE_COMPILE_CACHE$)/i;

/** The environment of a person with an empty home. The folders of the clone are not on the path. */
export function cleanEnvironment(home: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !ownVariables.test(name));
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.filter((folder) => !folder.includes('node_modules'));
  const own = [dirname(process.execPath), ...path].join(delimiter);
  return { ...Object.fromEntries(inherited), HOME: home, USERPROFILE: home, PATH: own };
}

/** True if the package can be fetched from npm's own registry. */
export function canFetch(packageName: string): boolean {
  const home = mkdtempSync(join(tmpdir(), 'ktx-npm-'));
  const words = ['view', packageName, 'version', '--fetch-retries=0', '--fetch-timeout=20000'];
  const { status } = spawnSync('npm', words, { env: cleanEnvironment(home), cwd: home });
  rmSync(home, { recursive: true, force: true });
  return status === 0;
}

interface Around {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export type PackedKtx = Awaited<ReturnType<typeof installPackedKtx>>;

/** ktx as npm would publish it, installed with its dependencies into a clean folder. */
export async function installPackedKtx() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-packed-')));
  const [home, app] = [join(folder, 'home'), join(folder, 'app')];
  for (const path of [home, app]) mkdirSync(path);
  const env = cleanEnvironment(home);
  const pack = ['pack', '--json', '--loglevel=error', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: root });
  const { filename } = JSON.parse(stdout.slice(stdout.indexOf('[\n')))[0];
  writeFileSync(join(app, 'package.json'), '{"private": true}');
  const install = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    join(folder, filename),
  ];
  await run('npm', install, { cwd: app, env });
  const main = join(app, 'node_modules/ktx/bin/ktx.js');
  const given = ({ cwd = app, env: added = {} }: Around) => ({
    cwd,
    env: { ...env, ...added },
    main,
  });
  return {
    app,
    home,
    packageFolder: join(app, 'node_modules/ktx'),
    start: (argv: readonly string[], around: Around = {}) => startKtx(argv, given(around)),
    runJson: (argv: readonly string[], around: Around = {}) => runKtxJson(argv, given(around)),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

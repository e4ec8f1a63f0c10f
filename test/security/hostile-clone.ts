import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { shopDatabase } from '../cli/run-cli.ts';
import { startKtx } from '../support/ktx-process.ts';

/** Content of everything outside the clone, and of the environment, that must not get out. */
export const secretMark = 'SECRET-OUTSIDE-55d2c0';

/** A project as it comes from a stranger, on a machine that has secrets. */
export interface Clone {
  /** The clone. */
  readonly dir: string;
  /** A folder beside it that belongs to the person. */
  readonly outside: string;
  readonly home: string;
  /** Port of the stranger's server on 127.0.0.1. */
  readonly port: number;
  /** Writes a file of the clone. */
  write(path: string, text: string): void;
  /** Adds text to `ktx.yaml`: entries of `connections`, or a whole section. */
  connect(entry: string): void;
  section(text: string): void;
  /** A shell command that leaves a trace of its name. */
  trace(name: string): string;
  /** Names of the traces: what has run. */
  traces(): readonly string[];
  git(...args: readonly string[]): void;
}

interface CloneOptions {
  readonly port: number;
}

/** A clone with a small database, one dataset, one agent, one page: all of them harmless. */
export function makeClone({ port }: CloneOptions): Clone & Disposable {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-hostile-')));
  const [dir, outside, home] = ['clone', 'clone-evil', 'home'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const traces = join(root, 'traces');
  const connections: string[] = ['  shop: {driver: sqlite, path: shop.db}'];
  const sections: string[] = [];
  for (const folder of [dir, outside, home, traces, join(home, '.ssh')]) mkdirSync(folder);
  writeFileSync(join(outside, 'secret.txt'), secretMark);
  writeFileSync(join(outside, 'secret.md'), `# Secret\n\n${secretMark}\n`);
  writeFileSync(join(outside, 'secret.csv'), `id,word\n1,${secretMark}\n`);
  writeFileSync(join(home, '.ssh/id_rsa'), secretMark);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  const writeConfig = (): void =>
    write('ktx.yaml', `connections:\n${connections.join('\n')}\n${sections.join('\n')}\n`);
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=Mallory', '-c', 'user.email=m@example.test'];
    execFileSync('git', [...identity, ...args], { cwd: dir, stdio: 'ignore' });
  };
  shopDatabase(join(dir, 'shop.db'));
  writeConfig();
  writeHarmlessFiles(write);
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'A project');
  return {
    dir,
    outside,
    home,
    port,
    write,
    connect(entry) {
      connections.push(`  ${entry}`);
      writeConfig();
    },
    section(text) {
      sections.push(text);
      writeConfig();
    },
    trace: (name) => `echo ran > '${join(traces, name)}'`,
    traces: () => (existsSync(traces) ? readdirSync(traces) : []),
    git,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function writeHarmlessFiles(write: Clone['write']): void {
  write(
    'semantic-layer/shop/orders.yaml',
    'dataset: orders\nsource: orders\nprimary_key: [id]\nfields:\n  - {name: id, type: integer}\n  - {name: amount, type: integer}\nmetrics:\n  - {name: total, agg: sum, of: amount}\n',
  );
  write('agents/helper.yaml', 'name: helper\n');
  write('wiki/orders.md', '---\ntitle: Orders\n---\nAn order is paid or open.\n');
  write(
    'evals/basic.yaml',
    'cases:\n  - {id: one, question: "How many orders?", expect: {text: {contains: ["60"]}}}\n',
  );
}

interface Plantable {
  readonly plant: (clone: Clone) => void;
}

/**
 * Plants several tricks in one clone. Of a connection, each gets a name of its own; of a section,
 * the first counts.
 */
export function plantTogether(clone: Clone, tricks: readonly Plantable[]): void {
  const names = new Set<string>();
  const shared: Clone = {
    ...clone,
    connect(entry) {
      const [name = ''] = entry.split(':');
      const unique = names.has(name) ? `${name}${names.size}` : name;
      names.add(unique);
      clone.connect(entry.replace(name, unique));
    },
    section(text) {
      const [name = ''] = text.split(':');
      if (!names.has(name)) clone.section(text);
      names.add(name);
    },
  };
  for (const { plant } of tricks)
    try {
      plant(shared);
    } catch (error) {
      // Two tricks want the same path: one of them is enough.
      if (!/EEXIST/.test(String(error))) throw error;
    }
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command as a process: no terminal, a home of its own, secrets in the environment. */
export async function runIn(
  { dir, home }: Clone,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return startKtx(argv, {
    cwd: dir,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      CI: 'true',
      CANARY_KEY: secretMark,
      ANTHROPIC_API_KEY: secretMark,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...env,
    },
  }).ended;
}

/**
 * Paths of the clone's files that contain the mark, and `history` if a commit does; links are not
 * followed.
 */
export function filesWithSecret({ dir }: Clone): string[] {
  const options = ['--all', '--text', '--no-textconv', '--no-ext-diff', '-p'];
  const history = execFileSync('git', ['log', ...options], { cwd: dir, encoding: 'latin1' });
  return [...filesIn(dir, secretMark), ...(history.includes(secretMark) ? ['history'] : [])];
}

function filesIn(folder: string, mark: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path, mark);
    return entry.isFile() && readFileSync(path).includes(mark) ? [path] : [];
  });
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text as readAll } from 'node:stream/consumers';
import { envelopeSchema, ktx } from '../cli/run-cli.ts';
import { run, write } from '../store/git-project.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { claudeBinary, makeClaudeHome, type ClaudeHome } from '../support/claude-home.ts';
import { openModelEndpoint, type ModelEndpoint } from '../support/model-endpoint.ts';
import { shopProject } from './ingest-project.ts';
import { approve } from '../support/approve.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/**
 * One backend of each kind: a provider's API, and the real Claude Code binary where there is one.
 */
export const twoBackends = ['anthropic', 'claude-code'].filter(
  (backend) => backend !== 'claude-code' || claudeBinary() !== undefined,
);

/** The backends of this run: `test/slow-suites.ts` names the files that leave Claude Code out. */
export const backendsOfRun = twoBackends.filter(
  (backend) => backend !== 'claude-code' || hasSlowCases,
);

/** A scripted model, and a machine whose processes reach it. */
export interface ModelMachine {
  readonly endpoint: ModelEndpoint;
  readonly claude: ClaudeHome;
  close(): Promise<void>;
}

export async function openMachine(): Promise<ModelMachine> {
  process.env['TEST_KEY'] = 'sk-made-up';
  const endpoint = await openModelEndpoint();
  const claude = await makeClaudeHome(endpoint);
  const close = async () => {
    await claude.remove();
    await endpoint.close();
  };
  return { endpoint, claude, close };
}

/**
 * The shop with that backend and a folder of documents, `docs/`, as the source `handbook`;
 * `settings` is further YAML of `ktx.yaml`.
 */
export function documentedShop(
  machine: ModelMachine,
  backend: string,
  { settings = '', ...documents }: Readonly<Record<string, string>>,
): string {
  const dir = shopProject();
  const llm = llmSettings(machine, backend);
  write(
    dir,
    'ktx.yaml',
    `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n  handbook: {driver: docs, path: docs}\n${llm}${settings}`,
  );
  for (const [name, text] of Object.entries(documents)) write(dir, `docs/${name}`, text);
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'a model');
  return dir;
}

/** The section `llm` of `ktx.yaml`. */
export function llmSettings({ endpoint }: ModelMachine, backend: string): string {
  const api = `{backend: anthropic, anthropic: {api_key: env:TEST_KEY, base_url: ${endpoint.url}/v1}}`;
  const [provider, model] =
    backend === 'anthropic' ? [api, 'claude-sonnet-4-6'] : [`{backend: ${backend}}`, 'sonnet'];
  return `llm:\n  provider: ${provider}\n  models: {default: ${model}}\n`;
}

export interface IngestEnd {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly events: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly data: Readonly<Record<string, unknown>>;
}

interface IngestOptions {
  /** The command in place of `ingest`. */
  readonly args?: readonly string[];
  /** Receives what ends the process; `ktx` then runs as a process of its own. */
  readonly onStart?: (end: (signal: 'SIGKILL' | 'SIGINT') => void) => void;
}

/** `ktx ingest --json`: in this process, or in one of its own where a test ends it. */
export async function ingestCommand(
  { claude }: ModelMachine,
  dir: string,
  { args = ['ingest'], onStart }: IngestOptions = {},
): Promise<IngestEnd> {
  const env = { ...claude.env, TEST_KEY: 'sk-made-up' };
  const argv = [...args, '--json', '--project-dir', dir];
  if (onStart === undefined) {
    const { code, stdout } = await ktx(argv, { cwd: dir, env });
    return ingestEnd(code, stdout);
  }
  await approve(dir, env);
  const child = spawn(process.execPath, [main, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onStart((signal) => child.kill(signal));
  const [stdout, [code]] = await Promise.all([readAll(child.stdout), once(child, 'close')]);
  return ingestEnd(code, stdout);
}

function ingestEnd(code: number | null, stdout: string): IngestEnd {
  if (code === null) return { code, events: [], data: {} };
  const [last, ...events] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as IngestEnd['events'][number])
    .toReversed();
  const { data } = envelopeSchema.parse(last);
  return { code, events: events.toReversed(), data: data as IngestEnd['data'] };
}

/** What ktx wrote for people and into git, by path. */
export function artifactsOf(dir: string): Record<string, string> {
  const paths = globSync(
    [
      'semantic-layer/**/*.yaml',
      'claims/**/*.jsonl',
      'wiki/*.md',
      'sources/**/*',
      'conflicts.yaml',
    ],
    { cwd: dir, withFileTypes: true },
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    paths.map((path) => [path.slice(dir.length + 1), readFileSync(path, 'utf8')]),
  );
}

/** How many results the journal of paid calls holds. */
export function keptIn(dir: string): number {
  const db = new DatabaseSync(join(dir, '.ktx/journal.db'), { readOnly: true });
  try {
    return Number(db.prepare('SELECT count(*) AS n FROM results').get()?.['n']);
  } finally {
    db.close();
  }
}

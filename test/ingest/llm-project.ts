import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { envelopeSchema } from '../cli/run-cli.ts';
import { run, write } from '../store/git-project.ts';
import { claudeBinary, makeClaudeHome, type ClaudeHome } from '../support/claude-home.ts';
import { openModelEndpoint, type ModelEndpoint } from '../support/model-endpoint.ts';
import { shopProject } from './ingest-project.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** One backend of each kind: a provider's API, and the real Claude Code binary where there is one. */
export const twoBackends = ['anthropic', 'claude-code'].filter(
  (backend) => backend !== 'claude-code' || claudeBinary() !== undefined,
);

/** A scripted model, and a machine whose processes reach it. */
export interface ModelMachine {
  readonly endpoint: ModelEndpoint;
  readonly claude: ClaudeHome;
  close(): Promise<void>;
}

export async function openMachine(): Promise<ModelMachine> {
  const endpoint = await openModelEndpoint();
  const claude = await makeClaudeHome(endpoint);
  const close = async () => {
    await claude.remove();
    await endpoint.close();
  };
  return { endpoint, claude, close };
}

/** The shop with that backend and a folder of documents, `docs/`, as the source `handbook`; `settings` is further YAML of `ktx.yaml`. */
export function documentedShop(
  { endpoint }: ModelMachine,
  backend: string,
  { settings = '', ...documents }: Readonly<Record<string, string>>,
): string {
  const dir = shopProject();
  const api = `{backend: anthropic, anthropic: {api_key: env:TEST_KEY, base_url: ${endpoint.url}/v1}}`;
  const [provider, model] =
    backend === 'anthropic' ? [api, 'claude-sonnet-4-6'] : [`{backend: ${backend}}`, 'sonnet'];
  const llm = `llm:\n  provider: ${provider}\n  models: {default: ${model}}\n`;
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

export interface IngestEnd {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly events: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly data: Readonly<Record<string, unknown>>;
}

interface AsProcess {
  /** In place of `ingest`. */
  readonly args?: readonly string[];
  /** Gets what ends it. */
  readonly onStart?: (end: (signal: 'SIGKILL' | 'SIGINT') => void) => void;
}

/** `ktx ingest --json` as a process of its own. */
export function ingestProcess(
  { claude }: ModelMachine,
  dir: string,
  { args = ['ingest'], onStart }: AsProcess = {},
): Promise<IngestEnd> {
  const env = { ...claude.env, TEST_KEY: 'sk-made-up' };
  const child = spawn(process.execPath, [main, ...args, '--json', '--project-dir', dir], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  onStart?.((signal) => child.kill(signal));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      if (code === null) return resolve({ code, events: [], data: {} });
      const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
      const [last, ...events] = lines
        .map((line) => JSON.parse(line) as IngestEnd['events'][number])
        .toReversed();
      const { data } = envelopeSchema.parse(last);
      return resolve({ code, events: events.toReversed(), data: data as IngestEnd['data'] });
    });
  });
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

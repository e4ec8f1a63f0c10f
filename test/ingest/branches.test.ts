import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import { openProject } from '../../src/project/open/open.ts';
import { read, run, write } from '../store/git-project.ts';
import { approve } from '../support/approve.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { copyOf, shopProject } from './ingest-project.ts';

// Two people on two branches, any resolution that git offers, then an ingest: the files are as if
// one had done both in sequence, and nothing of theirs is lost.

const columns = [
  ['customers', 'name'],
  ['customers', 'region'],
  ['orders', 'amount'],
  ['orders', 'status'],
  ['orders', 'customer_id'],
] as const;
type Texts = Readonly<Record<string, string>>;

const startTexts: Texts = Object.fromEntries(
  columns.map(([, column]) => [column, `the ${column}`]),
);

function writeDocs(dir: string, texts: Texts): void {
  for (const table of ['customers', 'orders']) {
    const rows = columns
      .filter(([own]) => own === table)
      .map(([, column]) => `| ${column} | ${texts[column]} |`);
    const head = `## ${table}\n\n| Column | Description |\n|---|---|\n`;
    write(dir, `docs/${table}.md`, `${head}${rows.join('\n')}\n`);
  }
}

async function ingest(dir: string, codes: readonly number[] = [0]): Promise<void> {
  await approve(dir);
  const project = await openProject(dir);
  try {
    const signal = AbortSignal.timeout(60_000);
    const report = await ingestProject(project, { connections: [], signal });
    expect(codes).toContain(report.exitCode);
  } finally {
    await project.close();
  }
}

let template: Promise<string> | undefined;
async function startProject(): Promise<string> {
  template ??= (async () => {
    const dir = shopProject();
    write(
      dir,
      'ktx.yaml',
      'connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n  handbook: {driver: docs, path: docs}\n',
    );
    writeDocs(dir, startTexts);
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', 'documents');
    await ingest(dir);
    return dir;
  })();
  return copyOf(await template);
}

interface Edit {
  readonly name: string;
  readonly words: string;
  readonly isPersons: boolean;
}

interface Change {
  readonly column: number;
  /** In the documents, or in the dataset file. */
  readonly isPersons: boolean;
}

const resolutions = [
  'ours',
  'theirs',
  'claims theirs',
  'claims ours',
  'markers',
  'no claims',
] as const;

const changes = fc.array(
  fc.record({ column: fc.nat(columns.length - 1), isPersons: fc.boolean() }),
  { minLength: 1, maxLength: 3 },
);
const histories = fc.record({
  branches: fc.tuple(changes, changes),
  resolution: fc.constantFrom(...resolutions),
  hasAttributes: fc.boolean(),
  /** Both branches are merged into main, as pull requests are, and not one into the other. */
  isIntoMain: fc.boolean(),
  movesOn: fc.boolean(),
});

/** Makes the changes on a branch of that name, each with an ingest. */
async function work(dir: string, branch: string, list: readonly Change[]): Promise<void> {
  run(dir, 'checkout', '-q', '-b', branch, 'main');
  for (const [index, { column, isPersons }] of list.entries()) {
    const [table, name] = columns[column] ?? columns[0];
    const path = isPersons ? `semantic-layer/shop/${table}.yaml` : `docs/${table}.md`;
    const text = isPersons ? `person ${branch} ${index}` : `changed by ${branch} ${index}`;
    write(dir, path, changed(read(dir, path), { name, words: text, isPersons }));
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', `${branch} ${index}`, '--allow-empty');
    await ingest(dir);
  }
}

/** The text with other words about a column. */
function changed(text: string, { name, words, isPersons }: Edit): string {
  const pattern = isPersons
    ? new RegExp(`(- name: ${name}\\n(?: {4}(?!description).*\\n)*? {4}description: ).*`)
    : new RegExp(`(\\| ${name} \\| ).*( \\|)`);
  return text.replace(pattern, `$1${words}${isPersons ? '' : '$2'}`);
}

function merge(dir: string, resolution: (typeof resolutions)[number]): void {
  const side = resolution === 'theirs' || resolution === 'claims ours' ? 'theirs' : 'ours';
  try {
    run(dir, 'merge', '-q', '--no-edit', 'theirs');
  } catch {
    const conflicted = run(dir, 'diff', '--name-only', '--diff-filter=U').split('\n');
    for (const path of conflicted.filter(Boolean)) {
      const isGenerated = path.startsWith('claims/');
      if (resolution === 'markers' && isGenerated) continue;
      const claimsSide = resolution === 'claims theirs' ? 'theirs' : 'ours';
      const chosen = isGenerated && resolution.startsWith('claims') ? claimsSide : side;
      run(dir, 'checkout', `--${chosen}`, '--', path);
    }
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', 'merged');
  }
  if (resolution !== 'no claims') return;
  rmSync(join(dir, 'claims'), { recursive: true });
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'no claims');
}

/** The texts of all values of the dataset files, by file and path. */
function valuesOf(dir: string): Map<string, string> {
  const values = new Map<string, string>();
  const walk = (path: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) values.set(path, String(value));
    else
      for (const [key, inner] of Object.entries(value)) {
        const name = (inner as { name?: unknown } | null)?.name;
        walk(`${path}.${typeof name === 'string' ? name : key}`, inner);
      }
  };
  for (const file of readdirSync(join(dir, 'semantic-layer/shop')))
    walk(file, load(read(dir, `semantic-layer/shop/${file}`)));
  return values;
}

const isOfPerson = (text: string | undefined) => text?.startsWith('person ') === true;

async function tryHistory(history: typeof histories extends fc.Arbitrary<infer T> ? T : never) {
  const dir = await startProject();
  if (!history.hasAttributes) {
    run(dir, 'rm', '-q', '.gitattributes');
    run(dir, 'commit', '-qm', 'no attributes');
  }
  await work(dir, 'theirs', history.branches[1]);
  await work(dir, 'ours', history.branches[0]);
  if (history.isIntoMain) {
    run(dir, 'checkout', '-q', 'main');
    run(dir, 'merge', '-q', '--no-ff', '--no-edit', 'ours');
  }
  merge(dir, history.resolution);
  const merged = valuesOf(dir);
  // Without claims nobody can tell ktx's former texts from a person's.
  if (history.movesOn && history.resolution !== 'no claims')
    write(
      dir,
      'docs/orders.md',
      changed(read(dir, 'docs/orders.md'), { name: 'status', words: 'moved on', isPersons: false }),
    );
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'goes on', '--allow-empty');
  // Conflict markers that were committed are named, once.
  await ingest(dir, history.resolution === 'markers' ? [0, 3] : [0]);
  const result = valuesOf(dir);
  for (const path of ['semantic-layer', 'claims', 'sources'])
    rmSync(join(dir, path), { recursive: true });
  execFileSync('git', ['rm', '-rq', '--cached', '.'], { cwd: dir });
  run(dir, 'commit', '-qm', 'anew', '--allow-empty');
  await ingest(dir);
  const wanted = valuesOf(dir);
  rmSync(dir, { recursive: true });
  for (const path of new Set([...merged.keys(), ...wanted.keys(), ...result.keys()])) {
    const person = merged.get(path);
    expect([path, result.get(path)]).toEqual([
      path,
      isOfPerson(person) ? person : wanted.get(path),
    ]);
  }
}

/** A file of one side beside claims that git united from both. */
const knownHistory = {
  branches: [
    [2, 0].map((column) => ({ column, isPersons: false })),
    [3, 0].map((column) => ({ column, isPersons: false })),
  ],
  resolution: 'ours',
  hasAttributes: false,
  movesOn: true,
} as const;
const examples: [Parameters<typeof tryHistory>[0]][] = [false, true].map((isIntoMain) => [
  { ...knownHistory, branches: [...knownHistory.branches], isIntoMain },
]);

describe('two branches and their merge', () => {
  test(
    'end in the files of one sequence, whatever the resolution',
    { timeout: 1_200_000 },
    async () => {
      const numRuns = Number(process.env['KTX_HISTORIES'] ?? (hasSlowCases ? 60 : 3));
      await fc.assert(fc.asyncProperty(histories, tryHistory), {
        numRuns,
        examples,
      });
    },
  );
});

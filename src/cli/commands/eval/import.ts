import { existsSync } from 'node:fs';
import { basename, extname, join, relative, resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Project } from '../../../project/open/open.ts';
import { readText, writeAtomically } from '../../../store/files.ts';
import { slug } from '../../../context/catalog/slug.ts';
import { defineCommand, type CommandContext, type NextStep } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { importFormats, readQuestionFile } from './question-files.ts';

/** More reasons than these are counted only; `--json` has all. */
const mostShown = 10;

export const importCommand = defineCommand({
  description:
    'Makes a question set of the questions and golden SQL of a benchmark: dev.json of BIRD or Spider, spider2-lite.jsonl (its local ' +
    'part), benchmark_questions.ttl of dbt Labs, or a CSV file with the columns question and sql. A question runs on the connection that has the name of its database. Golden SQL that cannot be run is left out ' +
    'and listed; a later import adds it. Keeps existing cases. Uses no model.',
  examples: [
    ['ktx eval import bird/dev.json --databases bird/dev_databases', 'into evals/dev.yaml'],
    ['ktx eval import questions.csv board --connection warehouse', 'into evals/board.yaml'],
    ['ktx eval import spider/dev.json --limit 50 --dry-run', 'prints the first fifty'],
    [
      'ktx eval import spider2-lite/spider2-lite.jsonl --add-connections spider2-lite/resource/databases/spider2-localdb',
      'also connects the databases that the questions name',
    ],
  ],
  define: (command) =>
    command
      .argument(
        '<file>',
        'JSON of BIRD or Spider, JSON lines of Spider 2, Turtle of dbt Labs, or CSV',
      )
      .argument('[set]', 'name of the question set (default: that of the file)')
      .addOption(
        new Option('--format <format>', 'what the file is, if it does not show').choices(
          importFormats,
        ),
      )
      .option('--connection <name>', 'the warehouse of all questions')
      .option('--databases <folder>', 'where <database>/<database>.sqlite are')
      .option(
        '--add-connections <folder>',
        'add the SQLite and DuckDB files of the folder that questions name as connections',
      )
      .option('--limit <count>', 'most new cases', parseLimit)
      .option('--dry-run', 'write nothing'),
  async run({ args: [path, given], options }, context) {
    const { host, progress, signal } = context;
    const name = given ?? basename(path, extname(path)).toLowerCase();
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(name))
      throw usageError(
        'The name of a question set may contain a-z, 0-9, _ and -.',
        'ktx eval import questions.csv revenue',
      );
    const read = await readQuestionFile(resolve(host.cwd, path), path, options.format);
    const folder = options.dryRun === true ? undefined : options.addConnections;
    const { project, attached, close } = await openWithDatabases({ folder, ...read }, context);
    const [{ importQuestions }, { editQuestionSet }] = await Promise.all([
      import('../../../eval/cases/import/import-questions.ts'),
      import('../../../eval/cases/edit-question-set.ts'),
    ]);
    const file = `evals/${name}.yaml`;
    const target = join(project.dir, file);
    const before = await readText(target, project.dir);
    const otherFile = 'ktx eval import <file> <name>';
    const editor = editQuestionSet(before, { file, header: { connection: undefined }, otherFile });
    const { cases, kept, weak, left, missing } = await importQuestions(project, {
      ...read,
      connection: options.connection,
      known: editor.ids,
      limit: options.limit ?? Infinity,
      signal,
      onQuestion: (done) =>
        progress.update('reading the questions', { done, total: read.questions.length }),
    }).finally(close);
    for (const each of cases) editor.addCase({ ...each });
    const written = options.dryRun !== true && cases.length > 0;
    if (written) await writeAtomically(target, editor.toText(), { within: project.dir });
    const there = kept === 0 ? '' : `, ${kept} already there`;
    const summary = `${formatCount(cases.length, 'new case')}${written ? ` in ${file}` : ''}${there}.`;
    const all = [...attached.refused, ...left];
    const databases =
      options.databases === undefined ? undefined : resolve(host.cwd, options.databases);
    return {
      data: {
        file,
        added: cases.map(({ id }) => id),
        kept,
        written,
        weak,
        left: all,
        missing,
        connections: attached.added,
      },
      text: options.dryRun === true ? `${editor.toText()}${summary}` : summary,
      notes: importNotes({ added: attached.added, left: all, weak }),
      next: [
        ...missing.slice(0, 3).map((each) => connectStep(each.database, databases, project.dir)),
        ...(cases.length === 0 ? [] : ([[`ktx eval run ${name}`, 'asks an agent']] as NextStep[])),
      ],
    };
  },
});

interface ImportOutcome {
  /** Names of new connections. */
  readonly added: readonly string[];
  readonly left: readonly { readonly what: string; readonly why: string }[];
  readonly weak: readonly string[];
}

function importNotes({ added, left, weak }: ImportOutcome): readonly string[] {
  const shown = left.slice(0, mostShown);
  const more = left.length - shown.length;
  return [
    ...(added.length === 0 ? [] : [`added ${formatCount(added.length, 'connection')} to ktx.yaml`]),
    ...shown.map(({ what, why }) => `left out: ${escapeControls(what)}: ${escapeControls(why)}`),
    ...(more > 0 ? [`and ${more} more are left out: --json lists all`] : []),
    ...(weak.length === 0
      ? []
      : [`${formatCount(weak.length, 'case')} with empty golden rows: weak`]),
  ];
}

interface AttachedDatabases {
  /** Names of new connections. */
  readonly added: readonly string[];
  readonly refused: readonly { readonly what: string; readonly why: string }[];
}

const noConnections: AttachedDatabases = { added: [], refused: [] };

interface DatabaseFolder {
  /** Undefined if no connection is wanted. */
  readonly folder: string | undefined;
  readonly questions: readonly { readonly database: string | undefined }[];
}

/** The project with the databases of the folder. What `close` closes is what this opened. */
async function openWithDatabases(
  { folder, questions }: DatabaseFolder,
  context: CommandContext,
): Promise<{ project: Project; attached: AttachedDatabases; close: () => Promise<void> }> {
  const opened = await context.project();
  const nothing = async () => undefined;
  if (folder === undefined) return { project: opened, attached: noConnections, close: nothing };
  const { env, cwd } = context.host;
  const place = { folder: resolve(cwd, folder), questions };
  const attached = await addConnections(opened, place, context);
  if (attached.added.length === 0) return { project: opened, attached, close: nothing };
  // The open project does not know what was added.
  const { openProject } = await import('../../../project/open/open.ts');
  const project = await openProject(opened.dir, { env, role: opened.role });
  return { project, attached, close: () => project.close() };
}

/**
 * Connects the databases that the questions name and that have no connection. An existing
 * connection stays as it is.
 */
async function addConnections(
  { dir, config }: Project,
  { folder, questions }: DatabaseFolder & { readonly folder: string },
  { host, progress, signal }: CommandContext,
): Promise<AttachedDatabases> {
  const [{ findDatabases }, { setUpProject }] = await Promise.all([
    import('../../../eval/cases/import/find-databases.ts'),
    import('../../../project/setup/setup.ts'),
  ]);
  const there = new Set(Object.keys(config.connections).map((name) => name.toLowerCase()));
  const wanted = questions
    .flatMap(({ database }) => database ?? [])
    .filter((name) => !there.has(name.toLowerCase()) && !there.has(slug(name)));
  const { databases, refused } = await findDatabases(folder, [...new Set(wanted)]);
  const added: string[] = [];
  const failed: AttachedDatabases['refused'][number][] = [];
  for (const { name, driver, path } of databases) {
    progress.update(`connecting to ${name}`);
    const inside = relative(dir, path);
    const place = inside.startsWith('..') ? path : inside;
    const connection = { dir, name, config: { driver, path: place }, env: host.env };
    try {
      await setUpProject(connection, signal);
      added.push(name);
    } catch (error) {
      if (!(error instanceof UserError) || signal.aborted) throw error;
      failed.push({ what: name, why: error.message });
    }
  }
  return { added, refused: [...refused, ...failed] };
}

/** How to connect a database that the questions name. The name is that of a stranger's file. */
function connectStep(database: string, folder: string | undefined, dir: string): NextStep {
  const isPlain = /^[A-Za-z0-9_][\w-]*$/.test(database);
  const file = folder === undefined ? undefined : join(folder, database, `${database}.sqlite`);
  const isThere = isPlain && file !== undefined && existsSync(file);
  const path = isThere ? relative(dir, file) : '<file>';
  const name = slug(database);
  return [
    `ktx connection add ${name} --driver sqlite --path ${JSON.stringify(path)}`,
    `connects ${escapeControls(database)}; then import again`,
  ];
}

function parseLimit(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('must be a whole number above 0.');
}

import { existsSync } from 'node:fs';
import { basename, extname, join, relative, resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { readText, writeAtomically } from '../../../store/files.ts';
import { slug } from '../../../context/catalog/slug.ts';
import { defineCommand, type NextStep } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { escapeControls } from '../../terminal/text-width.ts';

const formats = ['bird', 'spider', 'csv'] as const;
type ImportFormat = (typeof formats)[number];

/** More reasons than these are counted only; `--json` has all. */
const mostShown = 10;

export const importCommand = defineCommand({
  description:
    'Makes a question set of the questions and golden SQL of a benchmark: dev.json of BIRD or Spider, or a CSV file with the columns ' +
    'question and sql. A question runs on the connection that has the name of its database. Golden SQL that cannot be run is left out ' +
    'and listed; a later import adds it. Keeps existing cases. Uses no model.',
  examples: [
    ['ktx eval import bird/dev.json --databases bird/dev_databases', 'into evals/dev.yaml'],
    ['ktx eval import questions.csv board --connection warehouse', 'into evals/board.yaml'],
    ['ktx eval import spider/dev.json --limit 50 --dry-run', 'prints the first fifty'],
  ],
  define: (command) =>
    command
      .argument('<file>', 'JSON of BIRD or Spider, or CSV')
      .argument('[set]', 'name of the question set (default: that of the file)')
      .addOption(
        new Option('--format <format>', 'what the file is, if it does not show').choices(formats),
      )
      .option('--connection <name>', 'the warehouse of all questions')
      .option('--databases <folder>', 'where <database>/<database>.sqlite are')
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
    const read = await readQuestions(resolve(host.cwd, path), path, options.format);
    const project = await context.project();
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
      onQuestion: (count) => progress.update(`question ${count} of ${read.questions.length}`),
    });
    for (const each of cases) editor.addCase({ ...each });
    const written = options.dryRun !== true && cases.length > 0;
    if (written) await writeAtomically(target, editor.toText(), { within: project.dir });
    const there = kept === 0 ? '' : `, ${kept} already there`;
    const summary = `${formatCount(cases.length, 'new case')}${written ? ` in ${file}` : ''}${there}.`;
    const shown = left.slice(0, mostShown);
    const more = left.length - shown.length;
    const databases =
      options.databases === undefined ? undefined : resolve(host.cwd, options.databases);
    return {
      data: { file, added: cases.map(({ id }) => id), kept, written, weak, left, missing },
      text: options.dryRun === true ? `${editor.toText()}${summary}` : summary,
      notes: [
        ...shown.map(
          ({ what, why }) => `left out: ${escapeControls(what)}: ${escapeControls(why)}`,
        ),
        ...(more > 0 ? [`and ${more} more are left out: --json lists all`] : []),
        ...(weak.length === 0
          ? []
          : [`${formatCount(weak.length, 'case')} with empty golden rows: weak`]),
      ],
      next: [
        ...missing.slice(0, 3).map((each) => connectStep(each.database, databases, project.dir)),
        ...(cases.length === 0 ? [] : ([[`ktx eval run ${name}`, 'asks an agent']] as NextStep[])),
      ],
    };
  },
});

/** The questions of the file, in the format that is given or that it shows. */
async function readQuestions(path: string, shownPath: string, format: ImportFormat | undefined) {
  const text = await readText(path);
  if (text === undefined)
    throw new UserError('file_not_found', `File not found: ${shownPath}.`, {
      hint: 'give a path relative to the current folder',
      exitCode: 2,
    });
  if ((format ?? extname(path).slice(1).toLowerCase()) === 'csv') {
    const { readCsvQuestions } = await import('../../../eval/cases/import/read-csv-questions.ts');
    return readCsvQuestions(shownPath, text);
  }
  const { formatOfBenchmark, parseBenchmark, readBenchmark } =
    await import('../../../eval/cases/import/read-benchmark.ts');
  const entries = parseBenchmark(shownPath, text);
  const found = format === 'bird' || format === 'spider' ? format : formatOfBenchmark(entries);
  if (found !== undefined) return readBenchmark(entries, found);
  throw new UserError('import_invalid', `${shownPath} is of no benchmark that ktx knows.`, {
    hint: 'Questions of BIRD have db_id, question and SQL, those of Spider db_id, question and query.',
    exitCode: 2,
  });
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

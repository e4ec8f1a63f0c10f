import { UserError } from '../lib/error.ts';
import type { Failure, FileReport, IngestEvent, IngestReport } from '../ingest/event.ts';
import { defineCommand, type CommandContext } from './command.ts';
import { counted } from './output.ts';
import { printable } from './text-width.ts';

export const ingest = defineCommand({
  description:
    'Brings the project up to date with its connections: scans what changed, writes datasets, claims and structure, and ' +
    'commits them. What people edited stays. Unchanged input changes no file and makes no commit.',
  examples: [
    ['ktx ingest', 'every connection'],
    ['ktx ingest warehouse --dry-run', 'what would be read; writes nothing'],
    ['ktx ingest --json', 'one event a line, the report last'],
  ],
  define: (command) => command.argument('[connections...]', 'all where they are left out').option('--dry-run', 'plan only'),
  async run({ args: [asked], options }, context) {
    const project = await context.project();
    const { ingestProject } = await import('../project/ingest.ts');
    const { refreshIndex } = await import('../tools/refresh-index.ts');
    const report = await ingestProject(project, {
      connections: asked,
      dryRun: options.dryRun === true,
      updateIndex: (state) => refreshIndex(project, state),
      signal: context.signal,
      onEvent: (event) => show(event, context),
    });
    const { exitCode, dryRun } = report;
    const failed = firstFailure(report);
    const next = [
      'ktx sl list  what there is now',
      'ktx sl query --help  ask for numbers',
      'ktx explain <subject>  where a fact comes from',
    ];
    return {
      data: report,
      text: describe(report, context).join('\n'),
      exitCode,
      failure: failed && new UserError(failed.code, failed.message, { ...failed, exitCode }),
      next: exitCode === 0 && !dryRun ? next : [],
    };
  },
});

/** With `--json` the event itself, one a line; for a person what runs now. */
function show(event: IngestEvent, context: CommandContext): void {
  const { progress } = context;
  context.event(event);
  if (event.type === 'connection_started') progress.update(`reading ${event.connection}`);
  if (event.type === 'lock_awaited') context.say(event.message);
  if (event.type === 'description_progressed')
    progress.update(`${event.connection}: describing tables`, { done: event.done, total: event.total });
  if (event.type === 'publish_step') progress.update('writing');
  if (event.type !== 'scan_progressed') return;
  const { connection, step, done, total } = event;
  progress.update(`${connection}: ${step}`, { done, total });
}

function firstFailure({ connections }: IngestReport): Failure | undefined {
  const failed = connections.find(({ failure }) => failure !== undefined)?.failure;
  if (failed !== undefined) return failed;
  const pending = connections.flatMap(({ descriptions, judgements }) => [
    { what: 'tables described', ...descriptions },
    { what: 'doubtful links judged', ...judgements },
  ]);
  const partial = pending.find(({ failure }) => failure !== undefined);
  return (
    partial?.failure && { ...partial.failure, message: `${partial.done} of ${partial.total} ${partial.what}: ${partial.failure.message}` }
  );
}

function describe(report: IngestReport, { screen }: CommandContext): string[] {
  const failed = firstFailure(report);
  const lines = report.connections.map(({ connection, failure, tables, profiled, reused, queries, relationships, descriptions }) => {
    // The first one is told as the error.
    if (failure !== undefined) return `${connection}: ${screen.style('red', failure === failed ? 'failed' : failure.message)}`;
    if (report.dryRun) return `${connection}: ${counted(tables, 'table')} would be read`;
    const { accepted, review } = relationships;
    const found = `joins: ${accepted} accepted, ${review} to review`;
    const told = descriptions !== undefined && descriptions.done > 0 ? `, ${descriptions.done} of ${descriptions.total} described` : '';
    return `${connection}: ${counted(tables, 'table')} (${profiled} profiled, ${reused} unchanged)${told}, ${found}, ${counted(queries, 'statement')} sent`;
  });
  if (report.dryRun) return lines;
  const { files, keptEdits, newEdits, stale, leftAlone, setAside, quarantined, commit } = report;
  const mark = (word: string, text: string) => `  ${screen.style('yellow', word)}${' '.repeat(9 - word.length)}${printable(text)}`;
  return [
    ...lines,
    ...changes(files),
    ...newEdits.map(
      ({ path, at, isRemoval }) => `  kept     ${path}, ${isRemoval ? 'taken out by a person' : 'as a person wrote it'} in ${at}`,
    ),
    ...(keptEdits.length > newEdits.length ? [`  kept     as before: ${keptEdits.length - newEdits.length}`] : []),
    ...stale.map(({ path, at }) => mark('stale', `${path} in ${at}: gone from the warehouse`)),
    ...leftAlone.map(({ path, reason }) => mark('left', `${path}: ${reason}`)),
    ...setAside.map(({ path, copy }) => mark('copied', `${path}: an uncommitted text is kept in ${copy}`)),
    ...quarantined.map(({ subject, reason, location = '' }) => mark('out', `${subject}: ${reason} ${location}`)),
    ...(commit.warning === undefined ? [] : [mark('warning', commit.warning)]),
    commit.id === undefined ? `no commit: ${commit.none ?? 'nothing to do'}` : `commit ${commit.id.slice(0, 10)}`,
  ];
}

/** The files that people read, by name; what is generated beside them as a number. */
function changes(files: FileReport): readonly string[] {
  const all = (['added', 'changed', 'removed'] as const).flatMap((kind) => files[kind].map((path) => ({ kind, path })));
  const read = all.filter(({ path }) => path.startsWith('semantic-layer/'));
  const shown = read.slice(0, 40).map(({ kind, path }) => `  ${kind.padEnd(9)}${path}`);
  const more = read.length > shown.length ? [`  … and ${read.length - shown.length} more`] : [];
  const others = all.length - read.length;
  const generated = others === 0 ? [] : [`  and ${others} ${others === 1 ? 'file' : 'files'} of claims and structure`];
  return all.length === 0 ? ['nothing changed'] : [...shown, ...more, ...generated];
}

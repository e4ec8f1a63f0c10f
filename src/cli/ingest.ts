import { UserError } from '../lib/error.ts';
import type { FileReport, IngestEvent, IngestReport } from '../ingest/event.ts';
import { defineCommand, type CommandContext } from './command.ts';
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
    const failed = report.connections.find(({ failure }) => failure !== undefined)?.failure;
    const failure =
      failed &&
      new UserError(failed.code, failed.message, {
        hint: failed.hint,
        retryable: failed.retryable,
        exitCode: report.exitCode,
      });
    const complete = report.exitCode === 0 && !report.dryRun;
    return {
      data: report,
      text: describe(report, context).join('\n'),
      exitCode: report.exitCode,
      ...(failure && { failure }),
      ...(complete && {
        next: [
          'ktx sl list             what there is now',
          'ktx sl query --help     ask for numbers',
          'ktx explain <subject>   where a fact comes from',
        ],
      }),
    };
  },
});

/** With `--json` the event itself, one a line; for a person what runs now. */
function show(event: IngestEvent, context: CommandContext): void {
  // The report of the last event is the envelope's data.
  if (event.type !== 'ingest_finished') context.event(event);
  switch (event.type) {
    case 'scan_progressed': {
      const { connection, step, done, total } = event;
      const counts = done === undefined || total === undefined ? undefined : { done, total };
      return context.progress.update(`${connection}: ${step}`, counts);
    }
    case 'connection_started':
      return context.progress.update(`reading ${event.connection}`);
    case 'lock_awaited':
      return context.say(event.message);
    case 'publish_step':
      return context.progress.update('writing');
    case 'ingest_started':
    case 'stage_finished':
    case 'connection_failed':
    case 'claim_quarantined':
    case 'published':
    case 'ingest_finished':
      return undefined;
  }
}

function describe(report: IngestReport, { screen }: CommandContext): string[] {
  const { connections, files, keptEdits, stale, leftAlone, setAside, quarantined, commit } = report;
  const lines = connections.map(({ connection, failure, tables, profiled, reused, queries, relationships }) => {
    if (failure !== undefined) return `${connection}: ${screen.style('red', failure.message)}`;
    if (report.dryRun) return `${connection}: ${tables} tables would be read`;
    const { accepted, review } = relationships;
    const found = `${accepted} joins found, ${review} to review`;
    return `${connection}: ${tables} tables (${profiled} profiled, ${reused} unchanged), ${found}, ${queries} statements sent`;
  });
  if (report.dryRun) return lines;
  const mark = (word: string) => `  ${screen.style('yellow', word)}`;
  const written = commit.id === undefined ? `no commit: ${commit.none ?? 'nothing to do'}` : `commit ${commit.id.slice(0, 10)}`;
  return [
    ...lines,
    ...changes(files),
    ...keptEdits.map(({ path, at }) => `  kept     ${path}, as a person wrote it in ${at}`),
    ...stale.map(({ path, at }) => `${mark('stale')}    ${path} in ${at}: gone from the warehouse`),
    ...leftAlone.map(({ path, reason }) => `${mark('left')}     ${path}: ${reason}`),
    ...setAside.map(({ path, copy }) => `${mark('copied')}   ${path}: an uncommitted text is kept in ${copy}`),
    ...quarantined.map(({ subject, reason, location = '' }) => `${mark('out')}      ${printable(`${subject}: ${reason} ${location}`)}`),
    written,
  ];
}

/** The files that people read, by name; what is generated beside them as a number. */
function changes(files: FileReport): readonly string[] {
  const all = (['added', 'changed', 'removed'] as const).flatMap((kind) => files[kind].map((path) => ({ kind, path })));
  const read = all.filter(({ path }) => path.startsWith('semantic-layer/'));
  const shown = read.slice(0, 40).map(({ kind, path }) => `  ${kind.padEnd(9)}${path}`);
  const more = read.length > shown.length ? [`  … and ${read.length - shown.length} more`] : [];
  const others = all.length > read.length ? [`  and ${all.length - read.length} files of claims and structure`] : [];
  return all.length === 0 ? ['nothing changed'] : [...shown, ...more, ...others];
}

import type {
  ConnectionReport,
  CoverageReport,
  FileReport,
  IngestReport,
  SourceReport,
  StageReport,
} from '../../../ingest/report.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { notesName } from '../../../sources/notes/note-files.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls, wrapNote } from '../../terminal/text-width.ts';
import { conflictTitle, quarantineText, unusedFactLines } from './open-work-text.ts';

/**
 * The report of an ingest as lines: connections, sources, model stages, files, people's edits,
 * problems, commit.
 */
export function describeIngest(report: IngestReport, screen: Screen): readonly string[] {
  return ingestLines(report, screen).map((line) => wrapNote(line, screen.width));
}

function ingestLines(report: IngestReport, { style }: Screen): readonly string[] {
  const firstFailed = [...report.connections, ...report.sources].find(
    ({ failure }) => failure !== undefined,
  );
  const warehouseLine = (warehouse: ConnectionReport): string => {
    const { connection, failure } = warehouse;
    if (failure === undefined) return describeWarehouse(warehouse, report.dryRun);
    // The first failure is printed as the error of the command.
    const text = warehouse === firstFailed ? 'failed' : failureText(failure);
    return `${connection}: ${style('red', text)}`;
  };
  const lines = [
    ...report.connections.flatMap((warehouse) => [
      warehouseLine(warehouse),
      ...fileNotes(warehouse),
      ...historyLines(warehouse, report.dryRun),
    ]),
    ...report.sources.flatMap((source) => sourceLines(source, report.dryRun)),
    ...report.stages.flatMap(stageLines),
  ];
  if (report.dryRun) return [...lines, ...estimateLines(report.estimate)];
  const { commit } = report;
  return [
    ...lines,
    ...fileLines(report.files),
    ...unusedFactLines(report.unfit),
    ...keptEditLines(report),
    ...problemLines(report).map(
      ([word, text]) => `  ${style('yellow', padMark(word))}${escapeControls(text)}`,
    ),
    ...commitLines(commit),
  ];
}

function commitLines({ id, branch, none, isFirstUnnamed }: IngestReport['commit']) {
  if (id === undefined) return [`no commit: ${none ?? 'nothing to do'}`];
  const line = `commit ${id.slice(0, 10)}${branch === undefined ? '' : ` on ${branch}`}`;
  if (isFirstUnnamed !== true) return [line];
  return [
    `${line}, by ktx <ktx@localhost>: git knows no name of yours here. To commit in yours:`,
    '  git config --global user.name "Your Name"',
    '  git config --global user.email you@example.com',
  ];
}

/** Where the time went; nothing for a run under a second. */
export function describeTimes({
  milliseconds,
  wallMilliseconds: total,
}: Pick<IngestReport, 'milliseconds' | 'wallMilliseconds'>): readonly string[] {
  const stages = Object.entries(milliseconds).sort(([, a], [, b]) => b - a);
  const formatMs = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const longest = stages
    .filter(([, ms]) => ms >= 100)
    .slice(0, 4)
    .map(([stage, ms]) => `${stage} ${formatMs(ms)}`);
  if (total < 1000) return [];
  const took = `took ${formatMs(total)}`;
  return [longest.length === 0 ? took : `${took}: ${longest.join(', ')}`];
}

function describeWarehouse(report: ConnectionReport, isDryRun: boolean): string {
  const { connection, tables, profiled, reused, left, queries, relationships, descriptions } =
    report;
  if (isDryRun) return `${connection}: ${formatCount(tables, 'table')} would be read`;
  const leftText = left > 0 ? `, ${left} left for the next run: scan budget used up` : '';
  const parts = [
    `${formatCount(tables, 'table')} (${profiled} profiled, ${reused} unchanged${leftText})`,
    ...(descriptions !== undefined && descriptions.done > 0
      ? [`${descriptions.done} of ${descriptions.total} described`]
      : []),
    `joins: ${relationships.accepted} accepted, ${relationships.review} to review`,
    `${formatCount(queries, 'statement')} sent`,
  ];
  return `${connection}: ${parts.join(', ')}`;
}

/** Files of the connection that could not be read, and what was assumed of others. */
function fileNotes({ unreadFiles = [], assumptions = [] }: ConnectionReport): string[] {
  return [
    ...unreadFiles.map(({ reason }) => `  ${padMark('not read')}${escapeControls(reason)}`),
    ...assumptions.map((text) => `  ${padMark('assumed')}${escapeControls(text)}`),
  ];
}

/** What people ran, and what it says; or why it could not be read. */
function historyLines({ connection, history }: ConnectionReport, isDryRun: boolean): string[] {
  if (history === undefined || isDryRun) return [];
  const { statements, hidden, since, tables, proposed, failure } = history;
  if (failure !== undefined)
    return [
      `  query history not read: ${escapeControls(failure.message)} ${escapeControls(failure.hint ?? '')}`,
    ];
  const parts = [
    `${formatCount(statements, 'statement')}${since === undefined ? '' : ` since ${since}`}`,
    `${formatCount(tables, 'table')} in use`,
    ...(proposed > 0 ? [`${formatCount(proposed, 'metric')} to review`] : []),
    ...(hidden > 0 ? [`${formatCount(hidden, 'statement')} too long to read`] : []),
  ];
  return [`  query history: ${parts.join(', ')} (ktx history ${connection})`];
}

/** A message of several lines keeps them; what comes from outside cannot drive the terminal. */
const failureText = ({ message }: { readonly message: string }): string =>
  message.split('\n').map(escapeControls).join('\n  ');

/** Items by what happened to them; failed items by name. */
function sourceLines(
  { connection, failure, items, claims, total, pending, coverage }: SourceReport,
  isDryRun: boolean,
): readonly string[] {
  if (failure !== undefined) return [`${connection}: ${failureText(failure)}`];
  if (items === undefined) return [];
  const { added, changed, gone, failed, unchanged, listing } = items;
  const counts = Object.entries({ added, changed, gone, failed }).flatMap(([word, keys]) =>
    keys.length === 0 ? [] : [`${keys.length} ${word}`],
  );
  // The folder stays when the last note is gone.
  if (connection === notesName && total === 0 && counts.length === 0) return [];
  const itemText = [...counts, `${unchanged} unchanged`].join(', ');
  const pendingText =
    pending.length === 0 ? '' : `, ${pending.length} with prose for a model to read`;
  const claimText = isDryRun ? '' : `; ${formatCount(claims, 'claim')}${pendingText}`;
  const incomplete = listing.complete
    ? []
    : [
        `  incomplete: ${(listing.reason ?? 'the listing did not end').replace(/\.$/, '')}; no item counts as gone`,
      ];
  return [
    `${connection}: ${formatCount(total, 'item')} (${itemText})${claimText}`,
    ...(counts.length === 0 || isDryRun ? [] : coverageLines(connection, coverage)),
    ...incomplete,
    ...failed.map(
      ({ key, reason }) => `  not read  ${escapeControls(key)}: ${escapeControls(reason)}`,
    ),
  ];
}

/** How much of what the source says arrived, and what did not by kind. */
function coverageLines(
  connection: string,
  { statements, arrived, leftOut }: CoverageReport,
): readonly string[] {
  if (statements === arrived) return [];
  const [shown, others] = [leftOut.slice(0, 6), leftOut.slice(6)];
  const othersCount = others.reduce((sum, { places }) => sum + places.length, 0);
  const kinds = [
    ...shown.map(({ what, places }) => `${what} (${places.length})`),
    ...(othersCount === 0 ? [] : [`others (${othersCount})`]),
  ];
  const leftOutText =
    kinds.length === 0 ? '' : `; ktx has no place for ${escapeControls(kinds.join(', '))}`;
  const command = `(ktx coverage ${connection})`;
  return [`  coverage ${arrived} of ${statements} statements arrived${leftOutText} ${command}`];
}

const stageTitles = {
  triage: 'pages triaged',
  light: 'pages skimmed',
  extract: 'prose read',
  curate: 'terms and rules placed',
  reconcile: 'conflicts examined',
  repair: 'claims repaired',
} as const;

function stageLines({ stage, done, pending, calls, failures }: StageReport): readonly string[] {
  const pendingText = pending === 0 ? '' : `, ${pending} pending`;
  const reasons = [...new Set(failures.map(({ message }) => message))];
  return [
    `${stageTitles[stage]}: ${done}${pendingText}; ${formatCount(calls, 'model call')}`,
    ...reasons.map((reason) => `  pending  ${escapeControls(reason)}`),
  ];
}

/** Files that people read, by name; generated files as a number. */
function fileLines(files: FileReport): readonly string[] {
  const all = (['added', 'changed', 'removed'] as const).flatMap((change) =>
    files[change].map((path) => ({ change, path })),
  );
  const readable = all.filter(
    ({ path }) => !/^(claims|sources)\//.test(path) && path !== '.gitattributes',
  );
  const named = readable.slice(0, 40).map(({ change, path }) => `  ${padMark(change)}${path}`);
  const unnamed = readable.length - named.length;
  const generated = all.length - readable.length;
  if (all.length === 0) return ['nothing changed'];
  return [
    ...named,
    ...(unnamed > 0 ? [`  … and ${unnamed} more`] : []),
    ...(generated === 0 ? [] : [`  and ${formatCount(generated, 'file')} of claims and structure`]),
  ];
}

function keptEditLines({ keptEdits, newEdits }: IngestReport): readonly string[] {
  const known = keptEdits.length - newEdits.length;
  const texts = newEdits.map(
    ({ path, at, isRemoval }) => `your ${isRemoval ? 'removal' : 'edit'} of ${path} in ${at}`,
  );
  const earlier = known > 0 ? [formatCount(known, 'earlier edit')] : [];
  return [...texts, ...earlier].map((text) => `  ${padMark('kept')}${escapeControls(text)}`);
}

/** What needs attention: a mark, and what it is about. */
function problemLines(report: IngestReport): readonly (readonly [mark: string, text: string])[] {
  const { mended, conflicts, stale, leftAlone, setAside, quarantined, withdrawn, commit } = report;
  const isQuarantined = (path: string) => quarantined.some(({ subject }) => subject === path);
  const texts: Readonly<Record<string, readonly string[]>> = {
    repaired: mended.map(
      ({ subject, from, to }) => `${subject}: ${JSON.stringify(from)} to ${JSON.stringify(to)}`,
    ),
    contested: conflicts.map(
      (conflict) => `${conflictTitle(conflict)}: ${conflict.variants.length} versions; ktx review`,
    ),
    stale: stale.map(({ path, at }) => `${path} in ${at}: gone from the warehouse`),
    skipped: leftAlone
      .filter(({ path }) => !isQuarantined(path))
      .map(({ path, reason }) => `${path}: ${reason}`),
    copied: setAside.map(({ path, copy }) => `${path}: uncommitted text saved as ${copy}`),
    'left out': quarantined.map(quarantineText),
    withdrawn: withdrawnTexts(withdrawn),
    warning: commit.warning === undefined ? [] : [commit.warning],
  };
  return Object.entries(texts).flatMap(([mark, lines]) =>
    lines.map((text) => [mark, text] as const),
  );
}

/** Of many proposals, a few names tell enough. */
const mostWithdrawn = 6;

function withdrawnTexts(withdrawn: IngestReport['withdrawn']): readonly string[] {
  const more = withdrawn.length - mostWithdrawn;
  return [
    ...withdrawn.slice(0, mostWithdrawn).map(({ metric, why }) => `proposal ${metric}: ${why}`),
    ...(more > 0 ? [`${formatCount(more, 'more proposal')}: ktx ingest --json names them`] : []),
  ];
}

/** Pads to the column in which the texts after marks begin. */
function padMark(mark: string): string {
  return mark.padEnd(9).padEnd(mark.length + 1);
}

/** What the model calls of a run would take. */
function estimateLines(estimate: IngestReport['estimate']): readonly string[] {
  if (estimate === undefined) return [];
  const { calls, input, output, costUsd } = estimate;
  if (calls[1] === 0) return ['model calls: none needed'];
  const cost =
    costUsd === null
      ? 'cost unknown before a first run, or without llm.prices'
      : formatRange(costUsd, (value) => `$${value.toFixed(value < 1 ? 3 : 2)}`);
  const tokens = `${formatRange(input, formatTokens)} tokens in, ${formatRange(output, formatTokens)} out`;
  return [`model calls: ${formatRange(calls, String)}, ${tokens}; ${cost}`];
}

function formatRange(
  [least, most]: readonly [number, number],
  format: (value: number) => string,
): string {
  return least === most ? format(least) : `${format(least)} to ${format(most)}`;
}

function formatTokens(count: number): string {
  return count < 10_000 ? String(Math.round(count)) : `${Math.round(count / 1000)}k`;
}

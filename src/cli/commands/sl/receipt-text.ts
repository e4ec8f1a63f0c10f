import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatCount } from '../../../lib/format-count.ts';
import type { QueryReceipt } from '../../../project/answer/query.ts';
import type { Screen } from '../../terminal/screen.ts';

/** One line per metric, then parameters, notes, marks, and the files that define the metrics. */
export function receiptLines(receipt: QueryReceipt, linkFile: LinkFile = (file) => file): string[] {
  const { metrics, computed = [], notes, parameters, keys, contested, stale } = receipt;
  return [
    ...savedLines(receipt),
    ...verifiedLines(receipt),
    ...metrics.map(metricLine),
    ...computed.map(({ column, is }) => `${column}: ${is}`),
    ...Object.entries(parameters).map(
      ([name, value]) => `parameter ${name} = ${JSON.stringify(value)}`,
    ),
    ...notes,
    ...keyLines(keys),
    ...contested.map((subject) => `contested: ${subject}; to resolve it: ktx review`),
    ...stale.map((subject) => `stale: ${subject}; to update it: ktx ingest`),
    ...modelLines(receipt, linkFile),
  ];
}

/** The name of a file, which opens the file where the terminal can. */
type LinkFile = (file: string) => string;

export function linksTo(dir: string, { link }: Pick<Screen, 'link'>): LinkFile {
  return (file) => link(pathToFileURL(join(dir, file)).href, file);
}

function savedLines({ saved, uncommitted = [] }: QueryReceipt): readonly string[] {
  if (saved === undefined) return [];
  const edits = uncommitted.includes(saved.file) ? ', with uncommitted edits' : '';
  return [`saved query ${saved.name} (${saved.file}${edits})`];
}

/** When it passed an eval case, and in which run. */
export function verifiedLines({ verified }: Pick<QueryReceipt, 'verified'>): readonly string[] {
  if (verified === undefined) return [];
  const { case: id, run, at } = verified;
  return [`verified question ${id}: passed in ${run} on ${at.slice(0, 10)}`];
}

/** `keys: customers (id) is proven by its rows, regions (id) is only assumed` */
function keyLines(keys: QueryReceipt['keys']): readonly string[] {
  const texts = keys.map(({ key, state, by, found }) => {
    if (state === 'assumed') return `${key} is only assumed`;
    if (state === 'contradicted')
      return `${key} is contradicted by its rows (${formatCount(found ?? 0, 'case')}), so one row per key is joined`;
    return `${key} is proven by ${by === 'constraint' ? 'the database' : 'its rows'}`;
  });
  return texts.length === 0 ? [] : [`keys: ${texts.join(', ')}`];
}

type ReceiptMetric = QueryReceipt['metrics'][number];

function metricLine(metric: ReceiptMetric): string {
  const { name, owners, paths, filters, having, access, unit, unreviewed } = metric;
  const parts = {
    'rows of': owners.join(', '),
    by: paths.join(', '),
    where: filters.join(' and '),
    having: having.join(' and '),
    'row rules': access.join(', '),
  };
  const texts = Object.entries(parts).flatMap(([word, text]) =>
    text === '' ? [] : [`${word} ${text}`],
  );
  const adHoc =
    unreviewed === undefined
      ? 'ad hoc'
      : `unreviewed, nobody has accepted ${unreviewed.join(' and ')}: ktx review`;
  const known = metric.built_in === true ? 'built-in count' : 'curated';
  const state = metric.curated ? known : adHoc;
  const inUnit = unit === undefined ? [] : [`in ${unit}`];
  return `${name}: ${[...inUnit, ...texts, additivityText(metric), state].join('; ')}`;
}

function additivityText({ sums }: ReceiptMetric): string {
  if (sums === undefined) return 'additive';
  const scope =
    sums.only_over.length === 0
      ? 'not additive'
      : `additive only over ${sums.only_over.join(', ')}`;
  return `${scope}: ${sums.because}`;
}

function modelLines(
  { files, commit, uncommitted = [] }: QueryReceipt,
  linkFile: LinkFile,
): readonly string[] {
  if (files.length === 0) return [];
  const names = files.map((file) =>
    uncommitted.includes(file) ? `${linkFile(file)} (with uncommitted edits)` : linkFile(file),
  );
  const version = commit === undefined ? 'no commit' : `commit ${commit.slice(0, 10)}`;
  return [`model at ${version}: ${names.join(', ')}`];
}

import { readFileSync } from 'node:fs';
import { isPolymorphic } from '../../scan/links/polymorphic.ts';
import type { scanReport } from '../../scan/report.ts';
import type { Screen } from '../terminal/screen.ts';
import { renderTable } from '../terminal/table.ts';
import { truncateText, wrapText } from '../terminal/text-width.ts';
import type { NaiveComparison, StatementTotals } from './naive-comparison.ts';
import type { MetricConflict, SourceFact } from './source-facts.ts';

type Lines = readonly string[];
/** Values for the placeholders of a page. Lines fill a placeholder that is alone on its line. */
export type PageValues = Readonly<Record<string, number | string | Lines>>;

const indent = '   ';
const maxPageWidth = 100;

/** The pages, in the order of `tour.txt`: those of the tour, then those of the outcome. */
const pageNames = [
  'warehouse',
  'findings',
  'facts',
  'conflict',
  'written',
  'edit',
  'answer',
  'comparison',
  'read',
  'pending',
  'ending',
  'wrong',
  'truths',
  'learned',
  'choice',
] as const;
export type PageName = (typeof pageNames)[number];

/** Renders a page of `tour.txt`. A `*` before its title becomes the page number. */
export function renderPage(
  { name, number }: { name: PageName; number: number },
  values: PageValues,
  screen: Screen,
): Lines {
  const template = readDemoFile('tour.txt').split(/^# /m)[pageNames.indexOf(name) + 1] ?? '';
  const [title = '', ...lines] = template.trimEnd().split('\n');
  const width = Math.min(screen.width ?? maxPageWidth, maxPageWidth) - indent.length;
  const body = lines.flatMap((line) => {
    const block = values[/^\{(\w+)\}$/.exec(line)?.[1] ?? ''];
    return Array.isArray(block) ? block : wrapText(fillPlaceholders(line, values), width);
  });
  return [
    screen.style('bold', title.replace(/^\*/, String(number))),
    ...body.map((line) => (line === '' ? '' : indent + line)),
  ];
}

function fillPlaceholders(line: string, values: PageValues): string {
  return line.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    const value = values[key];
    return typeof value === 'number' ? formatWhole(value) : String(value);
  });
}

export function findingsValues(report: ReturnType<typeof scanReport>, screen: Screen): PageValues {
  const accepted = report.links.filter(({ status }) => status === 'accepted');
  const keys = report.primary_keys.filter(({ status }) => status === 'accepted');
  const notable = JSON.parse(readDemoFile('notable-links.json')) as Readonly<
    Record<string, string>
  >;
  const rows = Object.entries(notable).flatMap(([from, remark]) => {
    const links = accepted.filter(
      (link) => `${link.from.table}(${link.from.columns.join(', ')})` === from,
    );
    return links.map(({ to, probability, evidence: { containment, orphans } }) => [
      from,
      to.table,
      probability.toFixed(2),
      typeof containment === 'number' ? `${(containment * 100).toFixed(1)} %` : '',
      typeof orphans === 'number' ? formatWhole(orphans) : '',
      remark,
    ]);
  });
  return {
    keys: keys.length,
    composite: keys.filter(({ columns }) => columns.length > 1).length,
    accepted: accepted.length,
    polymorphic: report.links.filter(isPolymorphic).length,
    queries: report.queries,
    links: renderGrid(['from', 'to', '>prob.', '>found', '>orphans', 'what it is'], rows, screen),
  };
}

const maxFactWidth = 52;

export function renderFacts(facts: readonly SourceFact[], screen: Screen): Lines {
  const rows = facts.map(({ subject, says, place }) => [
    subject.replace(/^\w+:(shop\.)?/, ''),
    truncateText(says, maxFactWidth),
    place,
  ]);
  return renderGrid(['what', 'it says', 'where'], rows, screen);
}

export function conflictValues({ subject, versions }: MetricConflict, screen: Screen): PageValues {
  const rows = versions.map(({ by, says, gives }) => [by, says, formatWhole(gives)]);
  const [first, second] = versions;
  return {
    subject: subject.replace(/^\w+:shop\./, ''),
    versions: renderGrid(['source', 'definition', '>result'], rows, screen),
    difference: Math.abs((first?.gives ?? 0) - (second?.gives ?? 0)),
  };
}

const shownMonths = 4;

/** One row per region, one column per month for the last months. */
export function renderAnswer(
  { answer: { rows }, comparison: { semantic_layer } }: NaiveComparison,
  screen: Screen,
): Lines {
  const months = [...new Set(rows.map(([, month]) => String(month).slice(0, 7)))].sort();
  const lastMonths = months.slice(-shownMonths);
  const revenueIn = (region: string | null, month: string) =>
    rows.find(([name, when]) => name === region && String(when).startsWith(month))?.[2] ?? 0;
  const lines = semantic_layer.by_region.map(({ region, revenue }) => [
    region ?? '(none)',
    ...lastMonths.map((month) => formatWhole(Number(revenueIn(region, month)))),
    formatWhole(revenue),
  ]);
  const header = [
    'region',
    ...lastMonths.map((month) => `>${month}`),
    `>all ${months.length} months`,
  ];
  return renderGrid(header, lines, screen);
}

export function comparisonValues({ comparison }: NaiveComparison, screen: Screen): PageValues {
  const { table_total, semantic_layer, inner_join, wrong_role } = comparison;
  const statements: readonly StatementTotals[] = [semantic_layer, inner_join, wrong_role];
  const regions = semantic_layer.by_region.map(({ region }) => ({
    name: region ?? '(none)',
    revenues: statements.map(
      ({ by_region }) => by_region.find((row) => row.region === region)?.revenue,
    ),
  }));
  const lines = regions.map(({ name, revenues }) => [
    name,
    ...revenues.map((revenue) => (revenue === undefined ? 'lost' : formatWhole(revenue))),
  ]);
  const totals = ['total', ...statements.map(({ total }) => formatWhole(total))];
  const lost = table_total - inner_join.total;
  return {
    grid: markWrong(
      renderGrid(['region', '>ktx', '>inner join', '>wrong role'], [...lines, totals], screen),
      screen,
    ),
    alone: table_total,
    agrees: table_total === semantic_layer.total ? 'agrees' : 'does not agree',
    lost,
    share: ((100 * lost) / table_total).toFixed(1),
    wrong: regions.filter(({ revenues: [right, , wrong] }) => right !== wrong).length,
    regions: regions.length,
  };
}

/** Colors the numbers that differ from that of ktx, the first one of each line. */
function markWrong([header = '', ...lines]: Lines, { style }: Screen): Lines {
  const marked = lines.map((line) =>
    line.replace(/(\S+)(\s+)(\S+)(\s+)(\S+)$/, (_, right: string, ...rest: string[]) => {
      const [gap = '', inner = '', space = '', role = ''] = rest;
      const show = (cell: string) => (cell === right ? cell : style('red', cell));
      return style('green', right) + gap + show(inner) + space + show(role);
    }),
  );
  return [header, ...marked];
}

/** A column whose name starts with `>` is right-aligned. */
function renderGrid(names: Lines, rows: readonly Lines[], screen: Screen): Lines {
  const columns = names.map((name) =>
    name.startsWith('>') ? { name: name.slice(1), type: 'decimal' } : { name },
  );
  const width = screen.width === undefined ? undefined : screen.width - indent.length;
  return renderTable({ columns, rows }, { ...screen, width }).split('\n');
}

function readDemoFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

function formatWhole(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 0 });
}

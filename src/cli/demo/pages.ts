import type { IngestReport } from '../../ingest/event.ts';
import type { QueryReceipt } from '../../project/query.ts';
import type { scanReport } from '../../scan/report.ts';
import { renderTable, type Screen } from '../output.ts';
import { dimensions, metric, naive, type Answers, type Asked } from './question.ts';

type Lines = readonly string[];
type ScanReport = ReturnType<typeof scanReport>;
type Link = ScanReport['links'][number];
type Region = string | null;

const whole = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 0 });
const indent = (lines: Lines): string[] => lines.map((line) => (line === '' ? '' : `   ${line}`));

function page(title: string, body: Lines, screen: Screen): Lines {
  return [screen.style('bold', title), ...body];
}

/** A paragraph, broken between words. */
function prose(text: string, screen: Screen): string[] {
  const room = Math.min(screen.width ?? 100, 100) - 3;
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return indent(lines);
}

/** A column whose name starts with `>` is right-aligned. */
function table(names: Lines, rows: readonly Lines[], screen: Screen): string[] {
  const columns = names.map((name) => (name.startsWith('>') ? { name: name.slice(1), type: 'decimal' } : { name }));
  const width = screen.width === undefined ? undefined : screen.width - 3;
  return indent(renderTable({ columns, rows }, { ...screen, width }).split('\n'));
}

type Facts = Readonly<{ folder: string; made: Lines; tables: Lines; rows: number }>;

export function warehouse({ folder, made, tables, rows }: Facts, screen: Screen): Lines {
  const schemas = new Set(tables.map((name) => name.split('.')[0])).size;
  const state = made.length === 0 ? 'it stands from an earlier run' : `made ${made.join(', ')}`;
  const text = `Fernholm, a shop for outdoor gear, in ${folder}: ${state}. ${tables.length} tables in ${schemas} schemas, ${whole(rows)} rows, not one declared key.`;
  return page('1  A warehouse that declares nothing', prose(text, screen), screen);
}

/** Links worth a look, and why. */
const telling: Readonly<Record<string, string>> = {
  'orders(buyer_id)': 'a role',
  'orders(recipient_id)': 'another role',
  'customers(cust_rgn)': 'by its values',
  'employees(manager_id)': 'self-reference',
  'stock_moves(whs_cd, prod_cd)': 'composite',
  'customer_profile(customer_id)': 'one to one',
  'legacy.orders(customer_id)': 'another schema',
};

export function findings({ links, primary_keys, queries }: ScanReport, screen: Screen): Lines {
  const [accepted, review] = ['accepted', 'review'].map((wanted) => links.filter(({ status }) => status === wanted));
  const keys = primary_keys.filter(({ status }) => status === 'accepted');
  const composite = keys.filter(({ columns }) => columns.length > 1).length;
  const rows = Object.entries(telling).flatMap(([from, why]) =>
    (accepted ?? [])
      .filter((link) => place(link.from) === from)
      .map(({ to, probability, evidence }) => {
        const { containment, orphans } = evidence;
        const found = typeof containment === 'number' ? `${(containment * 100).toFixed(1)} %` : '';
        return [from, to.table, probability.toFixed(2), found, typeof orphans === 'number' ? whole(orphans) : '', why];
      }),
  );
  const text = `${keys.length} primary keys, ${composite} of them over several columns. ${accepted?.length} relationships accepted, ${review?.length} left for a person to review; ${queries} statements sent. Among them, with the share of the values that the other table has, and the rows that point to nothing:`;
  const names = ['from', 'to', '>prob.', '>found', '>orphans', 'what it is'];
  return page('2  What the scan found, and why it believes it', [...prose(text, screen), '', ...table(names, rows, screen)], screen);
}

function place({ table: name, columns }: Link['from']): string {
  return `${name}(${columns.join(', ')})`;
}

const meaning: Readonly<Record<string, string>> = {
  'semantic-layer': 'one YAML file a dataset: what people read and edit',
  claims: 'each fact with its evidence',
  sources: 'the structure of the warehouse',
};

export function written({ files, commit }: IngestReport, screen: Screen): Lines {
  const all = [...files.added, ...files.changed, ...files.removed];
  const rows = Object.entries(meaning).flatMap(([folder, what]) => {
    const count = all.filter((path) => path.startsWith(`${folder}/`)).length;
    return count === 0 ? [] : [[`${folder}/`, whole(count), what]];
  });
  const end =
    commit.id === undefined ? 'Nothing changed since the last run: no file, no commit.' : `In one commit, ${commit.id.slice(0, 10)}.`;
  return page(
    '3  What it wrote',
    [...(rows.length === 0 ? [] : table(['folder', '>files', ''], rows, screen)), ...prose(end, screen)],
    screen,
  );
}

type Edit = Readonly<{ file: string; added: Lines | undefined; report: IngestReport }>;

export function edit({ file, added, report }: Edit, screen: Screen): Lines {
  const stands = report.files.changed.includes(file) ? 'ktx changed the file' : 'the edit stands, comment included';
  const end =
    added === undefined ? 'Written in an earlier run, and it stands.' : `Ingested again: ${stands}, and it stays yours to commit.`;
  const lines = [file, ...(added ?? []).map((line) => screen.style('green', `+${line}`))];
  return page('4  A metric, written by a person', [...indent(lines), ...prose(end, screen)], screen);
}

const shownMonths = 4;

export function answer({ answer: { rows, sql, receipt }, comparison: { semantic_layer } }: Answers, screen: Screen): Lines {
  const months = [...new Set(rows.map(([, month]) => String(month).slice(0, 7)))].sort();
  const shown = months.slice(-shownMonths);
  const cell = (region: Region, month: string): string => {
    const row = rows.find(([name, when]) => name === region && String(when).startsWith(month));
    return row === undefined ? '' : whole(Number(row[2]));
  };
  const lines = semantic_layer.by_region.map(({ region, revenue }) => [
    region ?? '(none)',
    ...shown.map((month) => cell(region, month)),
    whole(revenue),
  ]);
  const grid = table(['region', ...shown.map((month) => `>${month}`), `>all ${months.length} months`], lines, screen);
  const sections = [
    '',
    screen.style('dim', 'the SQL that ran'),
    ...sql.split('\n'),
    '',
    screen.style('dim', 'the receipt'),
    ...receiptLines(receipt),
  ];
  return page(
    "5  Revenue by the buyer's region by month",
    [...prose(`${metric} by ${dimensions.join(' and ')}`, screen), '', ...grid, ...indent(sections)],
    screen,
  );
}

function receiptLines({ metrics, commit, uncommitted = [] }: QueryReceipt): string[] {
  const lines = metrics.flatMap(({ owners, paths, filters, having, additive, curated, files }) => [
    `rows of  ${owners.join(', ')}, each once; ${additive ? 'additive' : 'not additive'}; ${curated ? 'curated' : 'ad hoc'}`,
    ...paths.map((path) => `joined   ${path}`),
    ...filters.map((filter) => `where    ${filter}`),
    ...having.map((condition) => `having   ${condition}`),
    ...files.map((file) => `file     ${file}${uncommitted.includes(file) ? ', with your uncommitted edit' : ''}`),
  ]);
  return [...lines, `commit   ${commit?.slice(0, 10) ?? 'none yet'}`];
}

export function comparison({ comparison: { table_total, semantic_layer, inner_join, wrong_role } }: Answers, screen: Screen): Lines {
  const ways = [semantic_layer, inner_join, wrong_role];
  const amount = (way: Asked, region: Region) => way.by_region.find((row) => row.region === region)?.revenue;
  const rows = semantic_layer.by_region.map(({ region }) => ({ region, amounts: ways.map((way) => amount(way, region)) }));
  const lines = rows.map(({ region, amounts }) => [
    region ?? '(none)',
    ...amounts.map((value) => (value === undefined ? 'lost' : whole(value))),
  ]);
  const totals = ['total', ...ways.map(({ total }) => whole(total))];
  const wrong = rows.filter(({ amounts: [right, , other] }) => right !== other).length;
  const lost = table_total - inner_join.total;
  const verdicts = [
    `The table alone sums to ${whole(table_total)}: ktx ${table_total === semantic_layer.total ? 'agrees' : 'does not agree'}.`,
    `Inner join (${naive.innerJoin.customers}): ${whole(lost)}, ${((100 * lost) / table_total).toFixed(1)} %, is gone, with guest orders, erased buyers and those without a region.`,
    `Wrong role (${naive.wrongRole.customers}): the total is right and ${wrong} of ${rows.length} rows are wrong: gifts count where they went.`,
  ];
  const grid = table(['region', '>ktx', '>inner join', '>wrong role'], [...lines, totals], screen);
  const body = [...grid, '', ...verdicts.flatMap((verdict) => prose(verdict, screen))];
  return page('6  The same question in naive SQL: it runs, and it is wrong', body, screen);
}

export function ending({ unchanged, next }: { unchanged: boolean; next: Lines }, screen: Screen): Lines {
  return [
    ...(unchanged ? ['Nothing changed since the last run: same files, no commit.', ''] : []),
    ...page('Try next', indent(next), screen),
  ];
}

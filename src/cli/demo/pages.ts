import { readFileSync } from 'node:fs';
import type { scanReport } from '../../scan/report.ts';
import { renderTable, type Screen } from '../terminal/output.ts';
import { cut } from '../terminal/text-width.ts';
import type { Answers, Asked } from './question.ts';
import type { Told, TwoTruths } from './told.ts';

type Lines = readonly string[];
/** What a page's text has in braces: a number, words, or lines that stand by themselves. */
type Values = Readonly<Record<string, number | string | Lines>>;

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const whole = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 0 });

/** The pages of the tour, which `tour.txt` has in this order. */
const order = [
  'warehouse',
  'findings',
  'told',
  'truths',
  'written',
  'edit',
  'answer',
  'comparison',
  'read',
  'pending',
  'ending',
] as const;
export type PageName = (typeof order)[number];

/** A star before its title becomes the number of the page. */
export function page(
  { name, number }: { name: PageName; number: number },
  values: Values,
  screen: Screen,
): Lines {
  const [title = '', ...lines] =
    textOf('tour.txt').split(/^# /m)[order.indexOf(name) + 1]?.trimEnd().split('\n') ?? [];
  const body = lines.flatMap((line) => {
    const block = values[/^\{(\w+)\}$/.exec(line)?.[1] ?? ''];
    if (Array.isArray(block)) return block;
    const filled = line.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
      const value = values[key];
      return typeof value === 'number' ? whole(value) : String(value);
    });
    return wrapped(filled, Math.min(screen.width ?? 100, 100) - 3);
  });
  return [
    screen.style('bold', title.replace(/^\*/, String(number))),
    ...body.map((line) => (line === '' ? '' : `   ${line}`)),
  ];
}

/** A paragraph, broken between words. */
function wrapped(text: string, room: number): Lines {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** A column whose name starts with `>` is right-aligned. */
function table(names: Lines, rows: readonly Lines[], screen: Screen): Lines {
  const columns = names.map((name) =>
    name.startsWith('>') ? { name: name.slice(1), type: 'decimal' } : { name },
  );
  const width = screen.width === undefined ? undefined : screen.width - 3;
  return renderTable({ columns, rows }, { ...screen, width }).split('\n');
}

export function findings(
  { links, primary_keys, queries }: ReturnType<typeof scanReport>,
  screen: Screen,
): Values {
  const accepted = links.filter(({ status }) => status === 'accepted');
  const keys = primary_keys.filter(({ status }) => status === 'accepted');
  // Links worth a look, and why.
  const telling = Object.entries(
    JSON.parse(textOf('links.json')) as Readonly<Record<string, string>>,
  );
  const rows = telling.flatMap(([from, why]) =>
    accepted
      .filter((link) => `${link.from.table}(${link.from.columns.join(', ')})` === from)
      .map(({ to, probability, evidence: { containment, orphans } }) => {
        const found = typeof containment === 'number' ? `${(containment * 100).toFixed(1)} %` : '';
        return [
          from,
          to.table,
          probability.toFixed(2),
          found,
          typeof orphans === 'number' ? whole(orphans) : '',
          why,
        ];
      }),
  );
  return {
    keys: keys.length,
    composite: keys.filter(({ columns }) => columns.length > 1).length,
    accepted: accepted.length,
    review: links.filter(({ status }) => status === 'review').length,
    queries,
    links: table(['from', 'to', '>prob.', '>found', '>orphans', 'what it is'], rows, screen),
  };
}

/** What dbt and the handbook say, in lines that fit. */
export function toldTable(told: readonly Told[], screen: Screen): Lines {
  const rows = told.map(({ subject, says, place }) => [
    subject.replace(/^\w+:(shop\.)?/, ''),
    cut(says, 52),
    place,
  ]);
  return table(['what', 'it says', 'where'], rows, screen);
}

export function truths({ subject, versions }: TwoTruths, screen: Screen): Values {
  const rows = versions.map(({ by, says, gives }) => [by, says, whole(gives)]);
  const [first, second] = versions;
  return {
    subject: subject.replace(/^\w+:shop\./, ''),
    versions: table(['who says so', 'what it is', '>it gives'], rows, screen),
    difference: Math.abs((first?.gives ?? 0) - (second?.gives ?? 0)),
  };
}

const shownMonths = 4;

/** Regions down, the last months across. */
export function answerGrid(
  { answer: { rows }, comparison: { semantic_layer } }: Answers,
  screen: Screen,
): Lines {
  const months = [...new Set(rows.map(([, month]) => String(month).slice(0, 7)))].sort();
  const shown = months.slice(-shownMonths);
  const amount = (region: string | null, month: string) =>
    rows.find(([name, when]) => name === region && String(when).startsWith(month))?.[2] ?? 0;
  const lines = semantic_layer.by_region.map(({ region, revenue }) => {
    return [
      region ?? '(none)',
      ...shown.map((month) => whole(Number(amount(region, month)))),
      whole(revenue),
    ];
  });
  return table(
    ['region', ...shown.map((month) => `>${month}`), `>all ${months.length} months`],
    lines,
    screen,
  );
}

export function comparison(
  { comparison: { table_total, semantic_layer, inner_join, wrong_role } }: Answers,
  screen: Screen,
): Values {
  const ways: readonly Asked[] = [semantic_layer, inner_join, wrong_role];
  const rows = semantic_layer.by_region.map(({ region }) => {
    const amounts = ways.map((way) => way.by_region.find((row) => row.region === region)?.revenue);
    return { name: region ?? '(none)', amounts };
  });
  const lines = rows.map(({ name, amounts }) => [
    name,
    ...amounts.map((value) => (value === undefined ? 'lost' : whole(value))),
  ]);
  const lost = table_total - inner_join.total;
  return {
    grid: table(
      ['region', '>ktx', '>inner join', '>wrong role'],
      [...lines, ['total', ...ways.map(({ total }) => whole(total))]],
      screen,
    ),
    alone: table_total,
    agrees: table_total === semantic_layer.total ? 'agrees' : 'does not agree',
    lost,
    share: ((100 * lost) / table_total).toFixed(1),
    wrong: rows.filter(({ amounts: [right, , other] }) => right !== other).length,
    regions: rows.length,
  };
}

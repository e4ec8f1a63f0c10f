import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { monthOf } from '../dates/month-names.ts';

/** A place in time that can be compared with others of its form. */
export interface TimeKey {
  readonly form: string;
  readonly at: number;
}

const forms: readonly (readonly [form: string, pattern: RegExp])[] = [
  ['day', /^(\d{4})-(\d\d)(?:-(\d\d))?(?:$|[T ])/],
  ['quarter', /^(\d{4})[-\s]?[QTH](\d)$/i],
  ['week', /^(\d{4})-?W(\d\d?)$/i],
  ['fiscal', /^FY\s?'?(\d\d(?:\d\d)?)$/i],
  ['half', /^[QHTSW](\d)$/i],
  ['year', /(?<!\d)((?:19|20)\d\d)(?!\d)/],
];

/** When something was, by a label such as `2024-Q1`, `FY24`, `H2`, `May` or `Kickoff 2023`. */
function timeOfLabel(label: string): TimeKey | undefined {
  for (const [form, pattern] of forms) {
    const found = pattern.exec(label);
    if (found === null) continue;
    const [, a = '0', b = '0', c = '0'] = found;
    return { form, at: Number(a) * 10_000 + Number(b) * 100 + Number(c) };
  }
  const month = monthOf(label.trim().replace(/\.$/, ''));
  return month === undefined ? undefined : { form: 'month', at: month };
}

/** When a row was; undefined where nothing tells, or its labels do not agree. */
export function timeOfRowLabels({ rows }: QueryEvidence, row: number): TimeKey | undefined {
  const found = (rows[row] ?? []).flatMap((cell) => {
    const isYear = typeof cell === 'number' && cell >= 1950 && cell < 2100;
    return typeof cell === 'string' || isYear ? (timeOfLabel(String(cell)) ?? []) : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/** What a plan, a budget or an earlier time is compared with. */
const reference =
  /plan|budget|target|goal|forecast|soll|ziel|prev|prior|last_?year|before|vorjahr|vormonat|pr[ée]vu|objetivo|obiettivo|_ly$|_py$/i;

/** Which of two columns of a row the other is compared with: -1 the first, 1 the second. */
export function referenceOf(first: string, second: string): -1 | 1 | undefined {
  const [one, two] = [reference.test(first), reference.test(second)];
  if (one !== two) return one ? -1 : 1;
  const [a, b] = [first, second].map(timeOfColumn);
  if (a === undefined || b === undefined || a.form !== b.form || a.at === b.at) return undefined;
  return a.at < b.at ? -1 : 1;
}

function timeOfColumn(name: string): TimeKey | undefined {
  const year = /(?:19|20)\d\d(?:[-_]?[qh]?\d{1,2})?/i.exec(name)?.[0];
  if (year !== undefined) return { form: 'year', at: Number(year.replaceAll(/\D/g, '')) };
  return name.split('_').flatMap((part) => timeOfLabel(part) ?? [])[0];
}

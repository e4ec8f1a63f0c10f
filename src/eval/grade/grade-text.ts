import { parseJson } from '../../lib/json.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';

type TextRule = NonNullable<Expectation['text']>;

/** What the answer says. Ids of evidence are no numbers of it. */
export function gradeText(text: string, rule: TextRule): readonly GraderFinding[] {
  const lower = text.toLowerCase();
  const finding = (does: boolean, wanted: boolean, what: string): GraderFinding => {
    return {
      grader: 'text',
      outcome: does === wanted ? 'pass' : 'fail',
      found: does ? what : `not: ${what}`,
    };
  };
  const { number, contains = [], not_contains: excluded = [], matches } = rule;
  return [
    ...(number === undefined ? [] : [numberFinding(text, number)]),
    ...contains.map((part) =>
      finding(lower.includes(part.toLowerCase()), true, `says ${JSON.stringify(part)}`),
    ),
    ...excluded.map((part) =>
      finding(lower.includes(part.toLowerCase()), false, `says ${JSON.stringify(part)}`),
    ),
    ...(matches === undefined
      ? []
      : [finding(new RegExp(matches, 'iu').test(text), true, `matches /${matches}/`)]),
  ];
}

function numberFinding(
  text: string,
  { value, rel, abs }: NonNullable<TextRule['number']>,
): GraderFinding {
  const numbers = numbersSaid(text);
  const isThere = numbers.some(
    (one) => Math.abs(one - value) <= Math.max(abs, rel * Math.abs(value)) + 1e-12,
  );
  const found = isThere
    ? `says ${value}`
    : `does not say ${value}; it says ${numbers.slice(0, 8).join(', ') || 'no number'}`;
  return { grader: 'text', outcome: isThere ? 'pass' : 'fail', found };
}

const scales: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  tsd: 1e3,
  m: 1e6,
  mn: 1e6,
  mm: 1e6,
  mio: 1e6,
  mln: 1e6,
  million: 1e6,
  millions: 1e6,
  millionen: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
  mrd: 1e9,
  milliards: 1e9,
  milliarden: 1e9,
};

/**
 * A number as it stands in prose: groups of three behind spaces or apostrophes, else whatever points and commas join. A comma
 * before a space ends it (`In 2025, 147 orders`), and so does a space behind more than three digits (`in 2025 147 orders`).
 */
const written =
  /(?<![\p{L}\d]|[\p{L}\d][.,'’])(-?)(?:[€$£]\s?|(?:EUR|USD|GBP|CHF)\s?)?(\d{1,3}(?:(?:[ \u00A0\u202F]\d{3})+|(?:['’]\d{3})+)(?!\d)(?:[.,]\d+)?|\d[\d.,]*)(?:(\s?)(%|\p{L}+)(?![\p{L}\d²³]))?/gu;

/** Every number that a reader may see: 1,234.5 · 1.234,5 · 1 234 · 1'234 · 1.2 million · €3k; 12 % is 12 and 0.12 too. */
function numbersIn(text: string): readonly number[] {
  const plain = text.replaceAll(/\[q\d+(?:\s*,\s*q\d+)*\]/g, ' ').replaceAll('−', '-');
  return [...plain.matchAll(written)].flatMap(([, sign, digits = '', gap, after = '']) => {
    const scale = scales[after.toLowerCase()] ?? 1;
    return readings(digits.replace(/[.,]+$/, '').replaceAll(/[ \u00A0\u202F'’]/g, '')).flatMap(
      (one) => {
        const number = sign === '-' ? -one : one;
        if (after === '%') return [number, number / 100];
        // `5 m` are metres as well.
        return scale !== 1 && gap !== '' && after.length === 1
          ? [number * scale, number]
          : [number * scale];
      },
    );
  });
}

/** Where the answer is JSON, a comma stands between numbers and not in them. */
function numbersSaid(text: string): readonly number[] {
  const inside = (value: unknown): readonly number[] => {
    if (typeof value === 'number') return [value];
    if (typeof value === 'string') return numbersIn(value);
    return value instanceof Object ? Object.values(value).flatMap(inside) : [];
  };
  const json = /^\s*[{[]/.test(text) ? parseJson(text) : undefined;
  return json instanceof Object ? inside(json) : numbersIn(text);
}

/** One separator with three digits behind it may be either kind. */
function readings(digits: string): readonly number[] {
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (last === -1) return [Number(digits)];
  const whole = Number(digits.replaceAll(/[.,]/g, ''));
  const split = Number(
    `${digits.slice(0, last).replaceAll(/[.,]/g, '')}.${digits.slice(last + 1)}`,
  );
  const separators = digits.match(/[.,]/g) ?? [];
  const isLakhs = /^\d{1,2}(?:,\d\d)+,\d{3}$/.test(digits);
  const isGrouped =
    isLakhs ||
    (new Set(separators).size === 1 &&
      digits
        .split(/[.,]/)
        .slice(1)
        .every((group) => group.length === 3));
  if (!isGrouped) return [split];
  return separators.length > 1 ? [whole] : [whole, split];
}

/** Words in which an agent says that it has no answer. */
const refusals =
  /\b(?:cannot|can['’]?t|could not|couldn['’]t|unable|not able|no (?:data|metric|column|field|table|definition|information|record)|there (?:is|are) no|(?:is|are)(?: not|n['’]t) (?:available|recorded|tracked|stored|in the data|there|measured|defined)|(?:does|do)(?: not|n['’]t) (?:have|hold|contain|record|track|store|measure|know|exist)|not in (?:the|our|this) (?:data|warehouse)|not (?:available|recorded|tracked|measured))\b/iu;

export function gradeRefusal(text: string, cited: readonly string[]): GraderFinding {
  const isSaid = refusals.test(text);
  const problem = isSaid ? undefined : 'does not say that it cannot answer';
  const found =
    cited.length > 0
      ? `answers, and cites ${cited.join(', ')}`
      : (problem ?? 'says that it cannot answer');
  return { grader: 'refuses', outcome: isSaid && cited.length === 0 ? 'pass' : 'fail', found };
}

import type { MatchRule } from '../../cases/question-set-schema.ts';
import type { ComparableValue } from './result-table.ts';

type Preset = Exclude<MatchRule['allow'][number], 'pivot'>;
type IsSameForm = (actual: ComparableValue, golden: ComparableValue) => boolean;

/** Forms in which people write the same value. The first value is that of the answer. */
const forms: Readonly<Record<Preset, IsSameForm>> = {
  rounded: (actual, golden) => {
    const [stated, exact] = [numberOf(actual), numberOf(golden)];
    return stated !== undefined && exact !== undefined && isRoundingOf(stated, exact);
  },
  percent: (actual, golden) => {
    const stated = percentOf(actual);
    const exact = numberOf(golden);
    return (
      stated !== undefined &&
      exact !== undefined &&
      isShare(exact) &&
      (isNearly(stated, exact * 100) || isRoundingOf(stated, exact * 100))
    );
  },
  dates: (actual, golden) => {
    const [one, other] = [firstDay(actual), firstDay(golden)];
    return one !== undefined && one === other;
  },
  flags: (actual, golden) => {
    const [one, other] = [flagOf(actual), flagOf(golden)];
    return one !== undefined && one === other;
  },
};

/** True if one of the allowed forms makes the value of the answer the golden one. */
export function isAllowedForm(
  allow: MatchRule['allow'],
  actual: ComparableValue,
  golden: ComparableValue,
): boolean {
  return allow.some((preset) => preset !== 'pivot' && forms[preset](actual, golden));
}

function isNearly(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

/** Fewer digits say too little: 0 is no rounding of 0.4, and 3 none of 3.4. */
const fewestDigits = 2;

function isRoundingOf(rounded: number, exact: number): boolean {
  const [digits = '', exponent] = String(Math.abs(rounded)).split('e');
  if (exponent !== undefined) return false;
  const [, decimals = ''] = digits.split('.');
  if (digits.replace('.', '').replace(/^0+/, '').length < fewestDigits) return false;
  const half = 0.5 * 10 ** -decimals.length;
  return Math.abs(rounded - exact) <= half * (1 + 1e-9);
}

/** Whole numbers beyond 1 are counts: 1200 is no percentage of 12. */
function isShare(value: number): boolean {
  return !Number.isInteger(value) || Math.abs(value) <= 1;
}

function percentOf(value: ComparableValue): number | undefined {
  return numberOf(typeof value === 'string' ? value.replace(/\s?%$/, '') : value);
}

/** Engines give decimals as text; 007 is a code. */
function numberOf(value: ComparableValue): number | undefined {
  if (typeof value !== 'string') return value ?? undefined;
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}

/** The first day of the year, the quarter, the month or the day. */
function firstDay(value: ComparableValue): string | undefined {
  const [, year = '', quarter, month = '01', day = '01'] =
    /^(\d{4})(?:-?Q([1-4])|-(\d\d)(?:-(\d\d))?)?$/i.exec(String(value ?? '')) ?? [];
  if (year === '') return undefined;
  const first = quarter === undefined ? month : String(Number(quarter) * 3 - 2).padStart(2, '0');
  return `${year}-${first}-${day}`;
}

const flagWords: Readonly<Record<string, boolean>> = {
  1: true,
  t: true,
  true: true,
  y: true,
  yes: true,
  0: false,
  f: false,
  false: false,
  n: false,
  no: false,
};

function flagOf(value: ComparableValue): boolean | undefined {
  return value === null ? undefined : flagWords[String(value).toLowerCase()];
}

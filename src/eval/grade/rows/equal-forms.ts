import type { MatchRule } from '../../cases/question-set-schema.ts';
import { firstDay } from './first-day.ts';
import type { ComparableValue, IsSameValue } from './result-table.ts';

type Preset = Exclude<MatchRule['allow'][number], 'pivot' | 'percent'>;

/** Forms in which people write the same value. The first value is that of the answer. */
const forms: Readonly<Record<Preset, IsSameValue>> = {
  rounded: (actual, golden) => {
    const [stated, exact] = [amountOf(actual), numberOf(golden)];
    if (stated === undefined || exact === undefined) return false;
    // Golden numbers may be rounded too; whole ones are counts and ids.
    return isRoundingOf(stated, exact) || (!Number.isInteger(exact) && isRoundingOf(exact, stated));
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
  return allow.some(
    (preset) => preset !== 'pivot' && preset !== 'percent' && forms[preset](actual, golden),
  );
}

/**
 * The ways to write a column of shares: 65.6 or 65.6 % for 0.656, 65.6 % for 65.6, and 0.656 for
 * 65.6 where the golden column has percentages. A column is written in one way.
 */
export function percentForms(golden: readonly ComparableValue[]): readonly IsSameValue[] {
  const hasPercents = golden.some((value) => Math.abs(numberOf(value) ?? 0) > 1);
  const inPercent: IsSameValue = (actual, exact) => isPercentOf(percentOf(actual), numberOf(exact));
  const asShare: IsSameValue = (actual, exact) => isPercentOf(numberOf(exact), numberOf(actual));
  return [inPercent, withSign, ...(hasPercents ? [asShare] : [])].map(
    (isSame): IsSameValue =>
      (actual, exact) =>
        actual === null || exact === null ? actual === exact : isSame(actual, exact),
  );
}

function withSign(actual: ComparableValue, golden: ComparableValue): boolean {
  const [stated, exact] = [percentOf(actual), numberOf(golden)];
  if (typeof actual !== 'string' || !actual.endsWith('%')) return actual === golden;
  return stated !== undefined && exact !== undefined && isRoundingOf(stated, exact);
}

/** Ten times as much is the greatest share: 1234.5 is an amount. */
const greatestShare = 10;

function isPercentOf(percent: number | undefined, share: number | undefined): boolean {
  if (percent === undefined || share === undefined || !isShare(share)) return false;
  const exact = share * 100;
  return isNearly(percent, exact) || isRoundingOf(percent, exact) || isRoundingOf(exact, percent);
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
  return Math.abs(value) <= 1 || (!Number.isInteger(value) && Math.abs(value) <= greatestShare);
}

/** `$1,234.50` */
function amountOf(value: ComparableValue): number | undefined {
  const plain = numberOf(value);
  if (plain !== undefined || typeof value !== 'string') return plain;
  const [, sign = '', digits = ''] =
    /^(-?)(?:[€$£¥₹]|[A-Z]{3})? ?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?) ?(?:[€$£¥₹]|[A-Z]{3})?$/.exec(
      value,
    ) ?? [];
  return digits === '' ? undefined : Number(`${sign}${digits.replaceAll(',', '')}`);
}

function percentOf(value: ComparableValue): number | undefined {
  return numberOf(typeof value === 'string' ? value.replace(/\s?%$/, '') : value);
}

/** Engines give decimals as text; 007 is a code. */
function numberOf(value: ComparableValue): number | undefined {
  if (typeof value !== 'string') return value ?? undefined;
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
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

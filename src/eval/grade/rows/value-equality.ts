import { defaultTolerance, type MatchRule } from '../../cases/question-set-schema.ts';
import { isAllowedForm, percentForms } from './equal-forms.ts';
import type { ComparableValue, IsSameValue } from './result-table.ts';

/**
 * Equality within the tolerance of the rule, and in the forms that it allows: the ways in which a
 * whole column may be written, the plain one first. A text counts as a number only next to a
 * number.
 */
export function columnEqualities(
  { numeric, allow }: Pick<MatchRule, 'numeric' | 'allow'>,
  golden: readonly ComparableValue[],
): readonly IsSameValue[] {
  const isSame = numericEquality(numeric);
  const plain: IsSameValue =
    allow.length === 0 ? isSame : (a, b) => isSame(a, b) || isAllowedForm(allow, a, b);
  return allow.includes('percent') ? [plain, ...percentForms(golden)] : [plain];
}

function numericEquality(numeric: MatchRule['numeric']): IsSameValue {
  const { rel, abs } = numeric;
  return (a, b) => {
    if (a === b) return true;
    const x = toNumber(a, b);
    const y = toNumber(b, a);
    if (x === undefined || y === undefined) return false;
    if (mustBeExact(x, y, numeric)) return x === y;
    const larger = Math.max(Math.abs(x), Math.abs(y));
    return Math.abs(x - y) <= Math.max(abs, rel * larger);
  };
}

/**
 * Ids that differ by one are close as numbers, so whole numbers must be equal unless the rule is
 * wider than the default.
 */
function mustBeExact(a: number, b: number, { rel, abs }: MatchRule['numeric']): boolean {
  const isDefault = rel <= defaultTolerance && abs <= defaultTolerance;
  return isDefault && Number.isInteger(a) && Number.isInteger(b);
}

function toNumber(value: ComparableValue, other: ComparableValue): number | undefined {
  if (typeof value === 'number') return value;
  const isNumericText =
    typeof value === 'string' &&
    typeof other === 'number' &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);
  return isNumericText ? Number(value) : undefined;
}

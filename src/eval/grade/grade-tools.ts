import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import { canonicalJson } from '../../lib/json.ts';
import { matchesPattern } from '../../lib/patterns/bounded-pattern.ts';
import type { ToolCallRecord } from '../../llm/port/session.ts';
import type { ArgumentRules, ToolRule } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';

type GradedCall = Pick<ToolCallRecord, 'name' | 'ok' | 'input'>;

/**
 * A required call must have succeeded; a forbidden call must not even have been tried. The rules
 * are in docs/evals.md.
 */
export function gradeTools(
  calls: readonly GradedCall[],
  rules: readonly ToolRule[],
): readonly GraderFinding[] {
  return rules.map((rule) => {
    const violation = findViolation(calls, rule);
    return {
      grader: 'tools',
      outcome: violation === undefined ? 'pass' : 'fail',
      found: violation ?? describeRule(rule),
    };
  });
}

/** How the calls break the rule; undefined if they keep it. */
function findViolation(calls: readonly GradedCall[], rule: ToolRule): string | undefined {
  if ('order' in rule) return findOrderViolation(calls, rule.order);
  if ('not' in rule) {
    const forbidden = calls.filter(
      ({ name, input }) => name === rule.not && argumentsMatch(input, rule.arguments),
    );
    return forbidden.length === 0
      ? undefined
      : `${describeRule(rule)}: called ${formatCount(forbidden.length, 'time')}`;
  }
  const matching = calls.filter(
    ({ name, ok, input }) => name === rule.name && ok && argumentsMatch(input, rule.arguments),
  );
  const { min, max = Infinity } = countRange(rule.count);
  if (matching.length >= min && matching.length <= max) return undefined;
  const failed = calls.filter(({ name, ok }) => name === rule.name && !ok);
  const failures = failed.length > 0 ? `, ${failed.length} failed` : '';
  return `${describeRule(rule)}: ${formatCount(matching.length, 'matching call')}${failures}`;
}

function findOrderViolation(
  calls: readonly GradedCall[],
  order: readonly string[],
): string | undefined {
  const succeeded = calls.filter(({ ok }) => ok).map(({ name }) => name);
  let from = 0;
  for (const name of order) {
    const index = succeeded.indexOf(name, from);
    if (index === -1)
      return `order ${order.join(' → ')}: got ${succeeded.join(' → ') || 'no successful call'}`;
    from = index + 1;
  }
  return undefined;
}

function countRange(count: Extract<ToolRule, { name: string }>['count']): {
  readonly min: number;
  readonly max?: number | undefined;
} {
  if (count === undefined) return { min: 1 };
  if (typeof count === 'number') return { min: count, max: count };
  return { min: count.min ?? 0, max: count.max };
}

function argumentsMatch(input: unknown, rules: ArgumentRules = {}): boolean {
  return Object.entries(rules).every(([path, rule]) => argumentMatches(valueAt(input, path), rule));
}

/** The value at a path such as `where.0.field`. */
function valueAt(input: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (value instanceof Object ? Reflect.get(value, key) : undefined),
      input,
    );
}

function argumentMatches(value: unknown, rule: ArgumentRules[string]): boolean {
  const isOperator = typeof rule === 'object' && !Array.isArray(rule);
  if (!isOperator) return isEqualJson(value, rule);
  const { absent, contains, matches, equals } = rule;
  if (absent === true) return value === undefined;
  if (value === undefined) return false;
  if (matches !== undefined)
    return isMatching(matches, typeof value === 'string' ? value : canonicalJson(value));
  return contains === undefined ? isEqualJson(value, equals) : hasPart(value, contains);
}

/** An expression that takes too long gives no answer: neither a match nor its absence may pass. */
function isMatching(pattern: string, text: string): boolean {
  const isMatch = matchesPattern(pattern, text);
  if (isMatch !== undefined) return isMatch;
  throw new UserError('pattern_too_slow', `The regular expression /${pattern}/ takes too long.`, {
    hint: 'Write it without nested repetition: (a+)+ as a+',
    exitCode: 2,
  });
}

/** True if a list has the entry, or a text contains the part in any case. */
function hasPart(value: unknown, part: unknown): boolean {
  if (Array.isArray(value)) return value.some((entry) => isEqualJson(entry, part));
  return (
    typeof value === 'string' &&
    typeof part === 'string' &&
    value.toLowerCase().includes(part.toLowerCase())
  );
}

function isEqualJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function describeRule(rule: ToolRule): string {
  if ('order' in rule) return `order ${rule.order.join(' → ')}`;
  const args = rule.arguments === undefined ? '' : ` with ${canonicalJson(rule.arguments)}`;
  if ('not' in rule) return `${rule.not}${args} not called`;
  const times = rule.count === undefined ? '' : ` ${canonicalJson(rule.count)} times`;
  return `${rule.name}${args} called${times}`;
}

import type { ToolCallRecord } from '../../llm/port/session.ts';
import type { ArgumentRules, ToolRule } from '../cases/question-set-schema.ts';
import { canonicalJson } from '../../lib/json.ts';
import { formatCount } from '../../lib/format-count.ts';
import type { GraderFinding } from '../run/outcome.ts';

type Call = Pick<ToolCallRecord, 'name' | 'ok' | 'input'>;

/**
 * The table of docs/evals.md: what is asked for has to have succeeded, what is forbidden must not even have been tried.
 * Without `count`, once is enough.
 */
export function gradeTools(
  calls: readonly Call[],
  rules: readonly ToolRule[],
): readonly GraderFinding[] {
  return rules.map((rule) => {
    const problem = problemOf(calls, rule);
    return {
      grader: 'tools',
      outcome: problem === undefined ? 'pass' : 'fail',
      found: problem ?? said(rule),
    };
  });
}

function problemOf(calls: readonly Call[], rule: ToolRule): string | undefined {
  if ('order' in rule)
    return outOfOrder(
      calls.filter(({ ok }) => ok).map(({ name }) => name),
      rule.order,
    );
  if ('not' in rule) {
    const tried = calls.filter(
      (call) => call.name === rule.not && fits(call.input, rule.arguments),
    );
    return tried.length === 0
      ? undefined
      : `${said(rule)}: it was, ${formatCount(tried.length, 'time')}`;
  }
  const done = calls.filter(
    (call) => call.name === rule.name && call.ok && fits(call.input, rule.arguments),
  ).length;
  const { min, max = Infinity } = boundsOf(rule.count);
  if (done >= min && done <= max) return undefined;
  const failed = calls.filter((call) => call.name === rule.name && !call.ok).length;
  return `${said(rule)}: ${formatCount(done, 'such call')}${failed > 0 ? ` (${failed} failed)` : ''}`;
}

function boundsOf(count: Extract<ToolRule, { name: string }>['count']): {
  readonly min: number;
  readonly max?: number | undefined;
} {
  if (count === undefined) return { min: 1 };
  return typeof count === 'number'
    ? { min: count, max: count }
    : { min: count.min ?? 0, max: count.max };
}

function outOfOrder(done: readonly string[], order: readonly string[]): string | undefined {
  let from = 0;
  for (const name of order) {
    const at = done.indexOf(name, from);
    if (at === -1) return `order ${order.join(' → ')}: got ${done.join(' → ') || 'none'}`;
    from = at + 1;
  }
  return undefined;
}

function fits(input: unknown, rules: ArgumentRules = {}): boolean {
  return Object.entries(rules).every(([path, rule]) => {
    const value = path
      .split('.')
      .reduce<unknown>(
        (inside, key) => (inside instanceof Object ? Reflect.get(inside, key) : undefined),
        input,
      );
    return fitsOne(value, rule);
  });
}

function fitsOne(value: unknown, rule: ArgumentRules[string]): boolean {
  const isOperator = typeof rule === 'object' && !Array.isArray(rule);
  if (!isOperator) return canonicalJson(value) === canonicalJson(rule);
  const { absent, contains, matches, equals } = rule;
  if (absent === true) return value === undefined;
  if (value === undefined) return false;
  if (matches !== undefined)
    return new RegExp(matches, 'iu').test(typeof value === 'string' ? value : canonicalJson(value));
  if (contains === undefined) return canonicalJson(value) === canonicalJson(equals);
  if (Array.isArray(value))
    return value.some((entry) => canonicalJson(entry) === canonicalJson(contains));
  return (
    typeof value === 'string' &&
    typeof contains === 'string' &&
    value.toLowerCase().includes(contains.toLowerCase())
  );
}

function said(rule: ToolRule): string {
  if ('order' in rule) return `order ${rule.order.join(' → ')}`;
  const given = rule.arguments === undefined ? '' : ` with ${canonicalJson(rule.arguments)}`;
  if ('not' in rule) return `${rule.not}${given} not called`;
  return `${rule.name}${given} called${rule.count === undefined ? '' : ` ${canonicalJson(rule.count)} times`}`;
}

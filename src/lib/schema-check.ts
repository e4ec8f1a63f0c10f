import { z } from 'zod';
import { nearest } from './suggest.ts';

interface SchemaProblem {
  /** Where it is; ends with the offending key where that is what is wrong. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly rule: 'schema' | 'unknown_key';
}

type SchemaResult<T> =
  | { readonly data: T; readonly problems?: undefined }
  | { readonly data?: undefined; readonly problems: readonly SchemaProblem[] };

/** The input as the schema has it, or what is wrong with it: in words that name the key, the value and the nearest valid choice. */
export function checkSchema<T>(schema: z.ZodType<T>, input: unknown): SchemaResult<T> {
  const { data, error, success } = schema.safeParse(input, { error: issueMessage });
  return success
    ? { data }
    : { problems: error.issues.flatMap((issue) => problemsOf(issue, issue.path)) };
}

/** A problem with the place that it is about. */
export function problemText({ path, message }: SchemaProblem): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

/** The message of an issue, a line for each of several unknown keys. */
function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
    return issue.keys.map((key) => `unknown key${suggestionText(key, known)}`).join('\n');
  }
  if (issue.code === 'invalid_value') return invalidChoiceMessage(input, issue.values);
  // A union whose branches are told apart by a key lists the values of that key.
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return invalidChoiceMessage(
      input instanceof Object ? Reflect.get(input, issue.discriminator ?? '') : undefined,
      issue.options,
    );
  }
  if (issue.code === 'invalid_type') {
    const wanted = typeWords[issue.expected] ?? issue.expected;
    return input === undefined
      ? `is missing (${wanted})`
      : `must be ${wanted}, not ${describeValue(input, issue.expected)}`;
  }
  if (issue.code === 'too_small' || issue.code === 'too_big') {
    const open = issue.inclusive === false;
    const [bound, limit] =
      issue.code === 'too_small'
        ? [open ? 'more than' : 'at least', issue.minimum]
        : [open ? 'less than' : 'at most', issue.maximum];
    if (issue.origin === 'string')
      return input === '' ? 'must not be empty' : `must have ${bound} ${limit} characters`;
    return issue.origin === 'array'
      ? `must have ${bound} ${limit} entries`
      : `must be ${bound} ${limit}, not ${describeValue(input, issue.origin)}`;
  }
  return issue.code === 'invalid_key'
    ? issue.issues.map(({ message }) => message).join('; ')
    : undefined;
}

/** A value in place of a text may be a secret, so it is not shown. */
function describeValue(value: unknown, expected: string): string {
  if (value === null) return 'empty';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'a map';
  return expected === 'string' ? (typeWords[typeof value] ?? typeof value) : JSON.stringify(value);
}

function invalidChoiceMessage(value: unknown, choices: readonly unknown[]): string {
  const said = value === undefined ? 'is missing' : `cannot be ${JSON.stringify(value)}`;
  return said + suggestionText(String(value), choices.map(String));
}

function suggestionText(wrong: string, choices: readonly string[]): string {
  const [suggestion] = nearest(wrong, choices, 1);
  if (suggestion !== undefined) return `; did you mean ${suggestion}?`;
  return choices.length === 0 ? '' : `; one of ${choices.join(', ')}`;
}

function problemsOf(
  issue: z.core.$ZodIssue,
  path: SchemaProblem['path'],
): readonly SchemaProblem[] {
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => ({
      path: [...path, key],
      message: messages[index] ?? '',
      rule: 'unknown_key',
    }));
  }
  // Of a union's branches the one that the input came furthest in.
  const depth = (issues: readonly z.core.$ZodIssue[]) =>
    Math.max(
      ...issues.map((inner) => inner.path.length + (inner.code === 'unrecognized_keys' ? 0.5 : 0)),
    );
  const [branch] =
    issue.code === 'invalid_union' ? issue.errors.toSorted((a, b) => depth(b) - depth(a)) : [];
  return (
    branch?.flatMap((inner) => problemsOf(inner, [...path, ...inner.path])) ?? [
      { path, message: issue.message, rule: 'schema' },
    ]
  );
}

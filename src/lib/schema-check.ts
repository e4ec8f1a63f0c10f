import { z } from 'zod';
import { nearest } from './suggest.ts';

interface SchemaProblem {
  /** The path of the wrong value; for an unknown key, it ends with that key. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly rule: 'schema' | 'unknown_key';
}

type SchemaResult<T> =
  | { readonly data: T; readonly problems?: undefined }
  | { readonly data?: undefined; readonly problems: readonly SchemaProblem[] };

/**
 * The parsed input, or its problems. Messages name the key, the value and the nearest valid choice.
 */
export function checkSchema<T>(schema: z.ZodType<T>, input: unknown): SchemaResult<T> {
  const { data, error, success } = schema.safeParse(input, { error: issueMessage });
  return success
    ? { data }
    : { problems: error.issues.flatMap((issue) => problemsOf(issue, issue.path)) };
}

/** The message with its path: `connections.shop.driver: is missing`. */
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

/**
 * The message of an issue; several unknown keys give one line each. Undefined keeps zod's message.
 */
function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
      return issue.keys.map((key) => `unknown key${suggestionText(key, known)}`).join('\n');
    }
    case 'invalid_value':
      return invalidChoiceMessage(input, issue.values);
    case 'invalid_union':
      return discriminatorMessage(issue);
    case 'invalid_type':
      return typeMessage(issue);
    case 'too_small':
      return boundMessage(
        issue,
        `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`,
      );
    case 'too_big':
      return boundMessage(
        issue,
        `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`,
      );
    case 'invalid_key':
      return issue.issues.map(({ message }) => message).join('; ');
    case 'invalid_format':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
      return undefined;
  }
  return undefined;
}

function typeMessage(issue: Extract<z.core.$ZodRawIssue, { code: 'invalid_type' }>): string {
  const expected = typeWords[issue.expected] ?? issue.expected;
  return issue.input === undefined
    ? `is missing (${expected})`
    : `must be ${expected}, not ${describeValue(issue.input, issue.expected)}`;
}

/**
 * A union that is discriminated by a key lists the values of that key; other unions keep zod's
 * message.
 */
function discriminatorMessage(
  issue: Extract<z.core.$ZodRawIssue, { code: 'invalid_union' }>,
): string | undefined {
  if (!('options' in issue) || !Array.isArray(issue.options)) return undefined;
  const { input } = issue;
  const discriminator =
    input instanceof Object ? Reflect.get(input, issue.discriminator ?? '') : undefined;
  return invalidChoiceMessage(discriminator, issue.options);
}

/** `bound` is like `at least 1`. */
function boundMessage(
  { input, origin }: Extract<z.core.$ZodRawIssue, { code: 'too_small' | 'too_big' }>,
  bound: string,
): string {
  if (origin === 'array') return `must have ${bound} entries`;
  if (origin !== 'string') return `must be ${bound}, not ${describeValue(input, origin)}`;
  return input === '' ? 'must not be empty' : `must have ${bound} characters`;
}

/**
 * Describes a wrong value. A value where text is expected could be a secret, so only its type is
 * named.
 */
function describeValue(value: unknown, expected: string): string {
  if (value === null) return 'empty';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'a map';
  return expected === 'string' ? (typeWords[typeof value] ?? typeof value) : JSON.stringify(value);
}

function invalidChoiceMessage(value: unknown, choices: readonly unknown[]): string {
  const fault = value === undefined ? 'is missing' : `cannot be ${JSON.stringify(value)}`;
  return fault + suggestionText(String(value), choices.map(String));
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
  // Of the branches of a union, report the one in which the input got furthest.
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

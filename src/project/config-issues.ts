import { z } from 'zod';
import { nearest } from '../lib/suggest.ts';

export interface ConfigIssue {
  /** Where it is; ends with the offending key where that is what is wrong. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** The key itself is wrong, not its value. */
  readonly atKey?: boolean;
}

/** What is wrong, in words that name the key, the value and the nearest valid choice. */
export function explainIssues(error: z.ZodError, schema: z.ZodType, input: unknown): readonly ConfigIssue[] {
  return error.issues.flatMap((issue) => explain(issue, schema, input));
}

type Issue = z.core.$ZodIssue;
type Path = ConfigIssue['path'];

function explain(issue: Issue, schema: z.ZodType, input: unknown): readonly ConfigIssue[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const value = valueAt(input, path);
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path, input);
    return issue.keys.map((key) => ({
      ...choice({ path: [...path, key], wrong: key, message: 'unknown key', choices: known }),
      atKey: true,
    }));
  }
  if (issue.code === 'invalid_value' || (issue.code === 'invalid_union' && 'options' in issue && issue.options !== undefined)) {
    const choices = ('values' in issue ? issue.values : (issue.options ?? [])).map(String);
    const message = value === undefined ? 'is missing' : `cannot be ${JSON.stringify(value)}`;
    return [choice({ path, wrong: String(value), message, choices })];
  }
  if (issue.code === 'invalid_type') {
    return [{ path, message: value === undefined ? `is missing (${issue.expected})` : `must be ${issue.expected}` }];
  }
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ path, message }));
  const branch = issue.code === 'invalid_union' ? deepest(issue.errors) : [];
  if (branch.length === 0) return [{ path, message: issue.message }];
  return branch.flatMap((inner) => explain({ ...inner, path: [...issue.path, ...inner.path] }, schema, input));
}

interface Choice {
  readonly path: Path;
  readonly wrong: string;
  readonly message: string;
  readonly choices: readonly string[];
}

function choice({ path, wrong, message, choices }: Choice): ConfigIssue {
  const [suggestion] = nearest(wrong, choices, 1);
  const all = suggestion === undefined && choices.length > 0 ? `; one of ${choices.join(', ')}` : '';
  return { path, message: message + all, suggestion };
}

/** Of a union's branches the one that the input came furthest in. */
function deepest(options: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) =>
    Math.max(...issues.map(({ path, code }) => path.length + (code === 'unrecognized_keys' ? 0.5 : 0)));
  return [...options].sort((a, b) => depth(b) - depth(a))[0] ?? [];
}

function valueAt(input: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, part) => (value instanceof Object ? Reflect.get(value, part) : undefined), input);
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The keys that the schema knows at a path; of a union's branches those whose constants fit the input. */
function keysAt(schema: z.ZodType, path: Path, input: unknown): readonly string[] {
  let nodes = branches(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), input);
  path.forEach((part, index) => {
    const value = valueAt(input, path.slice(0, index + 1));
    const inner = nodes.flatMap((node) => [node.properties?.[part], node.additionalProperties, node.items].filter(isSchema));
    nodes = inner.flatMap((node) => branches(node, value));
  });
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
}

function branches(node: JsonSchema, value: unknown): JsonSchema[] {
  const all = [...(node.oneOf ?? []), ...(node.anyOf ?? [])].filter(isSchema).flatMap((branch) => branches(branch, value));
  const fits = ([key, property]: [string, unknown]) =>
    !isSchema(property) || property.const === undefined || property.const === valueAt(value, [key]);
  const fitting = all.filter(({ properties = {} }) => Object.entries(properties).every(fits));
  return all.length === 0 ? [node] : fitting.length > 0 ? fitting : all;
}

function isSchema(node: unknown): node is JsonSchema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

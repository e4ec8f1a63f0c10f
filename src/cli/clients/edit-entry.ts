import { isDeepStrictEqual } from 'node:util';
import { parse as parseJson, type ParseError } from 'jsonc-parser';
import { editYaml } from '../../context/merge/yaml-edit.ts';
import type { Json } from '../../lib/json.ts';
import type { ClientEntry, McpClient } from './client-list.ts';
import { editJson } from './edit-json.ts';

type FileShape = Pick<McpClient, 'format' | 'keys'>;
type Mapping = Readonly<Record<string, unknown>>;

/** The file of a client cannot be edited; the message says why. */
export class UneditableFileError extends Error {}

/**
 * The entry of one server; undefined if there is none. Throws `UneditableFileError` where the text
 * cannot be read.
 */
export async function readEntry(
  text: string,
  shape: FileShape,
  name: string,
): Promise<Mapping | undefined> {
  const content = await parseText(text, shape.format);
  const value = [...shape.keys, name].reduce<unknown>(valueOf, content);
  return isMapping(value) ? value : undefined;
}

/**
 * The text with one server set, or removed where `entry` is undefined. Comments, order and all
 * other bytes stay; the result is parsed again and has to differ by that entry alone.
 */
export async function editEntry(
  text: string,
  shape: FileShape,
  change: { readonly name: string; readonly entry: ClientEntry | undefined },
): Promise<string> {
  const before = await parseText(text, shape.format);
  const old = [...shape.keys, change.name].reduce<unknown>(valueOf, before);
  if (isDeepStrictEqual(withoutPrototypes(old), withoutPrototypes(change.entry))) return text;
  const edited = await editors[shape.format](text, shape.keys, change);
  const after = await parseText(edited, shape.format);
  const wanted = withEntry(before, [...shape.keys, change.name], change.entry);
  if (isDeepStrictEqual(withoutPrototypes(after), withoutPrototypes(wanted))) return edited;
  throw new UneditableFileError('the entry has no place in it that leaves the rest as it is');
}

type Edit = (
  text: string,
  keys: readonly string[],
  change: { readonly name: string; readonly entry: ClientEntry | undefined },
) => string | Promise<string>;

const editors: Readonly<Record<McpClient['format'], Edit>> = {
  json: (text, keys, { name, entry }) => editJson(text, [...keys, name], entry),
  async toml(text, keys, { name, entry }) {
    const { parse, patch } = await import('@decimalturn/toml-patch');
    const content: Mapping = parse(text);
    const path = [...keys, name];
    const isThere = path.slice(0, -1).reduce<unknown>(valueOf, content) !== undefined;
    const cleared = isThere ? patch(text, withEntry(content, path, undefined)) : text;
    return entry === undefined ? cleared : appendTable(cleared, path, entry);
  },
  async yaml(text, keys, { name, entry }) {
    const { parse, stringify } = await import('yaml');
    const content: unknown = parse(text);
    const servers = keys.reduce(valueOf, content);
    if (servers === undefined) {
      const added = keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), {
        [name]: entry,
      });
      const block = stringify(added, { lineWidth: 0 }).replaceAll('\n', lineEnd(text));
      return text + (text === '' || text.endsWith('\n') ? '' : lineEnd(text)) + block;
    }
    const isLast = entry === undefined && isMapping(servers) && Object.keys(servers).length === 1;
    const edit = isLast ? { at: [...keys], value: {} } : { at: [...keys, name], value: entry };
    const { text: edited, refused } = editYaml(text, [edit], []);
    if (refused.length === 0) return edited;
    throw new UneditableFileError(
      `its ${keys.join('.')} cannot be edited without losing a comment`,
    );
  },
};

/** As the clients themselves write it: a table of its own at the end. */
function appendTable(text: string, path: readonly string[], entry: ClientEntry): string {
  const end = lineEnd(text);
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`);
  const gap = text === '' ? '' : text.endsWith('\n') ? end : end + end;
  return `${text}${gap}${[`[${path.map(tomlKey).join('.')}]`, ...lines].join(end)}${end}`;
}

function tomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function tomlValue(value: Json): string {
  return Array.isArray(value) ? `[${value.map(tomlValue).join(', ')}]` : JSON.stringify(value);
}

async function parseText(text: string, format: McpClient['format']): Promise<unknown> {
  if (text.trim() === '') return {};
  if (format === 'json') return parseJsonText(text);
  try {
    if (format === 'toml') return (await import('@decimalturn/toml-patch')).parse(text);
    const { parse } = await import('yaml');
    return parse(text) ?? {};
  } catch (error) {
    throw new UneditableFileError(`it is no valid ${format.toUpperCase()}: ${firstLine(error)}`);
  }
}

/** JSON with comments and trailing commas. */
function parseJsonText(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parseJson(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split('\n').length;
    throw new UneditableFileError(`it is no valid JSON: line ${line}`);
  }
  if (!isMapping(value)) throw new UneditableFileError('it is no JSON object');
  return value;
}

/** A copy in which one value is set or removed. */
function withEntry(
  content: unknown,
  [key = '', ...rest]: readonly string[],
  entry: ClientEntry | undefined,
): Mapping {
  if (!isMapping(content)) throw new UneditableFileError('a list or text is where servers go');
  const { [key]: old, ...others } = content;
  if (rest.length === 0) return entry === undefined ? others : { ...content, [key]: entry };
  if (old === undefined && entry === undefined) return content;
  return { ...content, [key]: withEntry(old ?? {}, rest, entry) };
}

function valueOf(value: unknown, key: string): unknown {
  return isMapping(value) ? value[key] : undefined;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without prototypes, which parsers give and the wanted value does not. */
function withoutPrototypes(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line;
}

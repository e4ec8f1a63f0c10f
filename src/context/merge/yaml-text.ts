import type { Json } from '../../lib/json.ts';

/** What a YAML file of ktx holds at its top; lists of mappings are written with one entry a line. */
export type YamlMapping = Readonly<Record<string, Json | undefined>>;

/** Letters first, nothing that means something to YAML after; so it reads as itself in every version of YAML. */
const plain = /^[\p{L}_][\p{L}\p{N}_ .()/<>=+*'%;!?&|@$^~-]*$/u;
const keyword = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
/** What JSON leaves as it is and YAML cannot hold, or a reader cannot see. */
const invisible = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff\p{Cf}]/gu;

/** A new file: one top-level key after the other. */
export function yamlFile(comment: string, mapping: YamlMapping): string {
  const pairs = Object.entries(mapping).flatMap(([key, value]) =>
    value === undefined ? [] : [yamlBlock(key, value)],
  );
  return [`# ${comment}`, ...pairs, ''].join('\n');
}

/** `key: value` in block style: a list of mappings gets a line an entry. */
export function yamlBlock(key: string, value: Json): string {
  if (!isList(value) || value.length === 0 || !value.every(isMapping)) return yamlPair(key, value);
  return `${yamlKey(key)}:${value.map((entry) => `\n  - ${yamlValue(entry)}`).join('')}`;
}

/** `key: value` on one line, in flow style. */
export function yamlPair(key: string, value: Json): string {
  return `${yamlKey(key)}: ${yamlValue(value)}`;
}

/** A value on one line, in flow style. */
export function yamlValue(value: Json): string {
  if (typeof value === 'string') return yamlString(value);
  if (isList(value)) return `[${value.map(yamlValue).join(', ')}]`;
  if (!isMapping(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) => yamlPair(key, inner));
  return `{${pairs.join(', ')}}`;
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

export function isMapping(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `on` is a word of the model, and a plain string in the YAML that ktx reads. */
export function yamlKey(key: string): string {
  return key === 'on' ? key : yamlString(key);
}

function yamlString(text: string): string {
  if (plain.test(text) && !keyword.test(text) && !text.endsWith(' ')) return text;
  const quoted = JSON.stringify(text).replaceAll(invisible, escaped);
  const needsEscape = quoted.replaceAll(/\\["\\]/g, '').includes('\\');
  return quoted.includes('\\') && !needsEscape ? `'${text.replaceAll("'", "''")}'` : quoted;
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) =>
    character.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return units.map((unit) => `\\u${unit}`).join('');
}

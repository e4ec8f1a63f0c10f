import type { Json } from '../../lib/json.ts';

/** The top-level mapping of a YAML file. Lists of mappings are written with one entry per line. */
export type YamlFileContent = Readonly<Record<string, Json | undefined>>;

/**
 * Text that needs no quotes in any version of YAML: a letter first, then no character with a
 * meaning in YAML.
 */
const plainScalar = /^[\p{L}_][\p{L}\p{N}_ .()/<>=+*'%;!&|@$^~-]*$/u;
const reservedWord = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
/** Characters that JSON does not escape, and that YAML does not allow or a reader cannot see. */
const invisible = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff\p{Cf}]/gu;

/** The text of a new file. */
export function yamlFile(comment: string, mapping: YamlFileContent): string {
  const pairs = Object.entries(mapping).flatMap(([key, value]) =>
    value === undefined ? [] : [yamlBlock(key, value)],
  );
  return [`# ${comment}`, ...pairs, ''].join('\n');
}

/** `key: value` in block style: a list of mappings has one line per entry. */
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

/** `on` is a key of relationships, and a plain string in the YAML 1.2 that ktx reads. */
export function yamlKey(key: string): string {
  return key === 'on' ? key : yamlString(key);
}

function yamlString(text: string): string {
  if (plainScalar.test(text) && !reservedWord.test(text) && !text.endsWith(' ')) return text;
  const quoted = JSON.stringify(text).replaceAll(invisible, escapeCharacter);
  const needsEscape = quoted.replaceAll(/\\["\\]/g, '').includes('\\');
  return quoted.includes('\\') && !needsEscape ? `'${text.replaceAll("'", "''")}'` : quoted;
}

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, position) =>
    character.charCodeAt(position).toString(16).padStart(4, '0'),
  );
  return units.map((unit) => `\\u${unit}`).join('');
}

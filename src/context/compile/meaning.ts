import { canonicalJson, type Json } from '../../lib/json.ts';
import { bodySchemas, type Claim } from '../claims/claim.ts';
import { isList, isMapping } from '../merge/yaml-text.ts';

/**
 * A text that is equal for claims of one kind with the same meaning. Case, spaces and the order of
 * key columns do not count, nor does what a metric says besides its definition.
 */
export function meaningKey({ kind, body }: Pick<Claim, 'kind' | 'body'>): string {
  if (kind === 'relationship') {
    const { data } = bodySchemas.relationship.safeParse(body);
    return canonicalJson(data === undefined ? body : { to: data.to, on: data.on });
  }
  if (kind === 'primary_key' && isList(body)) return canonicalJson(body.map(String).sort());
  if (kind === 'metric' && isMapping(body)) {
    const {
      description: _description,
      synonyms: _synonyms,
      unit: _unit,
      owner: _owner,
      hidden: _hidden,
      ...definition
    } = body;
    return canonicalJson(mapTexts(definition, normalizeSql));
  }
  if (kind === 'definition' || kind === 'rule' || kind === 'unit')
    return canonicalJson(mapTexts(body, normalizeProse));
  return canonicalJson(body);
}

/** The value with `transform` applied to every text in it. */
function mapTexts(value: Json, transform: (text: string) => string): Json {
  if (typeof value === 'string') return transform(value);
  if (isList(value)) return value.map((item) => mapTexts(item, transform));
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, transform)]),
  );
}

function normalizeProse(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}%€$£]+/gu, ' ')
    .trim();
}

/** Outside of quotes, case and spaces do not count; `==` is `=`, and `<>` is `!=`. */
function normalizeSql(text: string): string {
  const parts = text.split(/('(?:[^']|'')*'|"(?:[^"]|"")*")/);
  const normalized = parts.map((part, index) => {
    const isQuoted = index % 2 === 1;
    if (isQuoted) return part;
    return part
      .toLowerCase()
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ ?([^\w ]) ?/g, '$1');
  });
  return normalized.join('').trim().replaceAll('<>', '!=').replaceAll('==', '=');
}

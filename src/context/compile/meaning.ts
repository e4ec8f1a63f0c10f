import { canonicalJson, type Json } from '../../lib/json.ts';
import { bodySchemas, type Claim } from '../claims/claim.ts';
import { isList, isMapping } from '../merge/yaml-text.ts';

/** Equal for claims of one kind that say the same in other words: case, spaces, order where it means nothing. */
export function meaningKey({ kind, body }: Pick<Claim, 'kind' | 'body'>): string {
  if (kind === 'relationship') {
    const { data } = bodySchemas.relationship.safeParse(body);
    return canonicalJson(data === undefined ? body : { to: data.to, on: data.on });
  }
  if (kind === 'primary_key' && isList(body)) return canonicalJson(body.map(String).sort());
  if (kind === 'metric' && isMapping(body)) {
    const {
      description: _,
      synonyms: _synonyms,
      unit: _unit,
      hidden: _hidden,
      ...definition
    } = body;
    return canonicalJson(plain(definition, bareSql));
  }
  if (kind === 'definition' || kind === 'rule' || kind === 'unit')
    return canonicalJson(plain(body, bareText));
  return canonicalJson(body);
}

function plain(value: Json, bare: (text: string) => string): Json {
  if (typeof value === 'string') return bare(value);
  if (isList(value)) return value.map((one) => plain(one, bare));
  return isMapping(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one, bare)]))
    : value;
}

function bareText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}%€$£]+/gu, ' ')
    .trim();
}

/** Outside of quotes, case and spaces mean nothing; `=` and `==`, `<>` and `!=` are the same. */
function bareSql(text: string): string {
  const parts = text.split(/('(?:[^']|'')*'|"(?:[^"]|"")*")/);
  const bare = parts.map((part, index) =>
    index % 2 === 1
      ? part
      : part
          .toLowerCase()
          .replaceAll(/\s+/g, ' ')
          .replaceAll(/ ?([^\w ]) ?/g, '$1'),
  );
  return bare.join('').trim().replaceAll('<>', '!=').replaceAll('==', '=');
}

import { isRecord } from '../../lib/json.ts';

/** What a tag in the SQL of a card stands for. */
interface SqlTag {
  /** A snippet, the rows of a question, or what a person fills in: a value or a filter. */
  readonly kind: 'snippet' | 'card' | 'filter' | 'value';
  /** Of the snippet or the question; -1 for others. */
  readonly id: number;
  /** True if Metabase has a value for it where nobody gives one. */
  readonly hasDefault: boolean;
}

/** The tag of a name between two braces, as the query of the card describes it. */
export function readSqlTag(inside: string, tags: DescribedTags): SqlTag {
  const name = inside.trim();
  const [, card] = /^#(\d+)/.exec(name) ?? [];
  const described = Object.hasOwn(tags, name) ? tags[name] : undefined;
  const tag = isRecord(described) ? described : {};
  const hasDefault = (tag['default'] ?? null) !== null || tag['required'] === true;
  if (card !== undefined) return { kind: 'card', id: Number(card), hasDefault };
  if (name.startsWith('snippet:')) {
    const id = tag['snippet-id'];
    return { kind: 'snippet', id: typeof id === 'number' ? id : -1, hasDefault };
  }
  return { kind: tag['type'] === 'dimension' ? 'filter' : 'value', id: -1, hasDefault };
}

export type DescribedTags = Readonly<Record<string, unknown>>;

/** Of both generations: in the native part of the query, or in its first stage. */
export function describedTags(query: Readonly<Record<string, unknown>>): DescribedTags {
  const stages = Array.isArray(query['stages']) ? query['stages'] : [];
  const holders: unknown[] = [query['native'], stages[0]];
  const tags = holders.map((holder) => (isRecord(holder) ? holder['template-tags'] : undefined));
  return tags.find(isRecord) ?? {};
}

/**
 * The SQL that Metabase runs where nobody fills anything in: optional parts without a value of
 * their own fall away, a filter is `1 = 1`. `replace` gives the text for every other tag, and
 * throws for one that cannot be said.
 */
export function unfilledSql(
  sql: string,
  tagOf: (inside: string) => SqlTag,
  replace: (tag: SqlTag, inside: string) => string,
): string {
  const isOpen = ({ kind, hasDefault }: SqlTag) =>
    (kind === 'value' || kind === 'filter') && !hasDefault;
  const required = replaceBetween(sql, ['[[', ']]'], (part) => {
    const tags = [...part.matchAll(tagPattern)].map(([, inside = '']) => tagOf(inside));
    // Without a tag it is no optional part: the caller refuses the brackets.
    return tags.length === 0 ? `[[${part}]]` : tags.some(isOpen) ? '' : part;
  });
  return required.replaceAll(tagPattern, (_, inside: string) => {
    const tag = tagOf(inside);
    return tag.kind === 'filter' && !tag.hasDefault ? '1 = 1' : replace(tag, inside.trim());
  });
}

const tagPattern = /\{\{([^{}]{0,200})\}\}/g;

/**
 * The SQL of a card without what Metabase fills in: `[[AND day > {{from}}]]` is optional and left
 * out, `{{#7-orders}}` is the query of card 7, and other tags count as NULL.
 */
export function withoutTags(sql: string): string {
  const required = replaceBetween(sql, ['[[', ']]'], () => '');
  return replaceBetween(required, ['{{', '}}'], (inside) =>
    inside.trim().startsWith('#') ? '(SELECT 1)' : 'NULL',
  );
}

/** Replaces each part between two marks, in linear time. */
function replaceBetween(
  text: string,
  [open, close]: readonly [string, string],
  replace: (inside: string) => string,
): string {
  return text
    .split(open)
    .map((part, index) => {
      const end = part.indexOf(close);
      if (index === 0 || end === -1) return part;
      return replace(part.slice(0, end)) + part.slice(end + close.length);
    })
    .join('');
}

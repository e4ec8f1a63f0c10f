import { isRecord } from '../../../lib/json.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import type { ExpressionText } from '../../model/schema-parts.ts';
import type { PlainObject } from '../patch.ts';
import { dialectTags, type OssieExpression } from './schema.ts';

/**
 * The key of a ktx expression map under which a connection's own SQL goes: its dialect if Ossie has
 * a tag for it, else `default`.
 */
export function ownDialectKey({ name }: Dialect): string {
  return name in dialectTags ? name : 'default';
}

/** Undefined if Ossie has a tag for none of the dialects. */
export function toOssieExpression(
  text: ExpressionText,
  dialect: Dialect,
): OssieExpression | undefined {
  const texts = Object.entries(
    typeof text === 'string' ? { [ownDialectKey(dialect)]: text } : text,
  );
  const dialects = texts.flatMap(([key, expression]) => {
    const tag = dialectTags[key];
    return tag === undefined ? [] : [{ dialect: tag, expression }];
  });
  return dialects.length === 0 ? undefined : { dialects };
}

export function fromOssieExpression(
  { dialects }: OssieExpression,
  dialect: Dialect,
): ExpressionText {
  const keyOfTag = (tag: string) =>
    Object.keys(dialectTags).find((key) => dialectTags[key] === tag) ?? tag.toLowerCase();
  const texts = dialects.map((entry): [string, string] => [
    keyOfTag(entry.dialect),
    entry.expression,
  ]);
  const [first] = texts;
  return first !== undefined && texts.length === 1 && first[0] === ownDialectKey(dialect)
    ? first[1]
    : Object.fromEntries(texts);
}

/** Ossie keeps synonyms in `ai_context`. */
export function toAiContext(synonyms: readonly string[] | undefined): PlainObject | undefined {
  return synonyms === undefined ? undefined : { synonyms };
}

export function synonymsFromAiContext(context: unknown): string[] | undefined {
  const synonyms = isRecord(context) ? context['synonyms'] : undefined;
  return Array.isArray(synonyms) && synonyms.every((synonym) => typeof synonym === 'string')
    ? synonyms
    : undefined;
}

export function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

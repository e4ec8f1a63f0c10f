import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, type ExpressionText, sourceParts } from '../../model/dataset.ts';
import {
  toDatasetName,
  toKtxName,
  type DatasetField,
  type DatasetRelationship,
} from '../imported-model.ts';
import {
  datatypeOf,
  dialectTags,
  type OssieDataset,
  type OssieExpression,
  type OssieField,
  type OssieRelationship,
  typeOfDatatype,
} from './schema.ts';
import { type Entry, isEntry, without } from '../patch.ts';

/** What the two languages have in common: each pair of functions is lossless but for what the other side has no word for. */

/** The key of ktx's expression maps that the connection's own texts stand for. */
function ownKey({ name }: Dialect): string {
  return name in dialectTags ? name : 'default';
}

/** The texts with a word for their dialect; undefined where there are none. */
function expressionOut(text: ExpressionText, dialect: Dialect): OssieExpression | undefined {
  const texts = Object.entries(typeof text === 'string' ? { [ownKey(dialect)]: text } : text);
  const dialects = texts.flatMap(([key, expression]) => {
    const tag = dialectTags[key];
    return tag === undefined ? [] : [{ dialect: tag, expression }];
  });
  return dialects.length === 0 ? undefined : { dialects };
}

export function expressionIn({ dialects }: OssieExpression, dialect: Dialect): ExpressionText {
  const keyOf = (tag: string) =>
    Object.keys(dialectTags).find((key) => dialectTags[key] === tag) ?? tag.toLowerCase();
  const texts = dialects.map((one): [string, string] => [keyOf(one.dialect), one.expression]);
  const [first] = texts;
  return first !== undefined && texts.length === 1 && first[0] === ownKey(dialect)
    ? first[1]
    : Object.fromEntries(texts);
}

/** The text that the connection would use. */
export function usedText(text: ExpressionText, dialect: Dialect): string | undefined {
  return typeof text === 'string' ? text : (text[dialect.name] ?? text['default']);
}

/** A column as SQL, quoted where that makes a difference. */
function columnText(name: string, { ignoresCase }: Dialect): string {
  return (ignoresCase ? /^[A-Za-z_]\w*$/ : /^[a-z_][a-z0-9_]*$/).test(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

export function synonymsOut(synonyms: readonly string[] | undefined): Entry | undefined {
  return synonyms === undefined ? undefined : { synonyms };
}

export function synonymsIn(context: unknown): string[] | undefined {
  const found = isEntry(context) ? context['synonyms'] : undefined;
  return Array.isArray(found) && found.every((one) => typeof one === 'string') ? found : undefined;
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function fieldOut(field: DatasetField, dialect: Dialect): OssieField {
  const { name, expr, type, description, synonyms } = field;
  const column = columnText(name, dialect);
  const expression = expressionOut(expr ?? column, dialect) ?? {
    dialects: [{ dialect: 'ANSI_SQL', expression: column }],
  };
  const others = without({
    description,
    datatype: datatypeOf(type),
    ai_context: synonymsOut(synonyms),
  });
  return { name, expression, ...others };
}

export function fieldIn(
  { name: original, expression, ...field }: OssieField,
  dialect: Dialect,
): DatasetField {
  const name = toKtxName(original);
  const expr = expressionIn(expression, dialect);
  const rest = without({
    type: typeOfDatatype(field['datatype']),
    expr: expr === columnText(name, dialect) ? undefined : expr,
    description: textIn(field['description']),
    synonyms: synonymsIn(field['ai_context']),
  });
  return { name, ...rest };
}

/** Undefined where Ossie cannot say how the two join. */
export function relationshipOut(
  relationship: DatasetRelationship,
  from: string,
): OssieRelationship | undefined {
  const { to, on, role, via, within } = relationship;
  // Without its range, others would join every version.
  if (
    typeof on === 'string' ||
    via !== undefined ||
    within !== undefined ||
    relationship.cardinality === 'many_to_many'
  )
    return undefined;
  const pairs = Object.entries(on);
  if (pairs.length === 0) return undefined;
  return {
    name: `${from}_to_${role ?? to}`,
    from,
    to,
    from_columns: pairs.map(([own]) => own),
    to_columns: pairs.map(([, target]) => target),
  };
}

/** `isOnly`: no other leads from the one dataset to the other, so it needs no role. */
export function relationshipIn(
  relationship: OssieRelationship,
  isOnly: boolean,
): DatasetRelationship {
  const { name, from, to, from_columns, to_columns } = relationship;
  const on = Object.fromEntries(
    from_columns.map((column, index): [string, string] => [column, to_columns[index] ?? '']),
  );
  const role = name.startsWith(`${from}_to_`) ? name.slice(from.length + 4) : name;
  return isOnly ? { to, on } : { to, on, role: toKtxName(role) };
}

/** Without fields, metrics and relationships. */
export function datasetOut({
  dataset,
  source,
  sql,
  description,
  synonyms,
  primary_key,
  unique_keys,
}: Dataset): OssieDataset {
  const others = without({
    primary_key,
    unique_keys,
    description,
    ai_context: synonymsOut(synonyms),
  });
  return { name: dataset, source: source ?? sql ?? '', ...others };
}

export function datasetIn({
  name,
  source,
  primary_key,
  unique_keys,
  ...dataset
}: OssieDataset): Dataset {
  const isTable = sourceParts(source) !== undefined && !/\s/.test(source);
  const rest = without({
    [isTable ? 'source' : 'sql']: source,
    primary_key,
    unique_keys,
    description: textIn(dataset['description']),
    synonyms: synonymsIn(dataset['ai_context']),
  });
  return { dataset: toDatasetName(name), ...rest };
}

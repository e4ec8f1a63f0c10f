import { type Dialect, foldedName } from '../../../sql/dialect.ts';
import { type Dataset, splitTableName } from '../../model/dataset.ts';
import {
  type DatasetField,
  type DatasetRelationship,
  toDatasetName,
  toKtxName,
} from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import {
  fromOssieExpression,
  stringOrUndefined,
  synonymsFromAiContext,
  toAiContext,
  toOssieExpression,
} from './expression-conversion.ts';
import {
  fromOssieDatatype,
  toOssieDatatype,
  type OssieDataset,
  type OssieField,
  type OssieRelationship,
} from './schema.ts';

/** Converts a dataset without its fields, metrics and relationships. */
export function toOssieDataset({
  dataset,
  source,
  sql,
  description,
  synonyms,
  primary_key,
  unique_keys,
}: Dataset): OssieDataset {
  const others = omitKeys({
    primary_key,
    unique_keys,
    description,
    ai_context: toAiContext(synonyms),
  });
  return { name: dataset, source: source ?? sql ?? '', ...others };
}

/** The reverse of `toOssieDataset`. A source that is no table name is read as SQL. */
export function fromOssieDataset({
  name,
  source,
  primary_key,
  unique_keys,
  ...dataset
}: OssieDataset): Dataset {
  const isTable = splitTableName(source) !== undefined && !/\s/.test(source);
  const others = omitKeys({
    [isTable ? 'source' : 'sql']: source,
    primary_key,
    unique_keys,
    description: stringOrUndefined(dataset['description']),
    synonyms: synonymsFromAiContext(dataset['ai_context']),
  });
  return { dataset: toDatasetName(name), ...others };
}

export function toOssieField(field: DatasetField, dialect: Dialect): OssieField {
  const { name, expr, type, description, synonyms } = field;
  const column = quoteColumn(name, dialect);
  const expression = toOssieExpression(expr ?? column, dialect) ?? {
    dialects: [{ dialect: 'ANSI_SQL', expression: column }],
  };
  const others = omitKeys({
    description,
    datatype: toOssieDatatype(type),
    ai_context: toAiContext(synonyms),
  });
  return { name, expression, ...others };
}

export function fromOssieField(
  { name: ossieName, expression, ...field }: OssieField,
  dialect: Dialect,
): DatasetField {
  const name = toKtxName(ossieName);
  const expr = fromOssieExpression(expression, dialect);
  const others = omitKeys({
    type: fromOssieDatatype(field['datatype']),
    expr: expr === quoteColumn(name, dialect) ? undefined : expr,
    description: stringOrUndefined(field['description']),
    synonyms: synonymsFromAiContext(field['ai_context']),
  });
  return { name, ...others };
}

/** A column as SQL, with quotes only if the name needs them. */
function quoteColumn(name: string, dialect: Dialect): string {
  const isFolded = dialect.ignoresCase || name === foldedName(name, dialect);
  const isPlain = isFolded && /^[A-Za-z_]\w*$/.test(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Undefined if Ossie cannot express the join: it joins by equal columns only. */
export function toOssieRelationship(
  relationship: DatasetRelationship,
  from: string,
): OssieRelationship | undefined {
  const { to, on, role, via, within, cardinality } = relationship;
  if (typeof on === 'string' || via !== undefined || cardinality === 'many_to_many')
    return undefined;
  // Without its validity range, another tool would join every version of a row.
  if (within !== undefined) return undefined;
  const columnPairs = Object.entries(on);
  if (columnPairs.length === 0) return undefined;
  return {
    name: `${from}_to_${role ?? to}`,
    from,
    to,
    from_columns: columnPairs.map(([fromColumn]) => fromColumn),
    to_columns: columnPairs.map(([, toColumn]) => toColumn),
  };
}

/** `isOnlyJoin`: no other relationship joins the same two datasets, so this one needs no role. */
export function fromOssieRelationship(
  relationship: OssieRelationship,
  isOnlyJoin: boolean,
): DatasetRelationship {
  const { name, from, to, from_columns, to_columns } = relationship;
  const on = Object.fromEntries(
    from_columns.map((column, index): [string, string] => [column, to_columns[index] ?? '']),
  );
  const role = name.startsWith(`${from}_to_`) ? name.slice(from.length + 4) : name;
  return isOnlyJoin ? { to, on } : { to, on, role: toKtxName(role) };
}

import { z } from 'zod';

/**
 * MetricFlow's semantic models, as YAML (`semantic_models:`) and as JSON (`semantic_manifest.json`, `manifest.json`) have
 * them. Loose: what is not named here does not matter to ktx.
 */
const text = z.string();
const optionalText = text.nullish().transform((value) => value ?? undefined);
const expression = z
  .union([text, z.number(), z.boolean()])
  .nullish()
  .transform((value) => (value === null || value === undefined ? undefined : String(value)));
const lowerCase = text.transform((value) => value.toLowerCase());

const entitySchema = z.looseObject({
  name: text,
  type: lowerCase,
  expr: expression,
  label: optionalText,
  description: optionalText,
});
export type Entity = z.infer<typeof entitySchema>;

const dimensionSchema = z.looseObject({
  name: text,
  type: lowerCase,
  expr: expression,
  label: optionalText,
  description: optionalText,
});
export type Dimension = z.infer<typeof dimensionSchema>;

const nonAdditiveSchema = z.looseObject({
  name: text,
  window_choice: lowerCase.nullish().transform((value) => value ?? 'min'),
  window_groupings: z.array(text).nullish(),
});
const aggregateParamsSchema = z.looseObject({
  percentile: z.number().nullish(),
  use_discrete_percentile: z.boolean().nullish(),
  use_approximate_percentile: z.boolean().nullish(),
});

export const measureSchema = z.looseObject({
  name: text,
  agg: lowerCase,
  expr: expression,
  label: optionalText,
  description: optionalText,
  create_metric: z.boolean().nullish(),
  agg_params: aggregateParamsSchema.nullish(),
  agg_time_dimension: optionalText,
  non_additive_dimension: nonAdditiveSchema.nullish(),
});
export type Measure = z.infer<typeof measureSchema>;

const listOf = <T extends z.ZodType>(schema: T) =>
  z
    .array(schema)
    .nullish()
    .transform((value) => value ?? []);

export const semanticModelSchema = z.looseObject({
  name: text,
  model: optionalText,
  node_relation: z
    .looseObject({ alias: text, schema_name: optionalText, database: optionalText })
    .nullish(),
  label: optionalText,
  description: optionalText,
  primary_entity: optionalText,
  defaults: z.looseObject({ agg_time_dimension: optionalText }).nullish(),
  entities: listOf(entitySchema),
  dimensions: listOf(dimensionSchema),
  measures: listOf(measureSchema),
});
export type SemanticModelSpec = z.infer<typeof semanticModelSchema>;

/** The entity that one row is of; undefined where none is declared. */
export function primaryEntity({ primary_entity, entities }: SemanticModelSpec): string | undefined {
  return entities.find(({ type }) => type === 'primary')?.name ?? primary_entity;
}

/** The table that a model names, and how: by its relation, as `schema.table`, by `ref('orders')` or `source('crm', 'customers')`. */
export function tableOfModel({
  node_relation: relation,
  model = '',
}: Pick<SemanticModelSpec, 'node_relation' | 'model'>) {
  if (relation)
    return {
      table: relation.alias,
      schema: relation.schema_name,
      database: relation.database,
      isGuess: false,
    };
  const [, kind, ...names] =
    /^\s*(?:\{\{)?\s*(ref|source)\(\s*['"]([^'"]+)['"](?:\s*,\s*['"]([^'"]+)['"])?\s*\)\s*(?:\}\})?\s*$/.exec(
      model,
    ) ?? [];
  const [table, schema, database] = (
    kind === undefined ? model.split('.') : names.filter((name) => name !== undefined)
  ).toReversed();
  // The first name of a ref with two is a package; in which schema dbt builds a model is not in its file.
  if (kind !== undefined)
    return {
      table,
      schema: kind === 'source' ? schema : undefined,
      database: undefined,
      isGuess: true,
    };
  return { table: table === '' ? undefined : table, schema, database, isGuess: false };
}

/** An expression that is just a column; a name without an expression is that column. */
export function plainColumn({
  name,
  expr = name,
}: {
  readonly name: string;
  readonly expr?: string | undefined;
}): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_$]*$/.test(expr.trim()) ? expr.trim() : undefined;
}

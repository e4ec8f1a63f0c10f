import { z } from 'zod';

/**
 * MetricFlow's semantic models as they stand in YAML (`semantic_models:`) and in JSON
 * (`semantic_manifest.json`, `manifest.json`). The schemas are loose: ktx ignores all keys that are
 * not named here.
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

const nonAdditiveDimensionSchema = z.looseObject({
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
  non_additive_dimension: nonAdditiveDimensionSchema.nullish(),
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

/** The entity of which each row of the model is one; undefined if the model declares none. */
export function primaryEntity({ primary_entity, entities }: SemanticModelSpec): string | undefined {
  return entities.find(({ type }) => type === 'primary')?.name ?? primary_entity;
}

interface ModelTable {
  readonly table: string | undefined;
  readonly schema: string | undefined;
  readonly database: string | undefined;
  /**
   * True if the name stands in `ref` or `source`: only dbt knows in which schema it builds the
   * table.
   */
  readonly isGuess: boolean;
}

const refOrSource =
  /^\s*(?:\{\{)?\s*(ref|source)\(\s*['"]([^'"]+)['"](?:\s*,\s*['"]([^'"]+)['"])?\s*\)\s*(?:\}\})?\s*$/;

/**
 * The table of a semantic model: from its relation, `schema.table`, `ref('orders')` or
 * `source('crm', 'customers')`.
 */
export function tableOfModel({
  node_relation: relation,
  model = '',
}: Pick<SemanticModelSpec, 'node_relation' | 'model'>): ModelTable {
  if (relation) {
    const { alias: table, schema_name: schema, database } = relation;
    return { table, schema, database, isGuess: false };
  }
  const [, kind, first, second] = refOrSource.exec(model) ?? [];
  if (kind !== undefined) {
    // The first of two names in `ref` is a package.
    const schema = kind === 'source' && second !== undefined ? first : undefined;
    return { table: second ?? first, schema, database: undefined, isGuess: true };
  }
  const [table, schema, database] = model.split('.').toReversed();
  return { table: table === '' ? undefined : table, schema, database, isGuess: false };
}

/**
 * The column, if the expression is just a column; without an expression, the name is the column.
 */
export function plainColumn({
  name,
  expr = name,
}: {
  readonly name: string;
  readonly expr?: string | undefined;
}): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_$]*$/.test(expr.trim()) ? expr.trim() : undefined;
}

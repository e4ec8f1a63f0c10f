import { z } from 'zod';
import { type TimeGrain, timeGrains } from '../../../../sql/dialect.ts';
import type { Dataset } from '../../../model/dataset.ts';
import { type AddMisfit, toDatasetName } from '../../imported-model.ts';
import { ktxMeta } from './metric-spec.ts';

const text = z.string();
const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
const customGranularities = listOf(z.looseObject({ name: text, column_name: text.nullish() }));

/** A time spine in dbt's YAML: an option of a model. */
const modelSchema = z.looseObject({
  name: text,
  time_spine: z
    .looseObject({ standard_granularity_column: text, custom_granularities: customGranularities })
    .nullish(),
  columns: listOf(z.looseObject({ name: text, granularity: text.nullish() })),
});

/** Time spines in a semantic manifest, and those of older ones. */
const projectSchema = z.looseObject({
  time_spines: listOf(
    z.looseObject({
      node_relation: z.looseObject({ alias: text, relation_name: text.nullish() }),
      primary_column: z.looseObject({ name: text, time_granularity: text }),
      custom_granularities: customGranularities,
    }),
  ),
  time_spine_table_configurations: listOf(
    z.looseObject({ location: text, column_name: text, grain: text }),
  ),
});

/** A time spine as dbt's files have it. */
export interface TimeSpineSpec {
  readonly name: string;
  /** The table: a name with or without its schema, or a `ref`. */
  readonly source: string;
  readonly column: string;
  readonly grain: string;
  readonly customGranularities: z.infer<typeof customGranularities>;
}

/** The time spines of a file: options of its models, and those of a semantic manifest. */
export function listTimeSpines(document: {
  readonly models?: unknown;
  readonly project_configuration?: unknown;
}): readonly TimeSpineSpec[] {
  return [...spinesOfModels(document.models), ...spinesOfProject(document.project_configuration)];
}

/** The period of that name in any case; undefined if ktx does not know it. */
export function findTimeGrain(written: string): TimeGrain | undefined {
  return timeGrains.find((grain) => grain === written.toLowerCase());
}

/** The datasets of the time spines. One with a grain that ktx does not know is left out. */
export function readTimeSpines(
  document: { readonly models?: unknown; readonly project_configuration?: unknown },
  addMisfit: AddMisfit,
): readonly Dataset[] {
  return listTimeSpines(document).flatMap((spine): readonly Dataset[] => {
    const { name, source, column } = spine;
    const grain = findTimeGrain(spine.grain);
    if (grain === undefined) {
      addMisfit(`time_spines.${name}`, `left out: ktx does not know the period ${spine.grain}`);
      return [];
    }
    const custom = spine.customGranularities.map((granularity) => ({
      name: granularity.name.toLowerCase(),
      field: granularity.column_name ?? granularity.name,
    }));
    const type = ['second', 'minute', 'hour'].includes(grain) ? 'datetime' : 'date';
    return [
      {
        dataset: toDatasetName(name),
        source,
        primary_key: [column],
        default_time: column,
        time_spine: {
          column,
          grain,
          ...(custom.length === 0
            ? {}
            : {
                custom_periods: Object.fromEntries(
                  custom.map((period) => [period.name, period.field]),
                ),
              }),
        },
        fields: [
          { name: column, type },
          ...[...new Set(custom.map(({ field }) => field))].map((field) => ({ name: field })),
        ],
      },
    ];
  });
}

/** True if an entry of `models` is a time spine. */
export function isTimeSpine(model: unknown): boolean {
  const { data } = modelSchema.safeParse(model);
  return data?.time_spine !== undefined && data.time_spine !== null;
}

function spinesOfModels(models: unknown): readonly TimeSpineSpec[] {
  const list = Array.isArray(models) ? models : [];
  return list.flatMap((raw) => {
    const { data } = modelSchema.safeParse(raw);
    if (!data?.time_spine) return [];
    const { standard_granularity_column: column, custom_granularities } = data.time_spine;
    const { source: written } = ktxMeta(data);
    const { granularity } = data.columns.find(({ name }) => name === column) ?? {};
    return [
      {
        name: data.name,
        source: typeof written === 'string' ? written : data.name,
        column,
        grain: granularity ?? 'day',
        customGranularities: custom_granularities,
      },
    ];
  });
}

function spinesOfProject(project: unknown): readonly TimeSpineSpec[] {
  const { data } = projectSchema.safeParse(project ?? {});
  const newer = (data?.time_spines ?? []).map(
    ({ node_relation: { alias, relation_name }, primary_column, custom_granularities }) => ({
      name: alias,
      source: relation_name?.replaceAll('`', '"') ?? alias,
      column: primary_column.name,
      grain: primary_column.time_granularity,
      customGranularities: custom_granularities,
    }),
  );
  const isSame = (source: string) => newer.some((spine) => source.endsWith(spine.name));
  const older = (data?.time_spine_table_configurations ?? [])
    .filter(({ location }) => !isSame(location))
    .map(({ location, column_name, grain }) => ({
      name: location.split('.').at(-1) ?? location,
      source: location,
      column: column_name,
      grain,
      customGranularities: [],
    }));
  return [...newer, ...older];
}

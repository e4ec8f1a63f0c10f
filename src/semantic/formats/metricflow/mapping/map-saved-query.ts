import { z } from 'zod';
import { type SavedQueryDraft, toKtxName } from '../../imported-model.ts';
import { UnreadableMetric } from '../spec/metric-spec.ts';
import { primaryEntity } from '../spec/semantic-model-schema.ts';
import { type BoundModel, synonymsFor } from './bound-model.ts';
import { dimensionSql, parseTemplateCall, type TemplateCall } from './filter-template.ts';
import type { MappedMetric } from './metric-mapping.ts';

const textsSchema = z
  .union([z.string().transform((text) => [text]), z.array(z.string())])
  .nullish()
  .transform((texts) => texts ?? []);

export const savedQuerySpecSchema = z.looseObject({
  name: z.string(),
  label: z.string().nullish(),
  description: z.string().nullish(),
  query_params: z.looseObject({
    metrics: textsSchema,
    group_by: textsSchema,
    where: textsSchema,
    order_by: textsSchema,
    limit: z.int().positive().nullish(),
  }),
  exports: z.array(z.unknown()).nullish(),
});
export type SavedQuerySpec = z.infer<typeof savedQuerySpecSchema>;

interface MappedModel {
  readonly models: readonly BoundModel[];
  readonly metrics: readonly MappedMetric[];
}

/**
 * A saved query of MetricFlow as one of ktx. Throws `UnreadableMetric` if it would answer something
 * else.
 */
export function mapSavedQuery(spec: SavedQuerySpec, mapped: MappedModel): SavedQueryDraft {
  const { name, label, description, query_params: params } = spec;
  if (params.limit != null && params.order_by.length > 0)
    throw new UnreadableMetric('it keeps the first rows of an order that ktx does not read');
  const metrics = params.metrics.map((metric) => {
    const found = mapped.metrics.find(({ of, isHelper }) => of === metric && !isHelper);
    if (found === undefined) throw new UnreadableMetric(`its metric ${metric} is not there`);
    return found;
  });
  const names = new Set(metrics.map(({ dataset }) => dataset));
  const homes = mapped.models.filter(({ dataset }) => names.has(dataset));
  if (homes.length === 0) throw new UnreadableMetric('it has no metrics');
  const synonyms = [...synonymsFor(name, [label ?? undefined])];
  return {
    query: toKtxName(name),
    ...(description == null ? {} : { description }),
    ...(synonyms.length === 0 ? {} : { synonyms }),
    metrics: metrics.map((metric) => `${metric.dataset}.${metric.name}`),
    dimensions: params.group_by.map((item) => groupName(item, homes, mapped.models)),
    where: params.where.flatMap((template) => conditions(template, homes, mapped.models)),
    ...(params.limit == null ? {} : { limit: params.limit }),
  };
}

/** One name if it is the same for all facts, else a name for each of them. */
function groupName(
  item: string,
  homes: readonly BoundModel[],
  models: readonly BoundModel[],
): string {
  const call = parseTemplateCall(item.trim()) ?? plainName(item.trim());
  return [...new Set(homes.map((home) => queryName(call, home, models)))].join(' = ');
}

/** `customer__country`, `metric_time__month`. */
function plainName(text: string): TemplateCall {
  const [, path = text, grain] =
    /^(\w+?)(?:__(day|week|month|quarter|year|hour|minute|second))?$/.exec(text) ?? [];
  return { kind: 'Dimension', path, grain };
}

/** The condition, or one for each fact where they call its fields by different names. */
function conditions(
  template: string,
  homes: readonly BoundModel[],
  models: readonly BoundModel[],
): SavedQueryDraft['where'] {
  const scoped = homes.map((home) => ({
    on: home.dataset,
    where: template
      .replaceAll(/\{\{(.*?)\}\}/gs, (_, text: string) => {
        const call = parseTemplateCall(text.trim());
        if (call === undefined) throw new UnreadableMetric(`its filter uses ${text.trim()}`);
        return queryName(call, home, models);
      })
      .trim(),
  }));
  const texts = new Set(scoped.map(({ where }) => where));
  const [only = '', ...others] = texts;
  if (/\{[{%#]/.test(only))
    throw new UnreadableMetric(`its filter cannot be read: ${template.trim()}`);
  return others.length === 0 ? [only] : scoped;
}

/** What a query calls the dimension, for the rows of one dataset. */
function queryName(
  { kind, path, grain }: TemplateCall,
  home: BoundModel,
  models: readonly BoundModel[],
): string {
  const behind = grain === undefined ? '' : `.${grain}`;
  if (path === 'metric_time') return `metric_time${behind}`;
  if (kind === 'Entity') {
    const isKnown = home.own?.roles.has(path) === true || primaryEntity(home.spec) === path;
    if (isKnown) return path;
    throw new UnreadableMetric(`it groups by ${path}, which ${home.spec.name} lacks`);
  }
  const field = dimensionSql({ path, grain: undefined }, home, models);
  if (/[("]/.test(field))
    throw new UnreadableMetric(`it uses ${path}, which is no field of a dataset`);
  return `${field.includes('.') ? field : `${home.dataset}.${field}`}${behind}`;
}

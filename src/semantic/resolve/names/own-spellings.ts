import { hasOtherLetters, transliterate } from '../../../lib/patterns/transliterate.ts';
import { columnIdentity, type ModelDataset, type SemanticModel } from '../../model/model.ts';
import type { SemanticQuery } from '../../query/query.ts';

/** Names of the model by what the warehouse calls the same thing; `several`: of more than one. */
type NamesBySpelling = ReadonlyMap<string, string>;

interface OwnSpellings {
  readonly datasets: NamesBySpelling;
  /** Fields and metrics, by dataset. */
  readonly members: ReadonlyMap<string, NamesBySpelling>;
  /** Addresses of metrics, by a bare name. */
  readonly metrics: NamesBySpelling;
}

const indexes = new WeakMap<SemanticModel['datasets'], OwnSpellings>();

/**
 * The query with names of the model in place of those that tables and columns have in another
 * alphabet: `Заказы.Сумма`, or `zakazy.summa` for it. A note for each. Texts in quotes stay.
 */
export function replaceOwnSpellings(
  model: SemanticModel,
  query: SemanticQuery,
): { readonly query: SemanticQuery; readonly notes: readonly string[] } {
  const spellings = indexOf(model);
  if (spellings.datasets.size === 0 && spellings.members.size === 0) return { query, notes: [] };
  const found = new Map<string, string>();
  const rewrite = (text: string) =>
    text.replaceAll(tokens, (token) => {
      const name = /^['"]/.test(token) ? token : findByOwnSpelling(model, token);
      if (name !== undefined && name !== token) found.set(token, name);
      return name ?? token;
    });
  const replace = <Value>(value: Value): Value => rewriteTexts(value, rewrite);
  const { metrics, dimensions, where, having, segments, order_by } = query;
  const { share_of, over_rows, top, qualify } = query;
  const replaced = {
    metrics: metrics.map((metric) =>
      typeof metric === 'string' ? rewrite(metric) : { ...metric, expr: rewrite(metric.expr) },
    ),
    ...replace({ dimensions, segments, order_by, share_of, over_rows, top, qualify }),
    where: where.map((condition) => rewriteCondition(condition, rewrite)),
    having: having.map((condition) => rewriteCondition(condition, rewrite)),
  };
  return {
    query: { ...query, ...replaced },
    notes: [...found].map(([written, name]) => `${written} is ${name}`),
  };
}

const word = String.raw`[\p{L}_][\p{L}\p{M}\p{N}_]*`;
/** Texts and quoted names, and dotted names. */
const tokens = new RegExp(String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|${word}(?:\.${word})*`, 'gu');

function rewriteTexts<Value>(value: Value, rewrite: (text: string) => string): Value;
function rewriteTexts(value: unknown, rewrite: (text: string) => string): unknown {
  if (typeof value === 'string') return rewrite(value);
  if (Array.isArray(value)) return value.map((item: unknown) => rewriteTexts(item, rewrite));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, rewriteTexts(item, rewrite)]),
  );
}

function rewriteCondition<Given extends SemanticQuery['where'][number]>(
  condition: Given,
  rewrite: (text: string) => string,
): Given {
  if (typeof condition === 'object' && 'field' in condition)
    return { ...condition, field: rewrite(condition.field) };
  return rewriteTexts(condition, rewrite);
}

/**
 * The name of the model for a dotted name whose parts may be written as in the warehouse; undefined
 * if a part is unknown, or could be several.
 */
export function findByOwnSpelling(model: SemanticModel, written: string): string | undefined {
  const spellings = indexOf(model);
  const [first = '', ...rest] = written.split('.');
  const home = model.datasets.has(first) ? first : spellings.datasets.get(spell(first));
  if (home === undefined) {
    const metric = rest.length === 0 ? spellings.metrics.get(spell(first)) : undefined;
    return metric === several ? undefined : metric;
  }
  const names = [home];
  let dataset = model.datasets.get(home);
  for (const part of rest) {
    const found = dataset && findPart(spellings, dataset, part);
    names.push(found?.name ?? part);
    dataset = model.datasets.get(found?.to ?? '');
  }
  return names.includes(several) ? undefined : names.join('.');
}

/** A field, a metric or a join of the dataset; `to` is the dataset behind a join. */
function findPart(
  { datasets, members }: OwnSpellings,
  dataset: ModelDataset,
  part: string,
): { readonly name: string; readonly to?: string } | undefined {
  if (dataset.fields.has(part) || dataset.metrics.has(part)) return { name: part };
  const member = members.get(dataset.name)?.get(spell(part));
  if (member !== undefined) return { name: member };
  const target = datasets.get(spell(part));
  const steps = [...dataset.toOne, ...dataset.toMany];
  return steps.find(({ name, to }) => name === part || to === target);
}

/** In place of a name: several have this spelling. No name of a model has a space. */
const several = 'several names';

function indexOf({ datasets }: SemanticModel): OwnSpellings {
  const existing = indexes.get(datasets);
  if (existing !== undefined) return existing;
  const [own, metrics] = [new Map<string, string>(), new Map<string, string>()];
  const members = new Map<string, NamesBySpelling>();
  for (const dataset of datasets.values()) {
    const { relation, name } = dataset;
    if (relation.kind === 'table') addSpellings(own, relation.parts.at(-1) ?? '', name);
    const found = memberSpellings(dataset);
    if (found.size > 0) members.set(name, found);
    for (const [spelling, member] of found)
      if (dataset.metrics.has(member)) addName(metrics, spelling, `${name}.${member}`);
  }
  const index = { datasets: own, members, metrics };
  indexes.set(datasets, index);
  return index;
}

/** Those of its columns, and of metrics that are named for one: `total_` and the column. */
function memberSpellings(dataset: ModelDataset): NamesBySpelling {
  const found = new Map<string, string>();
  const visible = [...dataset.fields.values()].filter(({ hidden }) => hidden !== true);
  for (const { name } of visible) {
    const column = columnIdentity(dataset, name);
    addSpellings(found, column, name);
    for (const metric of dataset.metrics.values()) {
      const { definition } = metric;
      const isOf = definition.kind === 'aggregate' && definition.of?.text.trim() === name;
      if (isOf && metric.hidden !== true && metric.name.endsWith(`_${name}`))
        addSpellings(found, `${metric.name.slice(0, -name.length)}${column}`, metric.name);
    }
  }
  return found;
}

/** The names of a thing in another alphabet, as people may write them in Latin letters too. */
export function ownSpellings(physical: string): readonly string[] {
  if (!hasOtherLetters(physical)) return [];
  return [...new Set([physical, transliterate(physical)])];
}

function addSpellings(spellings: Map<string, string>, physical: string, name: string): void {
  const spelled = new Set(ownSpellings(physical).map(spell));
  for (const spelling of spelled) addName(spellings, spelling, name);
}

function addName(spellings: Map<string, string>, spelling: string, name: string): void {
  const known = spellings.get(spelling);
  spellings.set(spelling, known === undefined || known === name ? name : several);
}

/** Without regard to case, to forms of Unicode, and to how words are separated. */
function spell(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_');
}

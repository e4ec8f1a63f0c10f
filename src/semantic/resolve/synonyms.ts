import { findDerivedPeriod } from '../model/derived-period.ts';
import { grains } from '../model/grains.ts';
import { findVisibleField, metricAddress, type SemanticModel } from '../model/model.ts';
import { ambiguousError, unknownNameError } from '../query/errors.ts';
import type { SemanticQuery } from '../query/query.ts';
import { findMetric } from './metric-resolver.ts';
import { findByOwnSpelling } from './names/own-spellings.ts';
import { fieldAddressesNamed } from './unknown-metric.ts';

/** Addresses by what people write for them, as `normalize` gives it. */
type Meanings = ReadonlyMap<string, ReadonlySet<string>>;

/** Names win over synonyms: `Revenue` is the metric `revenue`, whatever has that as a synonym. */
interface Spellings {
  readonly names: Meanings;
  readonly synonyms: Meanings;
}

interface SynonymIndex {
  readonly metrics: Spellings;
  readonly fields: Spellings;
}

const indexes = new WeakMap<SemanticModel['datasets'], SynonymIndex>();

/**
 * The query with names of the model in place of synonyms, labels and other spellings (`Order
 * Total`, `ORDERS.Revenue`), and a note for each. What is a name already, or nothing that is known,
 * stays as it is. Throws `ambiguous_name` if a synonym belongs to several metrics or fields.
 */
export function replaceSynonyms(model: SemanticModel, query: SemanticQuery): ReplacedNames {
  const replaced = new Map<string, string>();
  const replace = (written: string, find: (text: string) => string | undefined) => {
    const found = replaced.get(written) ?? find(written);
    if (found !== undefined && found !== written) replaced.set(written, found);
    return found ?? written;
  };
  const ownNames = new Set(
    query.metrics.map((each) => (typeof each === 'string' ? '' : each.name)),
  );
  const findMetricName = (text: string) =>
    ownNames.has(text) ? undefined : findByMetricSynonym(model, text);
  const metrics = query.metrics.map((metric) =>
    typeof metric === 'string' ? replace(metric, findMetricName) : metric,
  );
  const dimensions = query.dimensions.map((name) =>
    replace(name, (text) => findByFieldSynonym(model, text)),
  );
  const order_by = query.order_by.map(({ field, dir }) => {
    const requested = replaced.get(field);
    const isRequested = query.dimensions.includes(field) || query.metrics.includes(field);
    const found = isRequested ? field : replace(field, findMetricName);
    return { field: requested ?? found, dir };
  });
  const notes = [...replaced].map(([written, name]) => `${written} is ${name}`);
  return { query: { ...query, metrics, dimensions, order_by }, notes, replaced };
}

interface ReplacedNames {
  readonly query: SemanticQuery;
  readonly notes: readonly string[];
  /** The names, by what the query writes for them. */
  readonly replaced: ReadonlyMap<string, string>;
}

function findByMetricSynonym(model: SemanticModel, text: string): string | undefined {
  const parts = text.split('.');
  const named = findMetric(model, parts);
  const isTaken = named?.unreviewed === true && parts.length === 1;
  if (named !== undefined && !isTaken) return undefined;
  const { metrics } = indexOf(model);
  const found = onlyMeaning(text, metrics, 'metric');
  if (named !== undefined) return found;
  if (found !== undefined || !severalWords.test(text.trim())) return found;
  const known = [...metrics.names, ...metrics.synonyms].filter(([name]) => !name.includes('.'));
  const addresses = new Map(known);
  const candidates = [...addresses.keys()];
  const as = (name: string) => [...(addresses.get(name) ?? [])];
  throw unknownNameError({ what: 'metric', name: text, candidates, as });
}

/** What a name means as queries take it. */
interface NamedThing {
  readonly type: 'dataset' | 'metric' | 'field';
  /** `orders`, `orders.revenue` */
  readonly address: string;
}

/**
 * What a person means by a name alone: a dataset, a metric or a field, by its name, a synonym or
 * label, or what the warehouse calls it. Throws `ambiguous_name` if it could be several.
 */
export function findNamed(model: SemanticModel, text: string): NamedThing | undefined {
  const name = findByOwnSpelling(model, text) ?? text;
  if (model.datasets.has(name)) return { type: 'dataset', address: name };
  const parts = name.split('.');
  const metric = findMetric(model, parts);
  const { metrics, fields } = indexOf(model);
  const metricName = metric ? metricAddress(metric) : onlyMeaning(name, metrics, 'metric');
  if (metricName !== undefined) return { type: 'metric', address: metricName };
  const [first = '', second] = parts;
  const alone = second === undefined ? fieldAddressesNamed(model, first) : [];
  const field = onlyMeaning(name, fields, 'field') ?? (alone.length === 1 ? alone[0] : undefined);
  return field === undefined ? undefined : { type: 'field', address: field };
}

/** Words without a dot, a bracket or an operator: a name, and no expression. */
const severalWords = /^\p{L}[\p{L}\p{N}_]*(?: +[\p{L}\p{N}_]+)+$/u;

function findByFieldSynonym(model: SemanticModel, text: string): string | undefined {
  const { base, grain } = splitGrain(model, text);
  const [dataset = '', field = '', ...rest] = base.split('.');
  if (base === 'metric_time') return undefined;
  const known = rest.length === 0 ? model.datasets.get(dataset) : undefined;
  if (known !== undefined && findVisibleField(known, field) !== undefined) return undefined;
  const found = onlyMeaning(base, indexOf(model).fields, 'dimension');
  return found === undefined ? undefined : `${found}${grain}`;
}

/** `Ordered At.month` as the name and `.month`. */
function splitGrain(
  model: SemanticModel,
  text: string,
): { readonly base: string; readonly grain: string } {
  const [, base = '', name = ''] = /^(.+)\.(\w+)$/s.exec(text) ?? [];
  const written = name.toLowerCase();
  const isDerived = findDerivedPeriod(model, written) !== undefined;
  const grain = isDerived ? written : grains.find((candidate) => candidate === written);
  return grain === undefined ? { base: text, grain: '' } : { base, grain: `.${grain}` };
}

function onlyMeaning(
  text: string,
  { names, synonyms }: Spellings,
  what: string,
): string | undefined {
  const written = normalize(text);
  const addresses = [...(names.get(written) ?? synonyms.get(written) ?? [])];
  if (addresses.length <= 1) return addresses[0];
  throw ambiguousError('ambiguous_name', `The ${what} ${text} is ambiguous`, {
    written: text,
    choices: addresses,
  });
}

/** Without regard to case, and to how words are separated. */
function normalize(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll(/[\s_-]+/g, ' ');
}

function indexOf({ datasets }: SemanticModel): SynonymIndex {
  const existing = indexes.get(datasets);
  if (existing !== undefined) return existing;
  const [metrics, fields] = [emptySpellings(), emptySpellings()];
  for (const { name: dataset, ...members } of datasets.values()) {
    for (const metric of members.metrics.values()) {
      if (metric.hidden === true) continue;
      const { name, synonyms = [] } = metric;
      const address = metricAddress(metric);
      if (metric.unreviewed === true) {
        addMeanings(metrics.names, qualified(dataset, [name]), address);
        continue;
      }
      addMeanings(metrics.names, [name, ...qualified(dataset, [name])], address);
      addMeanings(metrics.synonyms, [...synonyms, ...qualified(dataset, synonyms)], address);
    }
    const visible = [...members.fields.values()].filter(({ hidden }) => hidden !== true);
    for (const { name, synonyms = [] } of [...visible, ...members.conformed.values()]) {
      const address = `${dataset}.${name}`;
      addMeanings(fields.names, [address], address);
      addMeanings(fields.synonyms, [...synonyms, ...qualified(dataset, synonyms)], address);
    }
  }
  const index = { metrics, fields };
  indexes.set(datasets, index);
  return index;
}

function emptySpellings() {
  return { names: new Map<string, Set<string>>(), synonyms: new Map<string, Set<string>>() };
}

function qualified(dataset: string, names: readonly string[]): readonly string[] {
  return names.map((name) => `${dataset}.${name}`);
}

function addMeanings(
  meanings: Map<string, Set<string>>,
  texts: readonly string[],
  address: string,
): void {
  for (const text of texts) {
    const key = normalize(text);
    const addresses = meanings.get(key);
    if (addresses === undefined) meanings.set(key, new Set([address]));
    else addresses.add(address);
  }
}

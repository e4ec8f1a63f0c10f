import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import { toDatasetName, uniqueNames, type Misfit } from '../imported-model.ts';
import { completed, extensionOf, read } from './lossless.ts';
import { datasetForms, fieldForms, metricForms, relationshipForms } from './codecs.ts';
import { placed, placedSchema, type Together, unplaced } from './metric-conversion.ts';
import type {
  OssieDataset,
  OssieField,
  OssieMetric,
  OssieModel,
  OssieRelationship,
} from './schema.ts';
import { usedText } from './dataset-conversion.ts';
import { indexed, modelNames } from './write-model.ts';
import { type Entry, isEntry, same, without } from '../patch.ts';
import { fragmentIn } from '../sql-fragment.ts';

interface Reading extends Together {
  readonly note: (at: string, message: string) => void;
}

/** What is placed in datasets, by their names, and what ktx cannot use. */
interface Placed {
  readonly entries: readonly { readonly home: string; readonly entry: Entry }[];
  readonly aside: readonly Entry[];
}

/** One semantic model of a document. */
export function readModel(
  model: OssieModel,
  dialect: Dialect,
): { datasets: readonly Dataset[]; misfits: readonly Misfit[] } {
  const misfits: Misfit[] = [];
  const note = (at: string, message: string) => misfits.push({ at, message });
  const names = uniqueNames(model.datasets.map(({ name }) => toDatasetName(name)));
  const renamed = new Map(model.datasets.map(({ name }, index) => [name, names[index] ?? name]));
  // Enough to know whose names an expression uses.
  const known = {
    dialect,
    note,
    datasets: new Map(names.map((dataset) => [dataset, { dataset }])),
  };
  const bare = model.datasets.map((dataset, index) =>
    readDataset(dataset, names[index] ?? dataset.name, known),
  );
  const relationships = readRelationships(model.relationships ?? [], renamed, known);
  const filledWith = (metrics: Placed['entries']) =>
    bare.map((dataset, index) => {
      const lists = withList(dataset, 'metrics', entriesOf(metrics, names[index]));
      return withList(lists, 'relationships', entriesOf(relationships.entries, names[index]));
    });
  const metrics = readMetrics(model.metrics ?? [], known, (views) => {
    const filled = filledWith(views).flatMap(
      (dataset) => datasetSchema.safeParse(dataset).data ?? [],
    );
    return new Map(filled.map((one) => [one.dataset, one]));
  });
  const aside = { metrics: metrics.aside, relationships: relationships.aside };
  const datasets = filledWith(metrics.entries).flatMap((whole, index): Dataset[] => {
    const { data, problems } = checkSchema(
      datasetSchema,
      withExtension(whole, 'ossie_model', headerOf(model, aside, index === 0)),
    );
    if (data === undefined)
      note(`datasets.${names[index]}`, `left out: ${problems.map(problemText).join('; ')}`);
    return data === undefined ? [] : [data];
  });
  return { datasets, misfits };
}

function entriesOf(entries: Placed['entries'], name: string | undefined): readonly Entry[] {
  return entries.flatMap(({ home, entry }) => (home === name ? [entry] : []));
}

/** What Ossie could not say stands at its old place again. */
function withList(dataset: Entry, key: string, entries: readonly Entry[]): Entry {
  const all: unknown[] = [...entries];
  for (const [index, item] of indexed(dataset[key])) all.splice(index, 0, item);
  return all.length === 0 ? without(dataset, key) : { ...dataset, [key]: all };
}

function withExtension(entry: Entry, key: string, value: unknown): Entry {
  if (value === undefined) return entry;
  const extensions = isEntry(entry['extensions']) ? entry['extensions'] : {};
  return { ...entry, extensions: { ...extensions, [key]: value } };
}

/** What the model has beside its datasets; undefined for one of ktx's own. */
function headerOf(
  model: OssieModel,
  aside: Readonly<Record<string, readonly Entry[]>>,
  isFirst: boolean,
): Entry | undefined {
  const { entry, data } = extensionOf(model);
  const about = without(entry, 'datasets', 'relationships', 'metrics');
  const left = Object.fromEntries(
    Object.entries(aside).filter(([, entries]) => entries.length > 0),
  );
  if (same(data, { origin: 'ktx' }) && same(about, { name: model.name }) && same(left, {}))
    return undefined;
  if (!isFirst) return { name: model.name };
  const order = without({
    datasets: model.datasets.map(({ name }) => name),
    relationships: model.relationships?.map(({ name }) => name),
    metrics: model.metrics?.map(({ name }) => name),
  });
  return { ...about, order, ...(same(left, {}) ? {} : { aside: left }) };
}

function readDataset(given: OssieDataset, name: string, { dialect, note }: Reading): Entry {
  const { fields, ...head } = given;
  const found = read(head, (entry) => ({ ...datasetForms.back(entry), dataset: name }));
  noteStale(note, `datasets.${given.name}`, found.stale);
  const all = (fields ?? []).map((field) => readField(field, given.name, { dialect, note }));
  const usable = all.filter((view) => view !== undefined);
  const aside = (fields ?? []).flatMap((field, index) =>
    all[index] === undefined ? [[index, field]] : [],
  );
  const view = completed(found, datasetForms.out);
  const keys = [...(given.primary_key ?? []), ...(given.unique_keys ?? []).flat()];
  const taken = new Set(usable.map((field) => String(field['name']).toLowerCase()));
  const missing = [...new Set(keys)].filter((key) => !taken.has(key.toLowerCase()));
  const absent = missing.map((column) => ({
    name: column,
    hidden: true,
    extensions: { ossie_absent: true },
  }));
  const whole =
    fields === undefined && absent.length === 0
      ? view
      : { ...view, fields: [...usable, ...absent] };
  return withExtension(whole, 'ossie_aside', aside.length === 0 ? undefined : { fields: aside });
}

/** Undefined for an expression that ktx cannot use. */
function readField(
  field: OssieField,
  dataset: string,
  { dialect, note }: Pick<Reading, 'dialect' | 'note'>,
): Entry | undefined {
  const at = `fields.${dataset}.${field.name}`;
  const forms = fieldForms(dialect);
  const found = read(field, forms.back);
  noteStale(note, at, found.stale);
  const expr = datasetSchema.shape.fields.unwrap().element.shape.expr.safeParse(found.view['expr']);
  const text = expr.data === undefined ? undefined : usedText(expr.data, dialect);
  const isUsable =
    found.view['expr'] === undefined ||
    (text !== undefined && fragmentIn(text, dialect)?.aggregates.length === 0);
  if (isUsable) return completed(found, forms.out);
  note(at, 'set aside: ktx cannot use this expression');
  return undefined;
}

function readRelationships(
  given: readonly OssieRelationship[],
  renamed: ReadonlyMap<string, string>,
  { note }: Reading,
): Placed {
  const isKnown = ({ from, to }: OssieRelationship) => renamed.has(from) && renamed.has(to);
  const found = given.filter(isKnown).map((relationship) => {
    const [from = '', to = ''] = [renamed.get(relationship.from), renamed.get(relationship.to)];
    const isOnly =
      given.filter((other) => other.from === relationship.from && other.to === relationship.to)
        .length === 1;
    const { back } = relationshipForms({ from, name: '', isOnly });
    const one = read(relationship, (entry) => back({ ...entry, from, to }));
    noteStale(note, `relationships.${relationship.name}`, one.stale);
    return { ...one, from, isOnly };
  });
  const names = uniqueNames(
    found.map(({ from, view }) => `${from}_to_${String(view['role'] ?? view['to'])}`),
  );
  const entries = found.map((one, index) => {
    const { out } = relationshipForms({
      from: one.from,
      name: names[index] ?? '',
      isOnly: one.isOnly,
    });
    return { home: one.from, entry: completed(one, out) };
  });
  const aside = given.filter((one) => !isKnown(one));
  for (const { name } of aside)
    note(`relationships.${name}`, 'set aside: it leads to no dataset of the model');
  return { entries, aside };
}

/** `filled`: the datasets with these metrics, since one may be written in terms of others, and with what joins them. */
function readMetrics(
  given: readonly OssieMetric[],
  reading: Reading,
  filled: (entries: Placed['entries']) => Together['datasets'],
): Placed {
  const found = given.map((metric) => {
    const one = read(metric, metricForms({ ...reading, name: metric.name }).back);
    noteStale(reading.note, `metrics.${metric.name}`, one.stale);
    const place = placedSchema.safeParse(one.view).data;
    const own =
      place !== undefined && reading.datasets.has(place.dataset) ? unplaced(place) : undefined;
    if (own === undefined)
      reading.note(
        `metrics.${metric.name}`,
        'set aside: ktx cannot use its expression, or it names no dataset',
      );
    return { ...one, metric, place, own };
  });
  const usable = found.flatMap(({ place, own, ...one }) =>
    place === undefined || own === undefined ? [] : [{ ...one, place, own }],
  );
  const names = modelNames(usable.map(({ place }) => place));
  const datasets = filled(
    usable.map(({ place, own }) => ({ home: place.dataset, entry: without(own) })),
  );
  const entries = usable.map((one, index) => {
    const { out } = metricForms({ ...reading, datasets, name: names[index] ?? one.metric.name });
    const whole = completed({ ...one, view: placed(one.own, one.place.dataset) }, out);
    const rule: unknown = Array.isArray(whole['definition']) ? whole['definition'][0] : undefined;
    return {
      home: one.place.dataset,
      entry: { ...without(whole, 'dataset', 'definition'), ...(isEntry(rule) ? rule : {}) },
    };
  });
  return {
    entries,
    aside: found.filter(({ own }) => own === undefined).map(({ metric }) => metric),
  };
}

function noteStale(note: Reading['note'], at: string, stale: readonly string[]): void {
  if (stale.length > 0)
    note(at, `edited since ktx wrote it: what ktx had of ${stale.join(', ')} gives way`);
}

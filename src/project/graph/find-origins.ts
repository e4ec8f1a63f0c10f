import { parseSubject } from '../../context/claims/subject.ts';
import type { Explanation } from '../../context/compile/explain.ts';
import { readStoredItems } from '../../ingest/fetch/item-files.ts';
import { readProjectFiles } from '../../ingest/publish/project-files.ts';
import type { ModelDataset, SemanticModel } from '../../semantic/model/model.ts';
import { openSource } from '../../sources/registry.ts';
import { itemPath, type Transformation } from '../../sources/source.ts';
import { listSources } from '../open/config.ts';
import type { Project } from '../open/open.ts';
import { metricTexts, namePattern } from './metric-texts.ts';

/** Something that a subject is made of, or that says what it is, with what that is made of. */
export interface SubjectOrigin {
  readonly kind:
    | 'metric'
    | 'field'
    | 'dataset'
    | 'table'
    | 'transformation'
    | 'query history'
    | 'source';
  readonly name: string;
  /** Undefined for what ktx has no page about. */
  readonly subject?: string | undefined;
  /** Where it stands, in the project. */
  readonly file?: string | undefined;
  readonly from: readonly SubjectOrigin[];
}

/** More steps of a transformation are no answer that a person reads. */
const mostSteps = 8;

interface OriginFacts {
  readonly connection: string;
  readonly model: SemanticModel;
  /** By id. */
  readonly transformations: ReadonlyMap<string, Transformation & { readonly file: string }>;
}

/**
 * What a dataset, field or metric is made of: metrics and fields, the table, the transformations
 * that make it as a source has them, and the items that say what it is. By name, so it may list
 * what only looks as if it did.
 */
export async function findOrigins(
  project: Project,
  { subject, claims }: Pick<Explanation, 'subject' | 'claims'>,
): Promise<readonly SubjectOrigin[]> {
  const target = parseSubject(subject);
  if (target === undefined || !project.warehouses.includes(target.connection)) return [];
  const { connection, type, name } = target;
  const [{ model }, transformations] = await Promise.all([
    project.model(connection),
    readTransformations(project),
  ]);
  const dataset = model.datasets.get(target.dataset);
  const said = whoSays(project, claims);
  if (dataset === undefined) return said;
  const facts = { connection, model, transformations };
  if (type === 'dataset') return [...tableOrigins(facts, dataset, new Set()), ...said];
  const parts =
    type === 'metric'
      ? metricOrigins(facts, { dataset, name }, new Set([name]))
      : fieldOrigins(facts, { dataset, name });
  return [...parts, datasetOrigin(facts, dataset, new Set()), ...said];
}

/** By the sources whose transformations ktx can read. */
async function readTransformations(project: Project): Promise<OriginFacts['transformations']> {
  const found = listSources(project.config).map(async ([connection, config]) => {
    const source = await openSource(config);
    if (source.transformations === undefined) return [];
    const tree = await readProjectFiles(project.dir, [`sources/${connection}`], { tidy: false });
    const items = readStoredItems(tree, connection);
    const pathOf = new Map(items.map(({ key, path }) => [key, path]));
    return source.transformations(items).map((transformation) => {
      const file = itemPath(connection, pathOf.get(transformation.item) ?? transformation.item);
      return [transformation.id, { ...transformation, file }] as const;
    });
  });
  return new Map((await Promise.all(found)).flat());
}

interface NamedPart {
  readonly dataset: ModelDataset;
  readonly name: string;
}

function metricOrigins(
  facts: OriginFacts,
  { dataset, name }: NamedPart,
  seen: ReadonlySet<string>,
): readonly SubjectOrigin[] {
  const metric = dataset.metrics.get(name);
  if (metric === undefined) return [];
  const texts = metricTexts(metric);
  const isNamed = (word: string) => texts.some((text) => namePattern(word).test(text));
  const used = [...dataset.metrics.values()].filter(
    (own) => !seen.has(own.name) && isNamed(own.name),
  );
  const inner = new Set([...seen, ...used.map((own) => own.name)]);
  const metrics = used.map((own): SubjectOrigin => ({
    kind: 'metric',
    name: `${dataset.name}.${own.name}`,
    subject: `metric:${facts.connection}.${dataset.name}.${own.name}`,
    file: own.file,
    from: metricOrigins(facts, { dataset, name: own.name }, inner),
  }));
  const fields = [...dataset.fields.keys()].filter(isNamed);
  return [...metrics, ...fields.map((field) => fieldOrigin(facts, { dataset, name: field }))];
}

function fieldOrigin(facts: OriginFacts, { dataset, name }: NamedPart): SubjectOrigin {
  return {
    kind: 'field',
    name: `${dataset.name}.${name}`,
    subject: `field:${facts.connection}.${dataset.name}.${name}`,
    file: dataset.file,
    from: fieldOrigins(facts, { dataset, name }),
  };
}

/** The fields that the expression of a field names; none for a column. */
function fieldOrigins(facts: OriginFacts, { dataset, name }: NamedPart): readonly SubjectOrigin[] {
  const expression = dataset.fields.get(name)?.expr?.text;
  if (expression === undefined) return [];
  const others = [...dataset.fields.keys()].filter(
    (field) => field !== name && namePattern(field).test(expression),
  );
  return others.map((field) => ({
    kind: 'field',
    name: `${dataset.name}.${field}`,
    subject: `field:${facts.connection}.${dataset.name}.${field}`,
    file: dataset.file,
    from: [],
  }));
}

function datasetOrigin(
  facts: OriginFacts,
  dataset: ModelDataset,
  seen: ReadonlySet<string>,
): SubjectOrigin {
  return {
    kind: 'dataset',
    name: dataset.name,
    subject: `dataset:${facts.connection}.${dataset.name}`,
    file: dataset.file,
    from: tableOrigins(facts, dataset, seen),
  };
}

/** The table, and what a transformation makes it from. */
function tableOrigins(
  facts: OriginFacts,
  { relation }: ModelDataset,
  seen: ReadonlySet<string>,
): readonly SubjectOrigin[] {
  if (relation.kind === 'query') return [];
  const made = [...facts.transformations.values()].find((own) => isTable(own, relation.parts));
  const from = made === undefined ? [] : [transformationOrigin(facts, made, seen)];
  return [{ kind: 'table', name: relation.parts.join('.'), from }];
}

function transformationOrigin(
  facts: OriginFacts,
  { id, name, file, reads }: Transformation & { readonly file: string },
  seen: ReadonlySet<string>,
): SubjectOrigin {
  const inner = new Set([...seen, id]);
  const next = reads
    .filter((read) => !inner.has(read) && inner.size < mostSteps)
    .flatMap((read) => facts.transformations.get(read) ?? []);
  const from = next.map((read): SubjectOrigin => {
    const dataset = [...facts.model.datasets.values()].find(
      ({ relation }) => relation.kind === 'table' && isTable(read, relation.parts),
    );
    const made = transformationOrigin(facts, read, inner);
    if (dataset === undefined) return made;
    return { ...datasetOrigin(facts, dataset, inner), from: [made] };
  });
  return { kind: 'transformation', name, file, from };
}

/** A relation without a schema that is known has the name of its table. */
function isTable({ table, schemas }: Transformation, parts: readonly string[]): boolean {
  const [own = '', schema] = parts.toReversed().map((part) => part.toLowerCase());
  if (own !== table.toLowerCase()) return false;
  const known = schemas.map((name) => name.toLowerCase());
  return schema === undefined || known.length === 0 || known.includes(schema);
}

/** The items that say what it is, each once. The catalog is the table. */
function whoSays(
  { warehouses }: Pick<Project, 'warehouses'>,
  claims: Explanation['claims'],
): readonly SubjectOrigin[] {
  const evidence = claims.flatMap((claim) => claim.evidence);
  const items = evidence
    .filter(({ connection, item }) => item !== undefined && !warehouses.includes(connection))
    .map(({ connection, item, extractor }) => ({
      kind: extractor.startsWith('history@') ? ('query history' as const) : ('source' as const),
      name: connection,
      file: item,
      from: [],
    }));
  const counted = evidence.some(({ extractor }) => extractor.startsWith('history@'));
  const history = counted && !items.some(({ kind }) => kind === 'query history');
  const people: readonly SubjectOrigin[] = history
    ? [{ kind: 'query history', name: 'what people ran', from: [] }]
    : [];
  const byFile = new Map(items.map((own) => [`${own.kind} ${own.name} ${own.file}`, own]));
  return [...byFile.values(), ...people];
}

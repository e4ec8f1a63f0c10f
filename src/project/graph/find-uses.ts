import { parseSubject } from '../../context/claims/subject.ts';
import type { ModelDataset, SemanticModel } from '../../semantic/model/model.ts';
import { readWikiSections } from '../answer/wiki.ts';
import type { Project } from '../open/open.ts';
import { metricTexts, namePattern } from './metric-texts.ts';
import { readSavedQueries } from '../saved/saved-queries.ts';
import { readAllVerified } from '../verified/verified-file.ts';

/** Something that a change of a subject changes. */
export interface SubjectUse {
  readonly kind: 'metric' | 'join' | 'saved query' | 'verified question' | 'wiki';
  readonly name: string;
  readonly file: string;
  /** What depends on it in turn. */
  readonly uses?: readonly SubjectUse[] | undefined;
}

/**
 * What depends on a dataset, field, metric or join: metrics of the model, joins, saved queries,
 * questions that were verified, and sections of the wiki, which has the dashboards. By name, so it
 * may list what only looks as if it did.
 */
export async function findUses(project: Project, subject: string): Promise<readonly SubjectUse[]> {
  const target = parseSubject(subject);
  if (target === undefined || !project.warehouses.includes(target.connection)) return [];
  const [{ model }, saved, verified, sections] = await Promise.all([
    project.model(target.connection),
    readSavedQueries(project, [target.connection]),
    readAllVerified(project.dir),
    readWikiSections(project),
  ]);
  const facts = { model, queries: saved.queries, verified, sections };
  return usesOf(facts, subject, new Set([subject]));
}

interface UseFacts {
  readonly model: SemanticModel;
  readonly queries: Awaited<ReturnType<typeof readSavedQueries>>['queries'];
  readonly verified: Awaited<ReturnType<typeof readAllVerified>>;
  readonly sections: Awaited<ReturnType<typeof readWikiSections>>;
}

function usesOf(
  facts: UseFacts,
  subject: string,
  seen: ReadonlySet<string>,
): readonly SubjectUse[] {
  const target = parseSubject(subject);
  if (target === undefined) return [];
  const { connection, dataset, name } = target;
  const { model, queries, verified, sections } = facts;
  const address = name === '' ? dataset : `${dataset}.${name}`;
  const isNamed = namePattern(address);
  const own = model.datasets.get(dataset);
  const metrics = [...model.datasets.values()].flatMap((user) =>
    metricUses(user, { address, name, isOwn: user === own }),
  );
  const inner = new Set([...seen, ...metrics.map((use) => `metric:${connection}.${use.name}`)]);
  const nested = metrics.map((use) => {
    const next = `metric:${connection}.${use.name}`;
    const uses = seen.has(next) ? [] : usesOf(facts, next, inner);
    return uses.length === 0 ? use : { ...use, uses };
  });
  return [
    ...nested,
    ...[...model.datasets.values()].flatMap((user) => joinUses(user, target)),
    ...queries
      .filter(({ query }) => isNamed.test(JSON.stringify(query)))
      .map((query) => ({ kind: 'saved query' as const, name: query.name, file: query.file })),
    ...verified
      .filter((question) => question.connection === connection)
      .filter(({ answer }) => isNamed.test(JSON.stringify(answer)))
      .map(({ question, file }) => ({ kind: 'verified question' as const, name: question, file })),
    ...sections
      .filter(({ text }) => text.includes(`\`${subject}\``))
      .map(({ title, path }) => ({ kind: 'wiki' as const, name: title, file: path })),
  ];
}

interface UsedName {
  /** `orders.revenue` */
  readonly address: string;
  /** Empty for a dataset or a join. */
  readonly name: string;
  readonly isOwn: boolean;
}

function metricUses(user: ModelDataset, { address, name, isOwn }: UsedName): readonly SubjectUse[] {
  if (name === '') return [];
  const isNamed = isOwn ? namePattern(name) : namePattern(address);
  return [...user.metrics.values()]
    .filter((metric) => metric.name !== name || !isOwn)
    .filter((metric) => metricTexts(metric).some((text) => isNamed.test(text)))
    .map((metric) => ({
      kind: 'metric' as const,
      name: `${user.name}.${metric.name}`,
      file: metric.file,
    }));
}

function joinUses(
  { relationships, file }: ModelDataset,
  { type, dataset, name }: NonNullable<ReturnType<typeof parseSubject>>,
): readonly SubjectUse[] {
  const isUsed = ({ from, to, equal }: ModelDataset['relationships'][number]): boolean => {
    if (type === 'dataset') return to === dataset;
    if (type !== 'field') return false;
    return equal.some(
      ({ own, target }) =>
        (from === dataset && own === name) || (to === dataset && target === name),
    );
  };
  return relationships.filter(isUsed).map(({ from, to, name: role }) => ({
    kind: 'join' as const,
    name: role === to ? `${from} to ${to}` : `${from} to ${to} as ${role}`,
    file,
  }));
}

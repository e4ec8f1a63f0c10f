import { basename, join } from 'node:path';
import { type Diagnostic, locateFindings } from '../../lib/diagnostic.ts';
import { UserError } from '../../lib/error.ts';
import { parseYaml } from '../../lib/yaml/parse-yaml.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { savedQuerySchema, type SavedQueryFile } from '../../semantic/query/saved-query.ts';
import type { SemanticQuery } from '../../semantic/query/query.ts';
import { readText } from '../../store/files.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';

/** A query with a name, from `semantic-layer/<connection>/queries/<name>.yaml`. */
export interface SavedQuery extends Pick<SavedQueryFile, 'description' | 'owner' | 'synonyms'> {
  readonly name: string;
  readonly connection: string;
  /** Path of its file in the project. */
  readonly file: string;
  readonly query: SemanticQuery;
}

interface SavedQueries {
  /** By connection, then by name. */
  readonly queries: readonly SavedQuery[];
  /** Why files were left out, or why their queries have no answer. */
  readonly faults: readonly Diagnostic[];
}

/** Paths of the files in the project, sorted; empty if the folder cannot be read. */
export async function listSavedQueryFiles(
  dir: string,
  connection: string,
): Promise<readonly string[]> {
  return (await listFolder(dir, connection)).files;
}

async function listFolder(
  dir: string,
  connection: string,
): Promise<{ readonly files: readonly string[]; readonly faults: readonly Diagnostic[] }> {
  const folder = `semantic-layer/${connection}/queries`;
  try {
    return { files: await listProjectFiles(dir, folder, /^[^.].*\.ya?ml$/), faults: [] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { files: [], faults: [fault(folder, error)] };
  }
}

/**
 * The files that can be read as queries, whether the queries have an answer for the role or not.
 */
export async function readSavedQueries(
  project: Project,
  connections: readonly string[],
): Promise<SavedQueries> {
  const lists = await Promise.all(
    connections.map(async (connection) => {
      const { files, faults } = await listFolder(project.dir, connection);
      const read = files.map((file) => readSavedQuery(project, { connection, file }));
      return [...(await Promise.all(read)), ...(faults.length === 0 ? [] : [{ faults }])];
    }),
  );
  const found = lists.flat();
  return {
    queries: found.flatMap((read) => ('query' in read ? [read] : [])),
    faults: found.flatMap((read) => ('query' in read ? [] : read.faults)),
  };
}

interface QueryPlace {
  readonly connection: string;
  readonly file: string;
}

async function readSavedQuery(
  { dir }: Project,
  { connection, file }: QueryPlace,
): Promise<SavedQuery | Pick<SavedQueries, 'faults'>> {
  try {
    const text = (await readText(join(dir, file), dir)) ?? '';
    const hint = 'ktx schema saved-query prints the schema';
    const parsed = await parseYaml(savedQuerySchema, { file, text, code: 'query_invalid', hint });
    const { query: name, description, owner, synonyms, ...query } = parsed;
    if (name === basename(file).replace(/\.ya?ml$/, ''))
      return { name, connection, file, description, owner, synonyms, query };
    const message = `The query ${name} is in a file of another name`;
    return { faults: [fault(file, { message, hint: `Rename the file to ${name}.yaml.` })] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { faults: faultsOf(file, error) };
  }
}

function fault(file: string, { message, hint }: Pick<Diagnostic, 'message' | 'hint'>): Diagnostic {
  return { file, line: 1, column: 1, severity: 'error', rule: 'saved_query', message, hint };
}

/** One for each problem of a file that cannot be read, or one for the whole. */
function faultsOf(file: string, { message, hint, details }: UserError): readonly Diagnostic[] {
  const { problems = [] } = (details ?? {}) as { problems?: readonly Partial<Diagnostic>[] };
  if (problems.length === 0) return [fault(file, { message, hint })];
  return problems.map((problem) => ({ ...fault(file, { message, hint }), ...problem }));
}

/** The fault of a query without an answer, at the first item of the file that the error names. */
async function planFault(
  { dir }: Project,
  { file, query }: SavedQuery,
  { message, hint }: UserError,
): Promise<Diagnostic> {
  const text = (await readText(join(dir, file), dir)) ?? '';
  const items = Object.entries(query).flatMap(([key, list]) =>
    Array.isArray(list) ? list.map((item, index) => ({ path: [key, index], item })) : [],
  );
  const named = items.find(({ item }) => textsIn(item).some((part) => message.includes(part)));
  const [located] = await locateFindings(text, [
    { ...fault(file, { message, hint }), path: named?.path ?? ['query'] },
  ]);
  return located ?? fault(file, { message, hint });
}

/** The names and texts of an item, also the last parts: errors name `revenu` of `orders.revenu`. */
function textsIn(item: unknown): readonly string[] {
  if (typeof item === 'object' && item !== null) return Object.values(item).flatMap(textsIn);
  return typeof item === 'string' ? [item, item.split('.').at(-1) ?? item] : [];
}

/**
 * The saved queries that have an answer for the role, and the faults of those that have none for
 * anybody. Plans each of them; runs none.
 */
export async function listSavedQueries(
  project: Project,
  requested?: string,
): Promise<SavedQueries> {
  const connections = requested === undefined ? project.warehouses : [requested];
  const { queries, faults } = await readSavedQueries(project, connections);
  const planned = await Promise.all(queries.map(async (saved) => tryToPlan(project, saved)));
  return {
    queries: planned.flatMap((read) => ('query' in read ? [read] : [])),
    faults: [...faults, ...planned.flatMap((read) => ('query' in read ? [] : read.faults))],
  };
}

async function tryToPlan(
  project: Project,
  saved: SavedQuery,
): Promise<SavedQuery | Pick<SavedQueries, 'faults'>> {
  const { requirePlan } = await import('../answer/query.ts');
  try {
    await requirePlan(project, saved);
    return saved;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // A value that whoever runs it gives is no fault, and neither is what others may see.
    if (error.code === 'missing_parameter') return saved;
    const isHidden = error.code === 'no_access';
    return { faults: isHidden ? [] : [await planFault(project, saved, error)] };
  }
}

/** True if the query has an answer for the role, or an error that a value for it mends. */
export async function hasAnswer(project: Project, saved: SavedQuery): Promise<boolean> {
  return 'query' in (await tryToPlan(project, saved));
}

/**
 * The query of that name, or of a subject like `query:shop.monthly_revenue`. Throws with the
 * nearest names, or with the faults of its file.
 */
export async function findSavedQuery(
  project: Project,
  text: string,
  given?: string,
): Promise<SavedQuery> {
  const [, named, name = text] = /^query:([^.]+)\.(.+)$/.exec(text) ?? [];
  const requested = given ?? named;
  const connections =
    requested === undefined ? project.warehouses : [project.connection(requested).name];
  const { queries, faults } = await readSavedQueries(project, connections);
  const [found, ...others] = queries.filter((saved) => saved.name === name);
  if (found !== undefined && others.length === 0) return found;
  if (found !== undefined) {
    const choices = [found, ...others].map(({ connection }) => connection);
    throw new UserError('connection_required', `Several warehouses have a query ${name}.`, {
      hint: `one of ${choices.join(', ')}`,
      exitCode: 2,
      details: { choices },
    });
  }
  const own = faults.find(({ file }) => basename(file).replace(/\.ya?ml$/, '') === name);
  if (own !== undefined) {
    const { file, line, column, message } = own;
    throw new UserError('query_invalid', `${file}:${line}:${column}: ${message}`, {
      hint: own.hint,
      exitCode: 2,
    });
  }
  const visible = (await listSavedQueries(project, requested)).queries.map((saved) => saved.name);
  throw new UserError('saved_query_unknown', `There is no saved query ${name}.`, {
    hint: didYouMean(name, visible) ?? 'ktx sl queries lists them',
    exitCode: 2,
  });
}

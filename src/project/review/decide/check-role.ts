import { join } from 'node:path';
import { bodySchemas } from '../../../context/claims/claim.ts';
import type { Pin } from '../../../context/claims/pins.ts';
import { parseSubject } from '../../../context/claims/subject.ts';
import { parseDatasetFile } from '../../../context/merge/merge-dataset.ts';
import { isList, isMapping, yamlFile } from '../../../context/merge/yaml-text.ts';
import { UserError } from '../../../lib/error.ts';
import type { Json } from '../../../lib/json.ts';
import { loadModel } from '../../../semantic/load/load.ts';
import { nameSchema } from '../../../semantic/model/schema-parts.ts';
import type { ModelDataset } from '../../../semantic/model/model.ts';
import { readText } from '../../../store/files.ts';
import { listDatasetFiles } from '../../open/model-files.ts';
import type { Project } from '../../open/open.ts';
import { readSavedQueries } from '../../saved/saved-queries.ts';
import { readAllVerified } from '../../verified/verified-file.ts';

/** An error if the name that a person gives a join is unusable, taken, or leaves others behind. */
export async function checkRole(project: Project, pin: Pin): Promise<void> {
  const { connection = '', dataset = '' } = parseSubject(pin.subject) ?? {};
  const link = bodySchemas.relationship.parse(pin.says);
  const role = link.role ?? link.to;
  if (!nameSchema.safeParse(role).success)
    throw roleUnusable(role, 'is no name: letters, digits and _ only');
  const { model } = await project.model(connection);
  const owner = model.datasets.get(dataset);
  const used = owner?.relationships.find(
    ({ to, equal }) => to === link.to && isSame(equal, link.on),
  );
  if (used?.name === role) return;
  if (owner !== undefined && isTaken(owner, role))
    throw roleUnusable(role, `is another name of ${dataset} already`);
  if (used === undefined) return;
  const users = await findUsers(project, { connection, dataset, old: used.name, role, link });
  if (users.length === 0) return;
  throw new UserError('role_used', `${dataset}.${used.name} is used by ${users.join('; ')}.`, {
    hint: `change them to ${dataset}.${role} first, or keep the name`,
    exitCode: 2,
    details: { users },
  });
}

function roleUnusable(role: string, reason: string): UserError {
  return new UserError('role_unusable', `${JSON.stringify(role)} ${reason}.`, {
    hint: 'for example: --as buyer',
    exitCode: 2,
  });
}

type Link = ReturnType<typeof bodySchemas.relationship.parse>;

function isSame(equal: ModelDataset['relationships'][number]['equal'], on: Link['on']): boolean {
  const pairs = Object.entries(on);
  return (
    pairs.length === equal.length &&
    equal.every(({ own, target }) => own !== undefined && on[own] === target)
  );
}

function isTaken({ fields, metrics, relationships }: ModelDataset, role: string): boolean {
  return fields.has(role) || metrics.has(role) || relationships.some(({ name }) => name === role);
}

interface RenamedRole {
  readonly connection: string;
  readonly dataset: string;
  readonly old: string;
  readonly role: string;
  readonly link: Link;
}

/** What says the old name: files that would not load, saved queries, verified questions. */
async function findUsers(project: Project, renamed: RenamedRole): Promise<readonly string[]> {
  const { connection, dataset, old } = renamed;
  const [saved, verified, faults] = await Promise.all([
    readSavedQueries(project, [connection]),
    readAllVerified(project.dir),
    findFaults(project, renamed),
  ]);
  const path = new RegExp(`(?<![\\w])${RegExp.escape(`${dataset}.${old}`)}(?![\\w])`);
  return [
    ...faults,
    ...saved.queries
      .filter(({ query }) => path.test(JSON.stringify(query)))
      .map(({ name }) => `the saved query ${name}`),
    ...verified
      .filter((own) => own.connection === connection && path.test(JSON.stringify(own.answer)))
      .map(({ question }) => `the verified question ${JSON.stringify(question)}`),
  ];
}

/** What is wrong in the files with the new name that is right with the old one. */
async function findFaults(
  { dir, model: modelOf, catalog }: Project,
  renamed: RenamedRole,
): Promise<readonly string[]> {
  const { connection, dataset } = renamed;
  const { model } = await modelOf(connection);
  const tables = (await catalog(connection))?.tables;
  const files = await Promise.all(
    (await listDatasetFiles(dir, connection)).map(async ({ path }) => ({
      path,
      text: (await readText(join(dir, path), dir)) ?? '',
    })),
  );
  const changed = model.datasets.get(dataset)?.file;
  const faultsOf = async (all: typeof files): Promise<readonly string[]> => {
    const loaded = await loadModel({ dialect: model.dialect, files: all, tables });
    return loaded.diagnostics
      .filter(({ severity, rule }) => severity === 'error' || rule === 'unknown_name')
      .map(({ file, message }) => `${file} (${message})`);
  };
  const known = new Set(await faultsOf(files));
  const after = await faultsOf(
    files.map(({ path, text }) => ({
      path,
      text: path === changed ? withRole(text, renamed) : text,
    })),
  );
  return after.filter((fault) => !known.has(fault));
}

function withRole(text: string, { link, role }: RenamedRole): string {
  const parsed = parseDatasetFile(text);
  if ('reason' in parsed) return text;
  const { relationships, ...others } = parsed.mapping;
  const changed = (isList(relationships) ? relationships : []).map((entry): Json => {
    const isMeant =
      isMapping(entry) &&
      entry['to'] === link.to &&
      JSON.stringify(entry['on']) === JSON.stringify(link.on);
    return isMeant ? { ...entry, role } : entry;
  });
  return yamlFile('', { ...others, relationships: changed });
}

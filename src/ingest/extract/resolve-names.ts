import { subjects } from '../../context/claims/claim.ts';
import type { NamedDataset } from '../../context/claims/name-index.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import { nearest } from '../../lib/suggest.ts';
import type { Snapshot } from '../project-snapshot.ts';

/** The dataset of that name, however it is written; else a refusal that names the nearest. */
export function datasetNamed(snapshot: Snapshot, name: string): NamedDataset {
  const found = snapshot.names.dataset(name.replace(/^dataset:/, ''));
  if (found !== undefined) return found;
  const all = snapshot.catalogs.flatMap((catalog) => {
    const names = datasetNames(catalog);
    return catalog.tables.map((table) => ({
      dataset: names.dataset(table),
      full: `${catalog.connection}.${names.dataset(table)}`,
      table,
    }));
  });
  const plain = name.toLowerCase();
  const several = all
    .filter(({ dataset, table }) => [dataset, table.table.toLowerCase()].includes(plain))
    .map(({ full }) => full);
  if (several.length > 1)
    throw refusal(`${name} could be ${several.join(' or ')}: name one of them.`);
  throw refusal(
    `There is no dataset ${name}. ${choices(
      name,
      all.map(({ dataset }) => dataset),
    )}`,
  );
}

/** The field of that name, whether it is a column or something that a source computes. */
export function fieldNamed(snapshot: Snapshot, owner: NamedDataset, name: string): string {
  const found = owner.fields.get(name.toLowerCase());
  if (found !== undefined) return found;
  if (exists(snapshot, subjects.field(owner.connection, owner.dataset, name))) return name;
  throw refusal(`${owner.dataset} has no field ${name}. ${choices(name, owner.fields.values())}`);
}

/** The subject of `orders`, `orders.amount`, `orders.revenue` or of a subject written out. */
export function refNamed(snapshot: Snapshot, ref: string): string {
  const written = parseSubject(ref);
  const bare = ref.replace(/^(dataset|field|metric):/, '');
  if (written !== undefined && exists(snapshot, ref)) return ref;
  if (/^(term|rule):/.test(ref) && snapshot.claims(ref).length > 0) return ref;
  const found = snapshot.names.subject(bare);
  if (found !== undefined) return found;
  const dot = bare.lastIndexOf('.');
  const owner = datasetNamed(snapshot, dot < 0 ? bare : bare.slice(0, dot));
  const name = bare.slice(dot + 1);
  const metric = subjects.metric(owner.connection, owner.dataset, name);
  if (exists(snapshot, metric)) return metric;
  const metrics =
    snapshot.dataset(owner.connection, owner.dataset)?.metrics?.map((one) => one.name) ?? [];
  throw refusal(
    `${owner.dataset} has no field or metric ${name}. ${choices(name, [...owner.fields.values(), ...metrics])}`,
  );
}

/** Whether anything claims that there is such a thing. */
export function exists(snapshot: Snapshot, subject: string): boolean {
  const type = parseSubject(subject)?.type;
  return snapshot.claims(subject).some(({ kind }) => kind === type);
}

export function refusal(message: string): UserError {
  return new UserError('proposal_refused', message);
}

function choices(name: string, known: Iterable<string>): string {
  const all = [...new Set(known)].sort();
  const near = nearest(name, all);
  if (near.length > 0) return `Did you mean ${near.join(', ')}?`;
  return `There are ${all.slice(0, 30).join(', ')}${all.length > 30 ? ' and others: search_context finds them' : ''}.`;
}

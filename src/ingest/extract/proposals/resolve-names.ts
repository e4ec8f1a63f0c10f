import { datasetNames } from '../../../context/catalog/dataset-names.ts';
import { subjects } from '../../../context/claims/claim.ts';
import type { NamedDataset } from '../../../context/claims/name-index.ts';
import { parseSubject } from '../../../context/claims/subject.ts';
import { UserError } from '../../../lib/error.ts';
import { nearest } from '../../../lib/suggest.ts';
import type { Snapshot } from '../../project-snapshot.ts';

/**
 * The dataset that a model names, in any spelling. Refuses unknown names with the nearest ones, and
 * ambiguous names.
 */
export function resolveDataset(snapshot: Snapshot, name: string): NamedDataset {
  const found = snapshot.names.dataset(name.replace(/^dataset:/, ''));
  if (found !== undefined) return found;
  const known = listDatasets(snapshot);
  const lowerName = name.toLowerCase();
  const sameName = known.filter(
    ({ dataset, table }) => dataset === lowerName || table.toLowerCase() === lowerName,
  );
  if (sameName.length > 1) {
    const fullNames = sameName.map(({ connection, dataset }) => `${connection}.${dataset}`);
    throw refusal(`${name} could be ${fullNames.join(' or ')}: name one of them.`);
  }
  const choices = describeChoices(
    name,
    known.map(({ dataset }) => dataset),
  );
  throw refusal(`There is no dataset ${name}. ${choices}`);
}

function listDatasets({ catalogs }: Snapshot) {
  return catalogs.flatMap((catalog) => {
    const names = datasetNames(catalog);
    return catalog.tables.map((table) => ({
      connection: catalog.connection,
      dataset: names.dataset(table),
      table: table.table,
    }));
  });
}

/**
 * The name of a field: a column, or a field that a source computes. Refuses other names with the
 * nearest ones.
 */
export function resolveField(snapshot: Snapshot, owner: NamedDataset, name: string): string {
  const column = owner.fields.get(name.toLowerCase());
  if (column !== undefined) return column;
  if (isClaimed(snapshot, subjects.field(owner.connection, owner.dataset, name))) return name;
  const choices = describeChoices(name, owner.fields.values());
  throw refusal(`${owner.dataset} has no field ${name}. ${choices}`);
}

/**
 * The subject of `orders`, `orders.amount`, `orders.revenue`, or of a subject that is written out.
 */
export function resolveSubject(snapshot: Snapshot, reference: string): string {
  if (parseSubject(reference) !== undefined && isClaimed(snapshot, reference)) return reference;
  const isWikiSubject = /^(term|rule):/.test(reference);
  if (isWikiSubject && snapshot.claims(reference).length > 0) return reference;
  const path = reference.replace(/^(dataset|field|metric):/, '');
  const found = snapshot.names.subject(path);
  if (found !== undefined) return found;
  const dot = path.lastIndexOf('.');
  const owner = resolveDataset(snapshot, dot < 0 ? path : path.slice(0, dot));
  const name = path.slice(dot + 1);
  const metric = subjects.metric(owner.connection, owner.dataset, name);
  if (isClaimed(snapshot, metric)) return metric;
  const { metrics = [] } = snapshot.dataset(owner.connection, owner.dataset) ?? {};
  const known = [...owner.fields.values(), ...metrics.map((own) => own.name)];
  const choices = describeChoices(name, known);
  throw refusal(`${owner.dataset} has no field or metric ${name}. ${choices}`);
}

/** Whether a claim says that the dataset, field, metric or relationship exists. */
export function isClaimed(snapshot: Snapshot, subject: string): boolean {
  const type = parseSubject(subject)?.type;
  return snapshot.claims(subject).some(({ kind }) => kind === type);
}

/** An error that a model sees as the answer of its tool. */
export function refusal(message: string): UserError {
  return new UserError('proposal_refused', message);
}

const mostChoices = 30;

function describeChoices(name: string, known: Iterable<string>): string {
  const names = [...new Set(known)].sort();
  const near = nearest(name, names);
  if (near.length > 0) return `Did you mean ${near.join(', ')}?`;
  const rest = names.length > mostChoices ? ' and others: search_context finds them' : '';
  return `There are ${names.slice(0, mostChoices).join(', ')}${rest}.`;
}

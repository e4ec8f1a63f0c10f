import { subjects } from './claim.ts';
import type { Entry } from './leaves.ts';
import { isMapping } from './yaml-text.ts';

/** The dataset that something belongs to. */
export interface Owner {
  readonly connection: string;
  readonly dataset: string;
}

/** The parts of a subject such as `field:warehouse.orders.status`. */
export interface SubjectParts extends Owner {
  readonly type: 'dataset' | 'field' | 'metric' | 'relationship';
  /** The field or metric. */
  readonly name: string;
  /** Own columns of a relationship. */
  readonly columns: readonly string[];
}

const pattern =
  /^(?:(?<plain>dataset):|(?<member>field|metric):|(?<link>relationship):)(?<connection>[^.]+)\.(?<dataset>[^.()]+)(?:\.(?<name>[^.()]+)|\((?<columns>[^()]+)\))?$/;

/** Undefined where the text is no subject of a warehouse. */
export function subjectParts(subject: string): SubjectParts | undefined {
  const { plain, member, link, connection = '', dataset = '', name = '', columns } = pattern.exec(subject)?.groups ?? {};
  const found = { connection, dataset, name, columns: columns?.split(',') ?? [] };
  if (plain && name === '' && columns === undefined) return { type: 'dataset', ...found };
  if (member && name !== '') return { type: member === 'field' ? 'field' : 'metric', ...found };
  return link && columns !== undefined ? { type: 'relationship', ...found } : undefined;
}

/** The subject of an entry in a dataset's file; segments have none of their own. */
export function entrySubject({ connection, dataset }: Owner, { list, value }: Entry): string {
  const { name, on } = isMapping(value) ? value : {};
  if (list === 'fields' && typeof name === 'string') return subjects.field(connection, dataset, name);
  if (list === 'metrics' && typeof name === 'string') return subjects.metric(connection, dataset, name);
  const columns = isMapping(on) ? Object.keys(on) : [];
  return list === 'relationships' ? subjects.relationship(connection, dataset, columns) : subjects.dataset(connection, dataset);
}

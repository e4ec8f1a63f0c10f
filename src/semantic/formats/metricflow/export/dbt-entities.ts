import type { Dataset } from '../../../model/dataset.ts';
import type { AddMisfit, DatasetRelationship } from '../../imported-model.ts';
import { toDbtName } from './to-dbt-name.ts';

/** An entity of a written semantic model. */
export interface DbtEntity {
  readonly name: string;
  readonly type: 'primary' | 'unique' | 'foreign';
  /** The field that holds it. */
  readonly field: string;
}

interface EntityNames {
  /** By dataset. */
  readonly entities: Map<string, readonly DbtEntity[]>;
  /** The entity that dbt joins by, for each relationship that dbt can express. */
  readonly joins: Map<DatasetRelationship, string>;
  /** The one key, as `dataset.column`, that an entity name stands for in the whole project. */
  readonly keyOfName: Map<string, string>;
}

/**
 * dbt joins by entity names: each dataset has one for its key, and each role that leads to it adds
 * another.
 */
export function nameEntities(
  datasets: readonly Dataset[],
  addMisfit: AddMisfit,
): Pick<EntityNames, 'entities' | 'joins'> {
  const names: EntityNames = {
    entities: new Map(datasets.map((dataset) => [dataset.dataset, primaryEntities(dataset)])),
    joins: new Map(),
    keyOfName: new Map(
      datasets.map(({ dataset, primary_key: [key] = [] }) => [
        toDbtName(dataset),
        `${dataset}.${key}`,
      ]),
    ),
  };
  for (const { dataset, relationships = [] } of datasets) {
    for (const relationship of relationships) {
      const { to, role = to } = relationship;
      const note = (message: string) => addMisfit(`relationships.${dataset}.${role}`, message);
      const columns = joinColumns(relationship, dataset, datasets);
      if (typeof columns === 'string') note(`left out: ${columns}`);
      else nameJoin(names, { dataset, relationship, columns }, note);
    }
  }
  return names;
}

/** A key of several columns is no entity. */
function primaryEntities({ dataset, primary_key = [] }: Dataset): readonly DbtEntity[] {
  const [field, ...more] = primary_key;
  return field !== undefined && more.length === 0
    ? [{ name: toDbtName(dataset), type: 'primary', field }]
    : [];
}

interface JoinColumns {
  readonly own: string;
  readonly target: string;
}

/** The columns that a relationship joins, or why dbt cannot join them. */
function joinColumns(
  { to, on, cardinality, within }: DatasetRelationship,
  from: string,
  datasets: readonly Dataset[],
): JoinColumns | string {
  const target = datasets.find(({ dataset }) => dataset === to);
  const [pair, ...more] = typeof on === 'string' ? [] : Object.entries(on);
  if (cardinality === 'many_to_many') return 'dbt has no bridges';
  if (within !== undefined) return 'dbt joins by equal values, not by ranges';
  if (target === undefined) return `${to} is not exported`;
  if (pair === undefined || more.length > 0) return 'dbt joins by one column';
  const [own, targetColumn] = pair;
  const keys = [target.primary_key ?? [], ...(target.unique_keys ?? [])];
  if (!keys.some((key) => key.length === 1 && key[0] === targetColumn))
    return `${to}.${targetColumn} is no declared key`;
  return from === to ? 'dbt cannot join a dataset to itself' : { own, target: targetColumn };
}

interface JoinToName {
  readonly dataset: string;
  readonly relationship: DatasetRelationship;
  readonly columns: JoinColumns;
}

/**
 * Adds the entity that both ends of a relationship share, unless its name already stands for
 * another key.
 */
function nameJoin(
  { entities, joins, keyOfName }: EntityNames,
  { dataset, relationship, columns }: JoinToName,
  note: (message: string) => void,
): void {
  const { to, role = to, cardinality } = relationship;
  const key = `${to}.${columns.target}`;
  const name = [role, `${dataset}_${role}`]
    .map(toDbtName)
    .find((candidate) => (keyOfName.get(candidate) ?? key) === key);
  const own = entities.get(dataset) ?? [];
  const existing = own.find((entity) => entity.name === name);
  if (name === undefined || (existing !== undefined && existing.field !== columns.own)) {
    note('left out: its name means another key in dbt');
    return;
  }
  if (name !== role) note(`is called ${name} in dbt`);
  keyOfName.set(name, key);
  joins.set(relationship, name);
  const targets = entities.get(to) ?? [];
  const target = targets.find((entity) => entity.name === name);
  if (target === undefined)
    entities.set(to, [...targets, { name, type: 'unique', field: columns.target }]);
  const isOneToOne = cardinality === 'one_to_one' && target?.type === 'primary';
  if (cardinality === 'one_to_one' && !isOneToOne) note('becomes many to one in dbt');
  if (existing === undefined) {
    const type = isOneToOne ? 'unique' : 'foreign';
    entities.set(dataset, [...own, { name, type, field: columns.own }]);
  }
}

import { didYouMean } from '../../lib/suggest.ts';
import {
  columnIdentity,
  conditionSide,
  findField,
  type ModelDataset,
  type ModelRelationship,
  type SemanticModel,
} from '../model/model.ts';
import { typeFamilyOf } from '../resolve/join-checks.ts';
import type { DatasetCheck } from './dataset-check.ts';

/** Reports relationships that lead nowhere, or whose bridge, range or condition does not fit. */
export function checkRelationships(model: SemanticModel, check: DatasetCheck): void {
  for (const [index, relationship] of check.dataset.relationships.entries())
    checkRelationship(model, check, { relationship, index });
}

interface IndexedRelationship {
  readonly relationship: ModelRelationship;
  readonly index: number;
}

function checkRelationship(
  model: SemanticModel,
  check: DatasetCheck,
  { relationship, index }: IndexedRelationship,
): void {
  const { dataset, fail, warn } = check;
  const { to, name: role, condition } = relationship;
  const path = ['relationships', index];
  const lowerCase = role.toLowerCase();
  if (lowerCase !== role && model.datasets.has(lowerCase)) {
    const message = `The role ${role} differs from the dataset ${lowerCase} only by case`;
    fail([...path, 'role'], 'duplicate', message);
  }
  if (!model.datasets.has(to) && model.excluded.has(to)) {
    const message = `${to} was left out because of its errors, so this relationship is too`;
    return warn([...path, 'to'], 'left_out', message);
  }
  const { via } = check.yaml.relationships?.[index] ?? {};
  for (const [key, name] of Object.entries({ to, via })) {
    if (name === undefined || model.datasets.has(name)) continue;
    fail([...path, key], 'unknown_name', {
      message: `There is no dataset named ${name}`,
      hint: didYouMean(name, model.datasets.keys()),
    });
  }
  checkBridge(model, check, { relationship, index });
  checkWithin(model, check, { relationship, index });
  for (const { parts } of condition?.references ?? []) {
    if (conditionSide(relationship, parts) !== undefined) continue;
    const message = `${parts.join('.')} belongs neither to ${dataset.name} nor to ${to}`;
    fail([...path, 'on'], 'foreign_field', message);
  }
}

/** A bridge needs a relationship to each end; to the same dataset, two. */
function checkBridge(
  model: SemanticModel,
  { fail }: DatasetCheck,
  { relationship, index }: IndexedRelationship,
): void {
  const { from, to, via, cardinality } = relationship;
  if (cardinality !== 'many_to_many' || via === undefined || !model.datasets.has(to)) return;
  const bridge = model.datasets.get(via);
  if (bridge === undefined) return;
  const targets = bridge.relationships.map((end) => end.to);
  const missing = [from, to].filter((end, position) => {
    const needed = from === to ? position + 1 : 1;
    return targets.filter((target) => target === end).length < needed;
  });
  if (missing.length === 0) return;
  fail(['relationships', index, 'via'], 'bridge', {
    message: `The bridge ${via} has no relationship to ${missing.join(' and ')}`,
    hint: `Add it to the file of ${via}.`,
  });
}

/**
 * The fields of a range must exist and be comparable. Warns if no key says that ranges do not
 * overlap.
 */
function checkWithin(
  model: SemanticModel,
  { dataset, fail, warn }: DatasetCheck,
  { relationship, index }: IndexedRelationship,
): void {
  const { to, within } = relationship;
  const target = model.datasets.get(to);
  if (within === undefined || target === undefined) return;
  const path = ['relationships', index, 'within'];
  const uses = [
    { key: 'field', side: dataset, name: within.field },
    { key: 'from', side: target, name: within.from },
    { key: 'to', side: target, name: within.to },
  ];
  const missing = uses.filter(({ side, name }) => findField(side, name) === undefined);
  for (const { key, side, name } of missing) {
    fail([...path, key], 'unknown_name', {
      message: `${side.name} has no field named ${name}`,
      hint: didYouMean(name, side.fields.keys()),
    });
  }
  const families = new Set(
    uses.flatMap(({ side, name }) => typeFamilyOf(findField(side, name)?.type) ?? []),
  );
  if (families.size > 1) {
    fail(path, 'within', {
      message: `A range compares ${[...families].join(' with ')}`,
      hint: 'Correct the types of the fields.',
    });
  }
  if (missing.length > 0 || families.size > 1 || hasRangeKey(target, relationship)) return;
  const equalNames = relationship.equal.flatMap((pair) => pair.target ?? []);
  const key = [...equalNames, within.from].join(', ');
  warn(path, 'overlap', {
    message: `No key says that ranges of ${to} do not overlap, so a row of ${dataset.name} could count more than once`,
    hint: `If they do not, declare unique_keys: [[${key}]] in ${target.file}.`,
  });
}

/** True if the equal columns and one bound of the range contain a key of the target. */
function hasRangeKey(target: ModelDataset, { equal, within }: ModelRelationship): boolean {
  if (within === undefined) return false;
  const columns = equal.flatMap((pair) =>
    pair.target === undefined ? [] : [columnIdentity(target, pair.target)],
  );
  return [within.from, within.to].some((bound) => {
    const keyColumns = [...columns, columnIdentity(target, bound)];
    return target.keys.some((key) => key.every((column) => keyColumns.includes(column)));
  });
}

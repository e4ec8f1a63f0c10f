import { columnIdentity, findField, type Leg, type ModelDataset } from '../model/model.ts';
import { queryError } from '../query/errors.ts';

/**
 * Throws `fan_risk` for a join whose equal columns do not contain a key of `target`: it could
 * multiply rows.
 */
export function checkFanOut(leg: Leg, target: ModelDataset): void {
  const { equal, within } = leg.relationship;
  // ktx assumes that ranges do not overlap; `loadModel` warns if no key says so.
  if (within !== undefined && !leg.reversed) return;
  const targetNames = equal.flatMap((pair) => (leg.reversed ? pair.own : pair.target) ?? []);
  const columns = targetNames.map((name) => columnIdentity(target, name));
  if (target.keys.some((key) => key.every((column) => columns.includes(column)))) return;
  const risk = `Joining ${leg.from} to ${leg.to} could multiply rows`;
  if (columns.length === 0)
    throw queryError(
      'fan_risk',
      `${risk}: its condition requires no column of ${leg.to} to be equal`,
      `Add equal columns that are a key of ${leg.to}: its primary_key, or one of the unique_keys in ${target.file}.`,
    );
  throw queryError(
    'fan_risk',
    `${risk}: ${columns.join(', ')} is not a declared key of ${leg.to}`,
    `If it is unique, declare it in ${target.file}: primary_key or unique_keys: [[${columns.join(', ')}]].`,
  );
}

const typeFamilies: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'number',
  decimal: 'number',
  boolean: 'boolean',
  date: 'time',
  datetime: 'time',
  datetime_tz: 'time',
};

/** The family of a type. Types of one family can be compared. Undefined if the type is unknown. */
export function typeFamilyOf(type: string | undefined): string | undefined {
  return typeFamilies[type ?? ''];
}

/**
 * Throws `fan_risk` for a join between types of different families. Engines convert one side, so
 * that different values can become equal: the texts '1' and '01' both equal the number 1.
 */
export function checkJoinTypes(
  { relationship, reversed, from, to }: Leg,
  source: ModelDataset,
  target: ModelDataset,
): void {
  for (const pair of relationship.equal) {
    const sourceName = reversed ? pair.target : pair.own;
    const targetName = reversed ? pair.own : pair.target;
    if (sourceName === undefined || targetName === undefined) continue;
    const sourceType = findField(source, sourceName)?.type;
    const targetType = findField(target, targetName)?.type;
    const sourceFamily = typeFamilyOf(sourceType);
    const targetFamily = typeFamilyOf(targetType);
    if (sourceFamily === undefined || targetFamily === undefined) continue;
    if (sourceFamily === targetFamily) continue;
    throw queryError(
      'fan_risk',
      `Joining ${from} to ${to} could multiply rows: ${from}.${sourceName} is ${sourceType}, ${to}.${targetName} is ${targetType}`,
      `Correct the type that is wrong, or join by a converted field of ${source.file} like {name: ${sourceName}_key, type: ${targetType}, expr: CAST(${sourceName} AS …)}.`,
    );
  }
}

import { columnIdentity, findField, type Leg, type ModelDataset } from '../model/model.ts';
import { queryError } from '../query/errors.ts';

/** Throws `fan_risk` for a join on columns that are not a key of the target: it could multiply rows. */
export function checkFanOut(leg: Leg, target: ModelDataset): void {
  const { equal, within } = leg.relationship;
  if (within !== undefined && !leg.reversed) return;
  const names = equal.flatMap(({ own, target: joined }) => (leg.reversed ? own : joined) ?? []);
  const columns = names.map((name) => columnIdentity(target, name));
  if (target.keys.some((key) => key.every((column) => columns.includes(column)))) return;
  throw queryError(
    'fan_risk',
    `Joining ${leg.from} to ${leg.to} could multiply rows: ${columns.join(', ') || 'no column by equality'} is not a declared key of ${leg.to}`,
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

/** Types of one family can be compared; undefined if the type is unknown. */
export function typeFamilyOf(type: string | undefined): string | undefined {
  return typeFamilies[type ?? ''];
}

/**
 * Throws `fan_risk` for a join between types of different families. Engines would convert one side, and both texts '1' and
 * '01' equal the number 1.
 */
export function checkJoinTypes(
  { relationship, reversed, from, to }: Leg,
  source: ModelDataset,
  target: ModelDataset,
): void {
  for (const pair of relationship.equal) {
    const [own, joined] = reversed ? [pair.target, pair.own] : [pair.own, pair.target];
    if (own === undefined || joined === undefined) continue;
    const ownType = findField(source, own)?.type;
    const joinedType = findField(target, joined)?.type;
    const ownFamily = typeFamilyOf(ownType);
    const joinedFamily = typeFamilyOf(joinedType);
    if (ownFamily === undefined || joinedFamily === undefined || ownFamily === joinedFamily)
      continue;
    throw queryError(
      'fan_risk',
      `Joining ${from} to ${to} could multiply rows: ${from}.${own} is ${ownType}, ${to}.${joined} is ${joinedType}`,
      `Correct the type that is wrong, or join by a field of ${source.file} like {name: ${own}_key, type: ${joinedType}, expr: CAST(${own} AS …)}.`,
    );
  }
}

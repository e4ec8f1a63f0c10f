import { isRecord } from '../../../lib/json.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { DbtOwner } from '../dbt-project.ts';
import { mappingAt, namedEntries, textAt, type YamlItem, type YamlMapping } from './yaml-item.ts';

/** The owners of groups, by the names of the groups. */
export type GroupOwners = ReadonlyMap<string, DbtOwner>;

/** A mapping that can have `meta` and `group`, and the places of its keys. */
export interface OwnedMapping {
  readonly mapping: YamlMapping;
  readonly placeOf: (holder: unknown, key?: string) => ItemPlace;
}

/** Keys of `meta` under which projects name an owner. */
export const ownerKeys = ['owner', 'owners', 'data_owner', 'model_owner', 'maintainer'] as const;

/** The owner of a group counts less than one of the thing itself. */
const groupConfidence = 0.9;

export function readGroupOwners(yamlItems: readonly YamlItem[]): GroupOwners {
  const groups = yamlItems.flatMap((yaml) =>
    namedEntries(yaml, 'groups').map((group) => ({ yaml, group })),
  );
  return new Map(
    groups.flatMap(({ yaml, group }) => {
      const owner = groupOwner(group, yaml.placeOf(group, 'owner'));
      return owner === undefined ? [] : [[textAt(group, 'name') ?? '', owner] as const];
    }),
  );
}

/** The owner that the entry of a group names. */
export function groupOwner(group: YamlMapping, place: ItemPlace): DbtOwner | undefined {
  const text = ownerText(group['owner']);
  return text === undefined ? undefined : { text, place, confidence: groupConfidence };
}

/**
 * The owner that the last of the mappings names in its `meta`, otherwise the owner of the last
 * group that they name.
 */
export function findOwner(
  holders: readonly OwnedMapping[],
  groups: GroupOwners,
): DbtOwner | undefined {
  const nearest = holders.toReversed();
  const named = nearest.flatMap(({ mapping, placeOf }) =>
    ['meta', '+meta'].flatMap((key) => {
      const meta = mappingAt(mapping, key);
      const ownerKey = ownerKeys.find((name) => ownerText(meta[name]) !== undefined);
      const text = ownerKey && ownerText(meta[ownerKey]);
      return text === undefined ? [] : [{ text, place: placeOf(meta, ownerKey), confidence: 1 }];
    }),
  );
  const ofGroups = nearest.flatMap(({ mapping }) =>
    ['group', '+group'].flatMap((key) => groups.get(textAt(mapping, key) ?? '') ?? []),
  );
  return named[0] ?? ofGroups[0];
}

const longestOwner = 120;

/** An owner as one line: `Finance team (finance@example.org)`. Undefined if nobody is named. */
export function ownerText(value: unknown): string | undefined {
  const people: readonly unknown[] = Array.isArray(value) ? value : [value];
  const text = people
    .flatMap((person) => {
      if (typeof person === 'string') return person;
      if (!isRecord(person)) return [];
      const name = textAt(person, 'name');
      const email = [person['email']].flat().find((address) => typeof address === 'string');
      if (name !== undefined && email !== undefined) return `${name} (${email})`;
      return name ?? email ?? [];
    })
    .join(', ')
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return text === '' || text.includes('{{')
    ? undefined
    : text.slice(0, longestOwner).toWellFormed();
}

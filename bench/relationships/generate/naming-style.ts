import type { entityNames } from './vocabulary.ts';

/**
 * How one schema names its tables, keys and links, and what its key values look like. Values that
 * occur more than once are likelier.
 */
export interface NamingStyle {
  lang: keyof typeof entityNames;
  casing: 'snake' | 'pascal' | 'camel' | 'upper' | 'glued';
  plural: boolean;
  tablePrefix: 'none' | 'tbl' | 'star' | 'app';
  key: 'id' | 'entity_id' | 'entity_suffix' | 'id_entity' | 'abbr_id' | 'pk_entity' | 'name';
  suffix: string;
  link:
    | 'entity_suffix'
    | 'parent_key'
    | 'fk_entity'
    | 'id_entity'
    | 'entity'
    | 'abbr_suffix'
    | 'mixed';
  columnPrefix: boolean;
  values: 'dense' | 'offset' | 'sparse' | 'uuid' | 'code' | 'prefixed' | 'mixed';
  abbreviate: number;
}

export function randomStyle(random: () => number): NamingStyle {
  const pick = <T>(...list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return {
    lang: pick('en', 'en', 'en', 'en', 'en', 'de', 'es'),
    casing: pick('snake', 'snake', 'snake', 'snake', 'pascal', 'pascal', 'camel', 'upper', 'glued'),
    plural: pick(true, false),
    tablePrefix: pick('none', 'none', 'none', 'none', 'tbl', 'star', 'app'),
    key: pick(
      'id',
      'id',
      'entity_id',
      'entity_id',
      'entity_suffix',
      'id_entity',
      'abbr_id',
      'pk_entity',
      'name',
    ),
    suffix: pick('id', 'id', 'id', 'no', 'key', 'code', 'nr', 'num', 'sk', 'number'),
    link: pick(
      'entity_suffix',
      'entity_suffix',
      'parent_key',
      'parent_key',
      'fk_entity',
      'id_entity',
      'entity',
      'abbr_suffix',
      'mixed',
    ),
    columnPrefix: random() < 0.12,
    values: pick(
      'dense',
      'dense',
      'dense',
      'dense',
      'offset',
      'sparse',
      'uuid',
      'code',
      'prefixed',
      'mixed',
      'mixed',
    ),
    abbreviate: pick(0, 0, 0, 0.3),
  };
}

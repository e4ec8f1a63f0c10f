import { isRecord } from '../../../lib/json.ts';
import { readLocatedYaml } from '../../../lib/yaml/located-yaml.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { Item } from '../../source.ts';
import type { DbtFault } from '../dbt-project.ts';

export type YamlMapping = Readonly<Record<string, unknown>>;

/** A YAML file of the project. */
export interface YamlItem {
  readonly item: Item;
  /** Its first document. */
  readonly top: unknown;
  /** Where a mapping or list of the file stands, or one of its members. */
  readonly placeOf: (holder: unknown, key?: string | number) => ItemPlace;
}

/** Undefined if the file is not YAML, which becomes a fault. */
export function parseYamlItem(item: Item, faults: DbtFault[]): YamlItem | undefined {
  const { key } = item;
  const yaml = readLocatedYaml(item.body);
  if ('broken' in yaml) {
    const { line, reason } = yaml.broken;
    faults.push({ place: { key, line }, reason: `not YAML: ${reason}` });
    return undefined;
  }
  const placeOf = (holder: unknown, member?: string | number): ItemPlace => {
    const { line, text: quote } = yaml.locate(holder, member);
    return { key, line, quote };
  };
  return { item, top: yaml.documents[0], placeOf };
}

/** The entries with a name of a list at the top of the file, such as `models:`. */
export function namedEntries(yaml: YamlItem, list: string): readonly YamlMapping[] {
  if (!isRecord(yaml.top)) return [];
  return mappingsAt(yaml.top, list).filter((entry) => textAt(entry, 'name') !== undefined);
}

export function textAt(mapping: YamlMapping, key: string): string | undefined {
  const value = mapping[key];
  return typeof value === 'string' ? value : undefined;
}

/** The mappings of a list; its other members are left out. */
export function mappingsAt(mapping: YamlMapping, key: string): readonly YamlMapping[] {
  return listAt(mapping, key).filter(isRecord);
}

/** Empty if the value is not a list. */
export function listAt(mapping: YamlMapping, key: string): readonly unknown[] {
  const value = mapping[key];
  return Array.isArray(value) ? value : [];
}

/** An empty mapping if the value is not one. */
export function mappingAt(mapping: YamlMapping, key: string): YamlMapping {
  const value = mapping[key];
  return isRecord(value) ? value : {};
}

/** False in any spelling of YAML 1.1. */
export function isNo(value: unknown): boolean {
  return value === false || (typeof value === 'string' && /^(false|no|off)$/i.test(value.trim()));
}

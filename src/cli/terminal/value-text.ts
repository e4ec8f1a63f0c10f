import { CORE_SCHEMA, dump } from 'js-yaml';
import { numberForPeople } from './table.ts';

/** A text as it is; anything else as YAML on one line, like `{agg: sum, of: amount}`. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberForPeople(value);
  const yaml = dump(value, { schema: CORE_SCHEMA, flowLevel: 0, lineWidth: -1, sortKeys: true });
  return yaml.trim();
}

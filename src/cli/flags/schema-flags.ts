import { Option } from '@commander-js/extra-typings';
import { z } from 'zod';
import { parsePositiveAmount, parsePositiveInteger } from './parse-number.ts';

/** Values of parsed options by attribute name, or of a configuration by key. */
export type FlagSettings = Record<string, unknown>;

export interface SchemaFlag {
  /** The key in the schema. */
  readonly key: string;
  readonly option: Option;
}

/**
 * One flag per key of the schema, with the key's description. A list takes several words: `schemas`
 * becomes `--schema <names...>`. Keys that hold a map get no flag. `shortNames` maps keys to short
 * flags.
 */
export function schemaFlags(
  schema: z.ZodType,
  shortNames: Readonly<Record<string, string>> = {},
): readonly SchemaFlag[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const withoutMaps = Object.entries(properties).filter(
    ([, property]) => typeof property !== 'object' || property.type !== 'object',
  );
  return withoutMaps.map(([key, property]) => {
    const { type, description, enum: choices } = typeof property === 'object' ? property : {};
    const name = `--${(type === 'array' ? key.replace(/s$/, '') : key).replaceAll('_', '-')}`;
    const value = placeholders[String(type)] ?? ` <${choices?.join('|') ?? 'value'}>`;
    const short = key in shortNames ? `${shortNames[key]}, ` : '';
    const option = new Option(`${short}${name}${value}`, description);
    if (type === 'integer') option.argParser(parsePositiveInteger);
    if (type === 'number') option.argParser(parsePositiveAmount);
    return { key, option };
  });
}

const placeholders: Readonly<Record<string, string>> = {
  boolean: '',
  array: ' <names...>',
  integer: ' <number>',
  number: ' <number>',
};

export function addFlags<C extends { addOption(option: Option): unknown }>(
  command: C,
  flags: readonly SchemaFlag[],
): C {
  for (const { option } of flags) command.addOption(option);
  return command;
}

/** The values of those flags that were given, by schema key. */
export function settingsFromFlags(
  flags: readonly SchemaFlag[],
  options: FlagSettings,
): FlagSettings {
  const values = flags.map(({ key, option }) => [key, options[option.attributeName()]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

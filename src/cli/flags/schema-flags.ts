import { Option } from '@commander-js/extra-typings';
import { z } from 'zod';
import { positive } from '../commands/query/sql.ts';

/** What the flags of a schema said: an option's value by its name. */
export type Settings = Record<string, unknown>;

export interface SchemaFlag {
  /** The schema's key. */
  readonly key: string;
  readonly option: Option;
}

/** A flag for each key of a schema, as the schema describes it; lists take several words: `schemas` is `--schema <names...>`. What is a map is for the file. */
export function schemaFlags(
  schema: z.ZodType,
  short: Readonly<Record<string, string>> = {},
): readonly SchemaFlag[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const simple = Object.entries(properties).filter(
    ([, property]) => typeof property !== 'object' || property.type !== 'object',
  );
  return simple.map(([key, property]) => {
    const { type, description, enum: choices } = typeof property === 'object' ? property : {};
    const name = `--${(type === 'array' ? key.replace(/s$/, '') : key).replaceAll('_', '-')}`;
    const value = placeholders[String(type)] ?? ` <${choices?.join('|') ?? 'value'}>`;
    const option = new Option(
      `${key in short ? `${short[key]}, ` : ''}${name}${value}`,
      description,
    );
    return { key, option: type === 'integer' ? option.argParser(positive) : option };
  });
}

const placeholders: Readonly<Record<string, string>> = {
  boolean: '',
  array: ' <names...>',
  integer: ' <number>',
};

export function withFlags<C extends { addOption(option: Option): unknown }>(
  command: C,
  flags: readonly SchemaFlag[],
): C {
  for (const { option } of flags) command.addOption(option);
  return command;
}

/** What was said, under the schema's keys. */
export function saidBy(flags: readonly SchemaFlag[], options: Settings): Settings {
  const said = flags.map(({ key, option }) => [key, options[option.attributeName()]] as const);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

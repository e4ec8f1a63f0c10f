import { UserError } from '../../lib/error.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import {
  connectionConfigSchema,
  connectionNameSchema,
  isWarehouse,
  type ConnectionConfig,
} from '../../project/open/config.ts';
import { sourceDrivers } from '../../sources/config.ts';
import { drivers, type WarehouseConfig } from '../../warehouse/config.ts';
import type { CommandContext } from '../command.ts';
import { usage } from '../terminal/failure.ts';
import { askInPlaceOf } from '../terminal/prompt.ts';
import { saidBy, schemaFlags, type SchemaFlag, type Settings } from './schema-flags.ts';

/** Warehouses, and sources of context. */
export const allKinds = [...drivers, ...sourceDrivers] as const;
type Kinds = readonly (typeof allKinds)[number][];

/** The warehouse that the flags say. */
export async function warehouseFrom(
  options: Settings,
  context: CommandContext,
): Promise<WarehouseConfig> {
  const config = await connectionFrom(options, context, drivers);
  if (isWarehouse(config)) return config;
  throw usage(
    `${config.driver} is no warehouse.`,
    'ktx connection add adds a source to a project that has a warehouse',
  );
}

/** True where a person is asked for the driver, or for where the warehouse is. */
export function asksConnection(options: Settings, { screen }: CommandContext): boolean {
  return (
    screen.interactive &&
    (options['driver'] === undefined ||
      (options['path'] === undefined && options['url'] === undefined))
  );
}

/** The checked configuration that the flags say; what is missing is asked for where a person is there. */
export async function connectionFrom(
  options: Settings,
  context: CommandContext,
  kinds: Kinds,
): Promise<ConnectionConfig> {
  const flags = connectionFlags(kinds);
  const driver =
    typeof options['driver'] === 'string' ? options['driver'] : await askDriver(context, kinds);
  const given = { ...saidBy(flags, options), driver };
  const { data, problems } = checkSchema(connectionConfigSchema, given);
  if (data !== undefined) return data;
  const own = schemaFlags(
    kinds.find(({ name }) => name === driver)?.config ?? connectionConfigSchema,
  ).slice(1);
  const place = own.find(({ key }) => key === 'path' || key === 'url');
  if (place !== undefined && !(place.key in given) && context.screen.interactive) {
    const validate = (value?: string) => {
      const wrong = checkSchema(connectionConfigSchema, {
        ...given,
        [place.key]: value,
      }).problems?.find(({ path }) => path[0] === place.key);
      return value ? wrong?.message : 'something is needed';
    };
    const said = await askInPlaceOf(place.option.long ?? '', context, ({ text }) =>
      text({ message: place.option.description, signal: context.signal, validate }),
    );
    return connectionFrom({ ...options, driver, [place.key]: said }, context, kinds);
  }
  const lines = problems.map(({ path, message, rule }) => {
    const flag = flags.find(({ key }) => key === path[0])?.option.long ?? '';
    return rule === 'unknown_key' ? `${flag} is no setting of ${driver}` : `${flag}: ${message}`;
  });
  throw usage(
    `The connection is not complete: ${lines.join('; ')}.`,
    `${driver} takes ${own.map(({ option }) => option.long).join(', ')}`,
  );
}

export function connectionName(name: string): string {
  const { data, problems } = checkSchema(connectionNameSchema, name);
  if (data !== undefined) return data;
  throw usage(
    `${JSON.stringify(name)} is no name for a connection: ${problems[0]?.message ?? ''}.`,
    'for example: warehouse',
  );
}

/** `--driver`, then each setting once, with the drivers that have it where not all do. */
export function connectionFlags(kinds: Kinds = drivers): readonly SchemaFlag[] {
  const owned = kinds.flatMap(({ name, config }) =>
    schemaFlags(config).map((flag) => ({ ...flag, name })),
  );
  return [...Map.groupBy(owned, ({ key }) => key).values()].flatMap(([flag, ...others]) => {
    if (flag === undefined) return [];
    const { key, option } = flag;
    if (key === 'driver') option.choices(kinds.map(({ name }) => name));
    const names = [flag, ...others].map(({ name }) => name);
    const titles = kinds.map(({ name, title }) => `${name}: ${title}`).join('; ');
    const only = names.length === kinds.length ? '' : ` (${names.join(', ')})`;
    option.description = key === 'driver' ? titles : option.description + only;
    return [{ key, option }];
  });
}

async function askDriver(context: CommandContext, kinds: Kinds): Promise<string> {
  const { signal } = context;
  if (!context.screen.interactive) {
    const hint = `one of ${kinds.map(({ name }) => `--driver ${name}`).join(', ')}`;
    throw new UserError(
      'flag_missing',
      '--driver is missing, and there is no terminal to ask at.',
      { hint, exitCode: 2 },
    );
  }
  const options = kinds.map(({ name, title }) => ({ value: name, label: title }));
  return askInPlaceOf('--driver', context, ({ select }) =>
    select({ message: 'Which kind?', options, signal }),
  );
}

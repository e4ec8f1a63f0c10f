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
import type { DriverDescription } from '../../warehouse/driver-description.ts';
import type { CommandContext } from '../command.ts';
import { usageError } from '../terminal/failure.ts';
import { promptForFlag, requireAnswer, wrapQuestion } from '../terminal/prompt.ts';
import {
  schemaFlags,
  settingsFromFlags,
  type FlagSettings,
  type SchemaFlag,
} from './schema-flags.ts';

/** Drivers of warehouses and of sources. */
export const allDrivers = [...drivers, ...sourceDrivers] as const;
type DriverList = readonly (typeof allDrivers)[number][];

/** Reads the flags of a warehouse; prompts for what is missing. */
export async function resolveWarehouse(
  options: FlagSettings,
  context: CommandContext,
): Promise<WarehouseConfig> {
  const config = await resolveConnection(options, context, drivers);
  if (isWarehouse(config)) return config;
  throw usageError(
    `${config.driver} is not a warehouse.`,
    'ktx connection add adds a source to a project that has a warehouse',
  );
}

/** True if `resolveWarehouse` would ask for something: only then trying again can help. */
export function needsConnectionPrompt(options: FlagSettings, { screen }: CommandContext): boolean {
  if (!screen.interactive || typeof options['driver'] !== 'string') return screen.interactive;
  const settings = settingsFromFlags(connectionFlags(), options);
  return checkSchema(connectionConfigSchema, settings).data === undefined;
}

/**
 * Reads and checks the flags of a connection; prompts for the driver, the location and everything
 * else that the driver requires if a person is there.
 */
export async function resolveConnection(
  options: FlagSettings,
  context: CommandContext,
  candidates: DriverList,
): Promise<ConnectionConfig> {
  const flags = connectionFlags(candidates);
  const given = typeof options['driver'] === 'string' ? options['driver'] : undefined;
  const driver = given ?? (await promptForDriver(context, candidates));
  const settings: FlagSettings = { ...settingsFromFlags(flags, options), driver };
  const { data, problems = [] } = checkSchema(connectionConfigSchema, settings);
  // Who only chose what it is has not said where it is, though a default would do.
  const isPlaceOpen = given === undefined && !('path' in settings);
  if (data !== undefined && !(isPlaceOpen && 'path' in data)) return data;
  const driverFlags = schemaFlags(
    candidates.find(({ name }) => name === driver)?.config ?? connectionConfigSchema,
  ).slice(1);
  const unset = driverFlags.filter(({ key }) => !(key in settings));
  const isMissing = ({ key }: SchemaFlag) => problems.some(({ path }) => path[0] === key);
  const asked = unset.find(isLocation) ?? unset.find(isMissing);
  if (asked !== undefined && context.screen.interactive) {
    const value = await promptForSetting(asked, settings, context);
    const more = { ...options, driver, [asked.option.attributeName()]: value };
    return resolveConnection(more, context, candidates);
  }
  const lines = problems.map(({ path, message, rule }) => {
    const flag = flags.find(({ key }) => key === path[0])?.option.long ?? '';
    return rule === 'unknown_key' ? `${flag} does not apply to ${driver}` : `${flag}: ${message}`;
  });
  throw usageError(
    `Invalid connection flags: ${lines.join('; ')}.`,
    `flags of ${driver}: ${driverFlags.map(({ option }) => option.long).join(', ')}`,
  );
}

function isLocation({ key }: SchemaFlag): boolean {
  return key === 'path' || key === 'url';
}

/** Checks the name of a connection. */
export function parseConnectionName(name: string): string {
  const { data, problems } = checkSchema(connectionNameSchema, name);
  if (data !== undefined) return data;
  throw usageError(
    `Invalid connection name ${JSON.stringify(name)}: ${problems[0]?.message ?? ''}.`,
    'for example: warehouse',
  );
}

/**
 * `--driver`, then each setting once. A setting that only some drivers have lists them in its
 * description.
 */
export function connectionFlags(candidates: DriverList = drivers): readonly SchemaFlag[] {
  const flagsOfDrivers = candidates.flatMap(({ name, config }) =>
    schemaFlags(config).map((flag) => ({ ...flag, driver: name })),
  );
  const byKey = [...Map.groupBy(flagsOfDrivers, ({ key }) => key).values()];
  return byKey.flatMap(([flag, ...others]) => {
    if (flag === undefined) return [];
    const { key, option } = flag;
    if (key === 'driver') {
      option.choices(candidates.map(({ name }) => name));
      option.description = candidates.map(({ name, title }) => `${name}: ${title}`).join('; ');
      return [{ key, option }];
    }
    option.description = describeSharedFlag([flag, ...others], candidates.length);
    return [{ key, option }];
  });
}

/** Each different description once, with the drivers that it is about unless it is about all. */
function describeSharedFlag(
  flags: readonly (SchemaFlag & { readonly driver: string })[],
  driverCount: number,
): string {
  const byText = [...Map.groupBy(flags, ({ option }) => option.description)];
  return byText
    .map(([text, owners]) =>
      owners.length === driverCount
        ? text
        : `${owners.map(({ driver }) => driver).join(', ')}: ${text}`,
    )
    .join(' ');
}

async function promptForDriver(context: CommandContext, candidates: DriverList): Promise<string> {
  const { signal } = context;
  if (!context.screen.interactive) {
    const hint = `one of ${candidates.map(({ name }) => `--driver ${name}`).join(', ')}`;
    throw new UserError(
      'flag_missing',
      '--driver is missing, and there is no terminal to ask in.',
      {
        hint,
        exitCode: 2,
      },
    );
  }
  const listed = candidates.toSorted((a, b) => turnOf(a) - turnOf(b));
  const options = listed.map(({ name, title }) => ({ value: name, label: title }));
  return promptForFlag('--driver', context, ({ select }) =>
    select({ message: 'What do you want to connect to?', options, signal }),
  );
}

/** Files first, which a newcomer has; then servers, those that somebody has tried before others. */
function turnOf(driver: DriverList[number]): number {
  if (!('systemNames' in driver)) return 3;
  const { file, isUntried }: DriverDescription = driver;
  if (file !== undefined) return 0;
  return isUntried === true ? 2 : 1;
}

async function promptForSetting(
  { key, option }: SchemaFlag,
  settings: FlagSettings,
  context: CommandContext,
): Promise<string> {
  const validate = (value?: string): string | undefined => {
    const kept = key === 'url' && value !== undefined ? withoutPassword(value) : value;
    const { problems } = checkSchema(connectionConfigSchema, { ...settings, [key]: kept });
    return requireAnswer(value) ?? problems?.find(({ path }) => path[0] === key)?.message;
  };
  const typed = await promptForFlag(option.long ?? '', context, ({ text }) =>
    text({
      message: wrapQuestion(option.description, context.screen),
      signal: context.signal,
      validate,
    }),
  );
  const kept = key === 'url' ? withoutPassword(typed) : typed;
  if (kept !== typed)
    context.printNote('The password is not kept there. ktx asks for it, and does not show it.');
  return kept;
}

/** A pasted URL as `ktx.yaml` may have it. */
function withoutPassword(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.password === '') return text;
  url.password = '';
  return url.href;
}

import { UserError } from '../lib/error.ts';
import { check } from '../lib/schema-check.ts';
import { connectionNameSchema, type ConnectionConfig } from '../project/config.ts';
import { drivers, warehouseConfigSchema } from '../warehouse/config.ts';
import type { CommandContext } from './command.ts';
import { usage } from './failure.ts';
import { answer } from './prompt.ts';
import { saidBy, schemaFlags, type SchemaFlag, type Settings } from './schema-flags.ts';

/** The checked configuration that the flags say; what is missing is asked for where a person is there. */
export async function connectionFrom(options: Settings, context: CommandContext): Promise<ConnectionConfig> {
  const flags = connectionFlags();
  const driver = typeof options['driver'] === 'string' ? options['driver'] : await askDriver(context);
  const given = { ...saidBy(flags, options), driver };
  const { data, problems } = check(warehouseConfigSchema, given);
  if (data !== undefined) return data;
  const own = schemaFlags(drivers.find(({ name }) => name === driver)?.config ?? warehouseConfigSchema).slice(1);
  const place = own.find(({ key }) => key === 'path' || key === 'url');
  if (place !== undefined && !(place.key in given) && context.screen.interactive) {
    const validate = (value?: string) => (value ? undefined : 'something is needed');
    const said = await answer(({ text }) => text({ message: place.option.description, signal: context.signal, validate }));
    return connectionFrom({ ...options, driver, [place.key]: said }, context);
  }
  const lines = problems.map(({ path, message, rule }) => {
    const flag = flags.find(({ key }) => key === path[0])?.option.long ?? '';
    return `${flag} ${rule === 'unknown_key' ? `is no setting of ${driver}` : message}`.trim();
  });
  throw usage(`The connection is not complete: ${lines.join('; ')}.`, `${driver} takes ${own.map(({ option }) => option.long).join(', ')}`);
}

export function connectionName(name: string): string {
  const { data, problems } = check(connectionNameSchema, name);
  if (data !== undefined) return data;
  throw usage(`${JSON.stringify(name)} is no name for a connection: ${problems[0]?.message ?? ''}.`, 'for example: warehouse');
}

/** `--driver`, then each setting once, with the drivers that have it where not all do. */
export function connectionFlags(): readonly SchemaFlag[] {
  const owned = drivers.flatMap(({ name, config }) => schemaFlags(config).map((flag) => ({ ...flag, name })));
  return [...Map.groupBy(owned, ({ key }) => key).values()].flatMap(([flag, ...others]) => {
    if (flag === undefined) return [];
    const { key, option } = flag;
    if (key === 'driver') option.choices(drivers.map(({ name }) => name));
    const names = [flag, ...others].map(({ name }) => name);
    const titles = drivers.map(({ name, title }) => `${name}: ${title}`).join('; ');
    const only = names.length === drivers.length ? '' : ` (${names.join(', ')})`;
    option.description = key === 'driver' ? titles : option.description + only;
    return [{ key, option }];
  });
}

async function askDriver({ screen, signal }: CommandContext): Promise<string> {
  if (!screen.interactive) {
    const hint = `one of ${drivers.map(({ name }) => `--driver ${name}`).join(', ')}`;
    throw new UserError('flag_missing', '--driver is missing, and there is no terminal to ask at.', { hint, exitCode: 2 });
  }
  const options = drivers.map(({ name, title }) => ({ value: name, label: title }));
  return answer(({ select }) => select({ message: 'Which kind of warehouse?', options, signal }));
}

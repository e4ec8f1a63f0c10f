import { Option, type Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { UserError } from '../lib/error.ts';
import { explainIssues } from '../project/config-issues.ts';
import { connectionNameSchema, type ConnectionConfig } from '../project/config.ts';
import { drivers, warehouseConfigSchema } from '../warehouse/config.ts';
import type { CommandContext } from './command.ts';

type Settings = Record<string, unknown>;

interface Setting {
  readonly key: string;
  readonly flag: string;
  readonly kind: 'text' | 'number' | 'list';
  readonly description: string;
  readonly drivers: readonly string[];
}

/** One flag for each setting of any driver, from the drivers' own schemas. */
export function withConnectionFlags<Args extends unknown[]>(command: Command<Args>): Command<Args, Settings> {
  const names = drivers.map(({ name }) => name);
  command.addOption(new Option('--driver <name>', drivers.map(({ name, title }) => `${name}: ${title}`).join('; ')).choices(names));
  for (const { flag, kind, description, drivers: owners } of allSettings()) {
    const only = owners.length === names.length ? '' : ` (${owners.join(', ')})`;
    const option = new Option(`--${flag} <${kind === 'list' ? 'names...' : 'value'}>`, description + only);
    command.addOption(kind === 'number' ? option.argParser(Number) : option);
  }
  return command;
}

/** The checked configuration that the flags say; what is missing is asked for where a person is there. */
export async function connectionFrom(options: Settings, context: CommandContext): Promise<ConnectionConfig> {
  const driver = typeof options['driver'] === 'string' ? options['driver'] : await askDriver(context);
  const settings = allSettings().filter((setting) => setting.drivers.includes(driver));
  const given: Settings = { driver };
  for (const { key, flag } of allSettings()) {
    const value = options[camelCase(flag)];
    if (value !== undefined) given[key] = value;
  }
  const parsed = warehouseConfigSchema.safeParse(given);
  if (parsed.success) return written(given);
  const path = settings.find(({ key }) => key === 'path' || key === 'url');
  if (path !== undefined && given[path.key] === undefined && context.screen.interactive) {
    const answer = await ask(context, `--${path.flag}`, path.description);
    return connectionFrom({ ...options, driver, [camelCase(path.flag)]: answer }, context);
  }
  const problems = explainIssues(parsed.error, warehouseConfigSchema, given).map((issue) => {
    const setting = settings.find(({ key }) => key === issue.path[0]);
    const flag = setting?.flag ?? allSettings().find(({ key }) => key === issue.path[0])?.flag;
    const foreign = setting === undefined && flag !== undefined ? ` is no setting of ${driver}` : ` ${issue.message}`;
    return `${flag === undefined ? '' : `--${flag}`}${foreign}`.trim();
  });
  throw new UserError('usage', `The connection is not complete: ${problems.join('; ')}.`, {
    hint: `${driver} takes ${settings.map(({ flag }) => `--${flag}`).join(', ')}`,
    exitCode: 2,
  });
}

export function connectionName(name: string): string {
  const parsed = connectionNameSchema.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new UserError('usage', `${JSON.stringify(name)} is no name for a connection: ${parsed.error.issues[0]?.message ?? ''}.`, {
    hint: 'for example: warehouse',
    exitCode: 2,
  });
}

/** What goes into `ktx.yaml` is what was said, not every default. */
function written(given: Settings): ConnectionConfig {
  const parsed = warehouseConfigSchema.parse(given);
  return Object.fromEntries(Object.entries(parsed).filter(([key]) => key in given)) as ConnectionConfig;
}

function allSettings(): readonly Setting[] {
  const settings = new Map<string, Setting>();
  for (const { name, config } of drivers) {
    const { properties = {} } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
    for (const [key, property] of Object.entries(properties)) {
      const kind = typeof property === 'object' ? kindOf(property) : undefined;
      if (key === 'driver' || kind === undefined || typeof property !== 'object') continue;
      const flag = (kind === 'list' ? key.replace(/s$/, '') : key).replaceAll('_', '-');
      const known = settings.get(key);
      settings.set(key, {
        key,
        flag,
        kind,
        description: known?.description ?? property.description ?? key,
        drivers: [...(known?.drivers ?? []), name],
      });
    }
  }
  return [...settings.values()];
}

function kindOf({ type }: z.core.JSONSchema.BaseSchema): Setting['kind'] | undefined {
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'array' ? 'list' : undefined;
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

async function askDriver(context: CommandContext): Promise<string> {
  requirePerson(context, '--driver');
  const { isCancel, select } = await import('@clack/prompts');
  const options = drivers.map(({ name, title }) => ({ value: name, label: title }));
  const answer = await select({ message: 'Which kind of warehouse?', options, signal: context.signal });
  if (isCancel(answer)) throw cancelled();
  return answer;
}

async function ask(context: CommandContext, flag: string, question: string): Promise<string> {
  requirePerson(context, flag);
  const { isCancel, text } = await import('@clack/prompts');
  const answer = await text({
    message: question,
    signal: context.signal,
    validate: (value) => (value ? undefined : 'something is needed'),
  });
  if (isCancel(answer)) throw cancelled();
  return answer;
}

function requirePerson({ screen }: CommandContext, flag: string): void {
  if (screen.interactive) return;
  throw new UserError('flag_missing', `${flag} is missing, and there is no terminal to ask at.`, {
    hint: `one of ${drivers.map(({ name }) => `--driver ${name}`).join(', ')}`,
    exitCode: 2,
  });
}

function cancelled(): UserError {
  return new UserError('interrupted', 'Nothing was written.', { exitCode: 130 });
}

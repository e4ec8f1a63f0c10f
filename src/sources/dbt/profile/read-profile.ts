import { isRecord } from '../../../lib/json.ts';
import { readLocatedYaml } from '../../../lib/yaml/located-yaml.ts';
import { type JinjaCall, jinjaTags, parseJinjaCall, renderTemplate } from '../files/jinja.ts';
import { adapters, type Output } from './adapters.ts';

/** What is read of `profiles.yml`, and with what. */
interface ProfileRequest {
  /** The text of `profiles.yml`. */
  readonly text: string;
  /** The name of the profile; its only one without it. */
  readonly profile: string | undefined;
  /** The name of the target; the profile's own without it. */
  readonly target: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From the project of ktx to the folder in which dbt runs: paths of files start there. */
  readonly folder: string;
  /** The name of the variable for a password that the profile has as text. */
  readonly passwordVariable: string;
}

/** A target as settings of a connection in `ktx.yaml`. */
export interface ProfileConnection {
  readonly settings: Readonly<Record<string, unknown>>;
  /** Into which dbt builds. */
  readonly schema: string | undefined;
  /** What a person should know: what was left out. */
  readonly notes: readonly string[];
  /**
   * The password, if it is text in the profile: for a person who is asked for it. A function, so
   * that nothing prints it or writes it into a file with the rest.
   */
  readonly password: (() => string) | undefined;
}

/** Why the profile gives no connection, and what to do instead. */
interface ProfileFault {
  readonly fault: string;
  readonly hint: string;
}

/**
 * The connection that a target of `profiles.yml` describes. A password becomes a reference to an
 * environment variable. Other settings may come from variables too, unless their names are those of
 * secrets.
 */
export function readProfile(request: ProfileRequest): ProfileConnection | ProfileFault {
  const chosen = chooseOutput(request);
  if ('fault' in chosen) return chosen;
  const { output, title } = chosen;
  const type = typeof output['type'] === 'string' ? output['type'] : '';
  const adapter = adapters.get(type);
  if (adapter === undefined) {
    const known = [...adapters.keys()].join(', ');
    return {
      fault: `${title} is of type ${type || '?'}, which ktx does not connect to`,
      hint: `types that it reads: ${known}`,
    };
  }
  const values = new Map<string, string | number | boolean>();
  for (const [key, value] of Object.entries(output)) {
    if (adapter.secrets.includes(key)) continue;
    const resolved = resolveValue(value, request.env);
    if (typeof resolved === 'object') {
      if (!adapter.keys.includes(key)) continue;
      return {
        fault: `${key} of ${title} ${resolved.problem}`,
        hint: `write it into profiles.yml, or give its flag`,
      };
    }
    if (resolved !== undefined) values.set(key, resolved);
  }
  const secretKey = adapter.secrets.find((key) => output[key] !== undefined && output[key] !== '');
  const password = secretKey === undefined ? undefined : readPassword(output[secretKey], request);
  const read = adapter.read({ values, output, folder: request.folder });
  if ('fault' in read) return { fault: `${title}: ${read.fault}`, hint: read.hint };
  const reference = password && { password: password.reference };
  const settings = { driver: adapter.driver, ...read.settings, ...reference };
  return { settings, schema: read.schema, notes: read.notes, password: password?.text };
}

function chooseOutput({
  text,
  profile,
  target,
  env,
}: ProfileRequest): { readonly output: Output; readonly title: string } | ProfileFault {
  const yaml = readLocatedYaml(text);
  if ('broken' in yaml)
    return {
      fault: `profiles.yml is not YAML: line ${yaml.broken.line}: ${yaml.broken.reason}`,
      hint: 'mend it, and try again',
    };
  const [top] = yaml.documents;
  const profiles = isRecord(top)
    ? Object.entries(top).filter(([name, value]) => name !== 'config' && isRecord(value))
    : [];
  const names = profiles.map(([name]) => name);
  const found = profiles.filter(([name]) => profile === undefined || name === profile);
  const [only, ...others] = found;
  if (only === undefined)
    return {
      fault: `profiles.yml has no profile ${profile ?? ''}`.trim(),
      hint: `it has ${names.join(', ') || 'none'}`,
    };
  if (others.length > 0)
    return {
      fault: 'profiles.yml has several profiles, and dbt_project.yml names none',
      hint: `name one with --dbt-profile: ${names.join(', ')}`,
    };
  const [name, body] = only;
  const settings = isRecord(body) ? body : {};
  const outputs = isRecord(settings['outputs']) ? settings['outputs'] : {};
  const own = settings['target'] === undefined ? 'default' : resolveValue(settings['target'], env);
  const wanted = target ?? (typeof own === 'string' ? own : 'default');
  const output = outputs[wanted];
  if (isRecord(output)) return { output, title: `target ${wanted} of profile ${name}` };
  return {
    fault: `profile ${name} has no target ${wanted}`,
    hint: `name one with --dbt-target: ${Object.keys(outputs).join(', ') || 'there is none'}`,
  };
}

const secretName = /^DBT_ENV_SECRET|secret|token|passw|pwd|credential|(?:^|_)(?:api_?)?key(?:_|$)/i;

/** A literal as it is; a template with the variables of the environment that it names. */
function resolveValue(
  value: unknown,
  env: ProfileRequest['env'],
): string | number | boolean | undefined | { readonly problem: string } {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  const problems: string[] = [];
  // The type that dbt gives a value follows from its key here.
  const template = value.replaceAll(/\|\s*(?:int|as_\w+)\s*(?=[|}])/g, '');
  const { text, unresolved } = renderTemplate(template, (call: JinjaCall) => {
    const [name, otherwise] = call.positional;
    if (call.name !== 'env_var' || typeof name !== 'string') return undefined;
    if (secretName.test(name))
      problems.push(`is in the variable ${name}, which looks like a secret`);
    else if (env[name] !== undefined) return env[name];
    else if (otherwise === undefined) problems.push(`is in the variable ${name}, which is not set`);
    return otherwise;
  });
  const [problem] = problems;
  if (problem !== undefined) return { problem };
  if (unresolved.length === 0) return /^\d+$/.test(text) && text !== value ? Number(text) : text;
  return { problem: `has a template that ktx does not resolve: ${unresolved.join(', ')}` };
}

/** A reference to the variable that has the password, and the password if it is text. */
function readPassword(
  written: unknown,
  { passwordVariable }: ProfileRequest,
): { readonly reference: string; readonly text?: () => string } {
  const template = typeof written === 'string' ? written.trim() : '';
  const [tag, ...others] = jinjaTags(template);
  const isWhole = tag?.kind === 'expression' && others.length === 0 && tag.start === 0;
  const call =
    isWhole && tag.end === template.length
      ? parseJinjaCall(tag.inside.replace(/\|.*$/s, ''))
      : undefined;
  const [name] = call?.name === 'env_var' ? call.positional : [];
  if (typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name)) return { reference: `env:${name}` };
  const isText = tag === undefined && ['string', 'number'].includes(typeof written);
  return { reference: `env:${passwordVariable}`, ...(isText && { text: () => String(written) }) };
}

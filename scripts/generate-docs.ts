// Writes the files that are generated from code: the reference pages and the published JSON
// Schemas. A test fails if they are stale.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attachCommand, buildProgram } from '../src/cli/program.ts';
import { fileSchemas } from '../src/cli/flags/file-schemas.ts';
import { groups, registry } from '../src/cli/registry.ts';
import { capabilities } from '../src/llm/capabilities.ts';
import { jsonSchema, jsonSchemaText } from '../src/project/open/schemas.ts';

interface Property {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Property>>;
  readonly additionalProperties?: Property | boolean;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Property[];
  readonly anyOf?: readonly Property[];
  readonly items?: Property;
}

/** The text of each generated file, by its path in the repository. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/commands.md', await commandsPage()],
    ['src/cli/completion/completion-tree.json', await completionTree()],
    ['docs/reference/config.md', configPage()],
    ['docs/reference/agents.md', agentPage()],
    ['docs/reference/evals.md', evalPage()],
    ['docs/llms.txt', llmsText()],
    ...(['ktx', 'dataset', 'saved-query', 'agent', 'eval'] as const).map(
      (name) => [`schemas/${name}.schema.json`, jsonSchemaText(fileSchemas[name])] as const,
    ),
  ]);
}

/** The documentation for programs that read: its list of pages (llmstxt.org). */
function llmsText(): string {
  const folder = join(import.meta.dirname, '../docs');
  const overview = readFileSync(join(folder, 'README.md'), 'utf8');
  const pages = [...overview.matchAll(/^- (\[.+?\]\((?!\.\.)[\w/-]+\.md\): .+)$/gm)];
  const references = ['commands', 'config', 'agents', 'evals'].map(
    (name) => `[Reference: ${name}](reference/${name}.md): generated from the code`,
  );
  const parts = [
    '# ktx',
    '> The context layer for data agents: reads a warehouse, writes a semantic layer that people review in git, and answers metric queries with correct SQL, on the command line and over MCP.',
    '`npx -y ktx demo` shows it on a sample company; `npx -y ktx setup` connects a database. Every command takes `--json` and `--help`.',
    '## Pages',
    [...pages.map(([, line]) => line), ...references].map((line) => `- ${line}`).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

const exitCodes = [
  ['0', 'done'],
  ['1', 'failed'],
  ['2', 'the command line or the configuration is wrong'],
  ['3', 'partial: something is left out or pending; the last lines say what'],
  ['4', 'a login was refused, or the project is not approved on this machine (ktx trust)'],
  ['130', 'interrupted'],
];

async function commandsPage(): Promise<string> {
  const program = buildProgram(() => undefined);
  const globals = program.options.map(optionRow);
  const sections: string[] = [];
  for (const entry of registry) {
    const module = await entry.load();
    const command = await attachCommand(program, entry, async () => undefined);
    const usage = [
      'ktx',
      entry.path,
      ...command.registeredArguments.map((argument) => bracketed(argument)),
      command.options.length > 0 ? '[options]' : '',
    ];
    const examples = module.examples.map(([line, what]) => `# ${what}\n${line}`);
    sections.push(
      `## ktx ${entry.path}`,
      module.description,
      fenced(usage.filter((part) => part !== '').join(' '), 'text'),
      ...(command.options.length > 0
        ? [table(['flag', 'what it does'], command.options.map(optionRow))]
        : []),
      fenced(examples.join('\n\n')),
    );
  }
  return page('Commands', [
    'Results go to stdout, messages to stderr. Every command takes `--json` and then prints one envelope on stdout: `{ok, data | error: {code, message, hint, retryable}, meta}`. With `--help`, the text is `data.help`. `ktx ingest --json` is a stream of NDJSON: one event per line, with a `type`, then the envelope as the last line. `ktx mcp serve` uses stdout for the protocol; an error before it starts is an envelope.',
    table(
      ['command', 'what it does'],
      registry.map(({ path, summary }) => [
        `[\`ktx ${path}\`](#ktx-${path.replaceAll(' ', '-')})`,
        summary,
      ]),
    ),
    `Groups: ${Object.entries(groups)
      .map(([name, summary]) => `\`ktx ${name}\` (${summary})`)
      .join('; ')}.`,
    '## Flags of every command',
    table(['flag', 'what it does'], globals),
    '## Exit codes',
    table(['code', 'meaning'], exitCodes),
    ...sections,
  ]);
}

/**
 * What completion knows about every command without loading it: each flag, and whether a value, one
 * of several words or a name follows.
 */
async function completionTree(): Promise<string> {
  const program = buildProgram(() => undefined);
  const follows = ({ argChoices, required, optional, flags }: (typeof program.options)[number]) =>
    argChoices ?? (required || optional ? (/<([^>]+)>/.exec(flags)?.[1] ?? 'value') : null);
  const flagsOf = (options: typeof program.options) =>
    Object.fromEntries(
      options.map((option) => [
        [option.short, option.long].filter((flag) => flag !== undefined).join(', '),
        follows(option),
      ]),
    );
  const globals = { ...flagsOf(program.options), '-h, --help': null };
  const commands: Record<string, object> = {};
  for (const entry of registry) {
    const command = await attachCommand(program, entry, async () => undefined);
    const named = command.registeredArguments.map((argument) =>
      argument.argChoices
        ? `${argument.name()}=${argument.argChoices.join('|')}`
        : argument.name() + (argument.variadic ? '...' : ''),
    );
    commands[entry.path] = { arguments: named, flags: flagsOf(command.options) };
  }
  return `${JSON.stringify({ globals, commands }, undefined, 2)}\n`;
}

function configPage(): string {
  const { properties = {} } = jsonSchema(fileSchemas.ktx) as Property;
  const connection = properties['connections']?.additionalProperties;
  const variants =
    typeof connection === 'object' ? (connection.oneOf ?? connection.anyOf ?? [connection]) : [];
  const connections = variants.flatMap((variant) => [
    `### driver: ${JSON.stringify(variant.properties?.['driver']?.const).replaceAll('"', '')}`,
    settings(variant),
  ]);
  const others = Object.entries(properties).filter(([name]) => name !== 'connections');
  return page('ktx.yaml', [
    'A key that is not listed here is an error with its line and column. Secrets are references: `env:NAME`, `file:path` or `keychain:ktx/account`.',
    fenced(
      '# yaml-language-server: $schema=./.ktx/ktx.schema.json\nconnections:\n  warehouse:\n    driver: duckdb\n    path: shop.duckdb',
      'yaml',
    ),
    '## connections',
    properties['connections']?.description ?? '',
    ...connections,
    ...others.flatMap(([name, section]) => [
      `## ${name}`,
      section.description ?? '',
      settings(section),
      ...Object.entries(section.properties ?? {}).flatMap(([key, block]) =>
        variantSettings(`${name}.${key}`, block),
      ),
    ]),
  ]);
}

/** One table for each provider of a block that has a form of its own for each. */
function variantSettings(path: string, { oneOf, anyOf, description = '' }: Property): string[] {
  const variants = (oneOf ?? anyOf ?? []).filter(({ properties }) => properties?.['provider']);
  if (variants.length === 0) return [];
  return [
    `### ${path}`,
    description,
    ...variants.flatMap((variant) => [
      `#### ${path}, provider: ${String(variant.properties?.['provider']?.const)}`,
      settings(variant),
    ]),
  ];
}

function agentPage(): string {
  const agent = jsonSchema(fileSchemas.agent) as Property;
  const server = agent.properties?.['mcp_servers']?.additionalProperties;
  const variants = typeof server === 'object' ? (server.oneOf ?? server.anyOf ?? []) : [];
  return page('Agent files', [
    '`agents/<name>.yaml`. Everything but `name` may be left out; a key that is not listed here is an error with its line and column.',
    fenced(
      'name: analyst\ninstructions: {file: ./analyst.md}\ncontext: {semantic_layer: required}\nlimits: {max_turns: 20, timeout: 120s}',
      'yaml',
    ),
    settings(agent),
    ...variants.flatMap((variant) => [
      `## mcp_servers, transport: ${String(variant.properties?.['transport']?.const)}`,
      settings(variant),
    ]),
    '## What each backend does',
    '`ktx`: ktx does it, the same way for every backend. `prices`: a limit in money needs `llm.prices`.',
    table(
      ['', ...Object.keys(capabilities)],
      abilities.map((name) => [
        name.replaceAll('_', ' '),
        ...Object.values(capabilities).map((can) => abilityText(can[name])),
      ]),
    ),
  ]);
}

function evalPage(): string {
  const set = jsonSchema(fileSchemas.eval) as Property;
  const one = set.properties?.['cases']?.items ?? {};
  const expect = one.properties?.['expect'] ?? {};
  const tools = expect.properties?.['tools']?.items?.anyOf ?? [];
  const { expect: _expect, ...own } = one.properties ?? {};
  return page('Question sets', [
    '`evals/<name>.yaml`. A key that is not listed here is an error with its line and column.',
    settings(set),
    '## cases',
    settings({ ...one, properties: own }),
    '## expect',
    'Of a case, or of a turn. At least one of these.',
    settings(expect),
    '## expect.tools',
    'A list; each entry is one of these.',
    ...tools.map(settings),
  ]);
}

const abilities = Object.keys(capabilities.anthropic) as (keyof typeof capabilities.anthropic)[];
const abilityText = (value: boolean | string): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : value;

function settings(section: Property): string {
  return table(['key', 'kind', 'default', 'what it is'], settingRows(section, ''));
}

/** One row per key; keys of a nested map are written `map.key`. */
function settingRows({ properties = {}, required = [] }: Property, prefix: string): string[][] {
  return Object.entries(properties).flatMap(([key, property]) => {
    const name = prefix + key;
    if (property.properties !== undefined) return settingRows(property, `${name}.`);
    const fallback =
      property.default === undefined ? '' : `\`${JSON.stringify(property.default)}\``;
    const isRequired = required.includes(key) && property.default === undefined;
    return [
      [
        `\`${name}\``,
        kindOf(property),
        isRequired ? 'required' : fallback,
        property.description ?? '',
      ],
    ];
  });
}

function kindOf({ const: fixed, enum: choices, type }: Property): string {
  if (typeof fixed === 'string') return `\`${fixed}\``;
  if (choices !== undefined) return choices.map((choice) => `\`${String(choice)}\``).join(', ');
  return Array.isArray(type) ? type.join(' or ') : String(type ?? '');
}

function optionRow(option: {
  readonly flags: string;
  readonly description: string;
  readonly defaultValue?: unknown;
}): string[] {
  const shown =
    typeof option.defaultValue === 'string' || typeof option.defaultValue === 'number'
      ? ` (${option.defaultValue})`
      : '';
  return [`\`${option.flags}\``, option.description + shown];
}

function bracketed(argument: {
  name(): string;
  readonly required: boolean;
  readonly variadic: boolean;
}): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function fenced(text: string, language = 'sh'): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function page(title: string, parts: readonly string[]): string {
  const origin =
    '<!-- Generated by `node scripts/generate-docs.ts`. Edit the code, not this page. -->';
  return `${[`# ${title}`, origin, ...parts.filter((part) => part !== '')].join('\n\n')}\n`;
}

if (import.meta.main) {
  for (const [path, text] of await generatedFiles()) {
    const file = join(import.meta.dirname, '..', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

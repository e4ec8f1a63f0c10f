import { formatByteSize } from '../../../lib/byte-size.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { setUpProject, WarehouseProbe } from '../../../project/setup/setup.ts';
import { findDialect } from '../../../sql/dialects.ts';
import { driverNamed, type WarehouseConfig } from '../../../warehouse/config.ts';
import type { CommandContext, CommandResult } from '../../command.ts';
import {
  askForPassword,
  needsPassword,
  type WarehouseToConnect,
} from './questions/ask-for-password.ts';
import { offerExtra } from './questions/offer-extra.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { withHint } from '../../terminal/failure.ts';

/** Connects to the warehouse; only then writes it into `ktx.yaml`. */
export async function connectWarehouse(
  warehouse: WarehouseToConnect,
  context: CommandContext,
): Promise<CommandResult> {
  const { dir, name, config } = warehouse;
  const { extra, title } = driverNamed(config.driver);
  if (extra !== undefined) await offerExtra({ name: extra, by: title }, context);
  context.progress.update(`connecting to ${name}`);
  const { setUpProject } = await import('../../../project/setup/setup.ts');
  const { env } = context.host;
  const firstSchema = warehouse.profile?.schema;
  const setUp = (settings: WarehouseConfig) =>
    setUpProject({ dir, name, config: settings, env, firstSchema }, context.signal).catch(
      rethrowForFlags,
    );
  const report = await setUp(config).catch(async (error: unknown) => {
    if (!needsPassword(error, warehouse, context)) throw error;
    const kept = await askForPassword(warehouse, context);
    const done = await setUp(kept.config);
    return { ...done, written: [...done.written, ...kept.written] };
  });
  const { written, probe } = report;
  return {
    data: report,
    text: `${describeProbe(name, probe)}\n${dir}: ${describeWritten(written)}`,
    notes: [
      ...schemaNotes(report, config),
      ...untriedNotes(config),
      ...probeWarnings(probe),
      ...historyNotes(probe, { name, isOn: isHistoryOn(config) }),
      ...(await missingGitNotes(dir)),
    ],
    next: [
      [`ktx ingest ${name}`, 'finds keys and joins, writes the semantic layer'],
      [`ktx scan ${name}`, 'shows keys and joins, writes nothing'],
      ['git add ktx.yaml', 'ktx does not commit the configuration'],
    ],
  };
}

function schemaNotes(
  { schemas, probe }: Awaited<ReturnType<typeof setUpProject>>,
  config: WarehouseConfig,
): readonly string[] {
  if (schemas?.length === 1)
    return [
      `schemas in ktx.yaml: ${schemas[0]}. Its tables have names without the schema. No other schema has tables; add one there when it has.`,
    ];
  if (schemas !== undefined)
    return [
      `schemas in ktx.yaml: ${schemas.join(', ')}. Tables of the first have names without a schema; take out what you do not need.`,
    ];
  const { defaultSchema } = findDialect(config.driver);
  const { schemas: found } = probe;
  const isOpen = !('schemas' in config) && defaultSchema !== '' && found.length > 1;
  if (!isOpen || found.includes(defaultSchema)) return [];
  return [
    `Datasets will have their schema in their name, like ${found[0]}__orders. For names without it, write the main schema first into ktx.yaml before ktx ingest: schemas: [${found.join(', ')}]`,
  ];
}

/** That nobody has seen ktx work with a real account of this provider. */
export function untriedNotes({ driver }: WarehouseConfig): readonly string[] {
  const { isUntried, title } = driverNamed(driver);
  return isUntried === true
    ? [
        `ktx was tried on servers that speak the protocol of ${title}, and not verified on a live account. Please tell us what differs.`,
      ]
    : [];
}

export function isHistoryOn(config: WarehouseConfig): boolean {
  return 'history' in config && config.history?.enabled === true;
}

/** Setup works without git, but an ingest does not. */
async function missingGitNotes(dir: string): Promise<readonly string[]> {
  const { findRepository } = await import('../../../store/git.ts');
  try {
    await findRepository(dir);
    return [];
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'git_missing')) throw error;
    return [
      `${error.message} No repository was created; ktx ingest needs one. ${error.hint ?? ''}`.trim(),
    ];
  }
}

/** What does not lie where the flags say. */
const placeErrors = new Set([
  'warehouse_not_found',
  'not_a_database',
  'docs_not_found',
  'dbt_project_missing',
  'lookml_folder_missing',
  'metricflow_folder_missing',
]);

/** The hints of warehouses and sources name `ktx.yaml`, where nothing has been written. */
export function rethrowForFlags(error: unknown): never {
  if (!(error instanceof UserError && placeErrors.has(error.code))) throw error;
  const hints: Readonly<Record<string, string | undefined>> = {
    warehouse_not_found: `check the path, database or address; ${relative}`,
    not_a_database: error.hint,
  };
  const hint = hints[error.code] ?? `check --path, or choose another --driver; ${relative}`;
  throw withHint(error, `${hint.replace(/\.$/, '')}. Nothing was written to ktx.yaml`);
}

const relative = 'a relative path starts at the project folder';

export function describeProbe(name: string, probe: WarehouseProbe): string {
  const { tables, schemas, ms, bytes = 0 } = probe;
  const size = bytes < notedBytes ? '' : `, ${formatByteSize(bytes)}`;
  const found = `${formatCount(tables, 'table')} in ${schemas.join(', ') || 'no schema'}`;
  return [`${name}: connected in ${ms} ms, ${found}${size}`, ...costLines(probe)].join('\n');
}

/** In bytes. Of less, nobody wants to hear. */
const notedBytes = 1_000_000_000;

/** What a scan would read, where that takes its time or costs something. */
function costLines({ firstScan: { reads, usd } }: WarehouseProbe): readonly string[] {
  if (usd === undefined && reads < notedBytes) return [];
  const cost = usd === undefined ? '' : `, about $${usd.toFixed(2)}`;
  return [`a scan would read about ${formatByteSize(reads)}${cost}; ktx scan --dry-run lists it`];
}

export function describeWritten(files: readonly string[]): string {
  return files.length === 0 ? 'already up to date' : `wrote ${files.join(', ')}`;
}

/** Whether ktx could learn from what people run; it does so only if they switch it on. */
export function historyNotes(
  { history }: WarehouseProbe,
  { name, isOn }: { readonly name: string; readonly isOn: boolean },
): readonly string[] {
  if (history === undefined) return [];
  if (history.isReadable)
    return isOn
      ? ['Query history: on.']
      : [
          `Query history: off; this login could read it. To learn joins, metrics and common filters from it, set connections.${name}.history.enabled: true in ktx.yaml, then: ktx trust`,
        ];
  const first = `Query history: this login cannot read it: ${history.why}. If you want it:`;
  return [first, ...history.remedy.map((statement) => `  ${statement}`)];
}

/**
 * An empty database, files that could not be read, what was assumed of others, and a login that
 * could write, with the statements that create a safer one.
 */
export function probeWarnings(probe: WarehouseProbe): readonly string[] {
  const { tables, privileges, unreadFiles = [], assumptions = [] } = probe;
  const empty = [
    ...(tables === 0 ? ['This login cannot see any tables.'] : []),
    ...unreadFiles.map(({ reason }) => `not read: ${escapeControls(reason)}`),
    ...assumptions.map((text) => `assumed: ${escapeControls(text)}`),
  ];
  if (privileges.readOnly) return empty;
  return [
    ...empty,
    'This login could write; ktx never does. A read-only login is safer:',
    ...privileges.findings.map((finding) => `  ${finding}`),
    ...(privileges.remedy ?? []).map((statement) => `  ${statement}`),
  ];
}

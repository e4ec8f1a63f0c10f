import { messageOf, UserError } from '../lib/error.ts';
import { canonicalJson } from '../lib/json.ts';
import { tableKey } from '../sql/dialect.ts';
import { commitState } from './commit.ts';
import { scopeOf } from './config.ts';
import type { Project } from './project.ts';

export interface ConnectionStatus {
  readonly connection: string;
  readonly driver: string;
  /** Undefined where it was not asked. */
  readonly reachable?: boolean;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string | undefined };
  /** What the login could write if ktx let it. */
  readonly privileges?: readonly string[];
  /** Tables that came, went or changed since the last ingest; undefined where nothing was ingested or asked. */
  readonly drift?: number;
  readonly ingested: boolean;
  readonly datasets: number;
  readonly metrics: number;
  readonly relationships: number;
  /** Dataset files with something wrong: `file:line:column: what`. */
  readonly invalid: readonly string[];
}

export interface ProjectStatus {
  readonly dir: string;
  readonly connections: readonly ConnectionStatus[];
  /** Files of the project that differ from the last commit; undefined outside a git repository. */
  readonly uncommitted?: readonly string[];
}

const ownPaths = ['ktx.yaml', '.gitattributes', 'semantic-layer', 'claims', 'sources'];

/** What is configured, reachable, fresh. With `fast` no warehouse is asked. */
export async function projectStatus(project: Project, fast: boolean, signal: AbortSignal): Promise<ProjectStatus> {
  const names = Object.keys(project.config.connections);
  const { uncommitted } = await commitState(project.dir, ownPaths);
  const connections = await Promise.all(
    names.map(async (name) => ({
      ...(await onDisk(project, name)),
      ...(fast ? {} : await live(project, name, signal)),
    })),
  );
  return { dir: project.dir, connections, uncommitted };
}

async function onDisk(project: Project, name: string): Promise<ConnectionStatus> {
  const { model, diagnostics } = await project.model(name);
  const datasets = [...model.datasets.values()];
  const count = (of: (dataset: (typeof datasets)[number]) => number) => datasets.reduce((sum, dataset) => sum + of(dataset), 0);
  return {
    connection: name,
    driver: project.config.connections[name]?.driver ?? '',
    ingested: (await project.catalog(name)) !== undefined,
    datasets: datasets.length,
    metrics: count(({ metrics }) => metrics.size) + model.spanning.size,
    relationships: count(({ relationships }) => relationships.length),
    invalid: diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`),
  };
}

async function live(project: Project, name: string, signal: AbortSignal): Promise<Partial<ConnectionStatus>> {
  try {
    const warehouse = await project.warehouse(name, signal);
    const config = project.config.connections[name];
    const { tables } = await warehouse.introspect(config === undefined ? {} : scopeOf(config), signal);
    const { readOnly, findings } = await warehouse.privileges();
    const known = await project.catalog(name);
    return {
      reachable: true,
      privileges: readOnly ? [] : findings,
      ...(known && { drift: drift(known.tables, tables) }),
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    return { reachable: false, error: { code: error.code, message: messageOf(error), hint: error.hint } };
  }
}

interface Structure {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly nativeType: string }[];
}

function drift(before: readonly Structure[], now: readonly Structure[]): number {
  const shapes = (tables: readonly Structure[]) =>
    new Map(tables.map((table) => [tableKey(table), canonicalJson(table.columns.map(({ name, nativeType }) => [name, nativeType]))]));
  const [old, fresh] = [shapes(before), shapes(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])].filter((key) => old.get(key) !== fresh.get(key)).length;
}

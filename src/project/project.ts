import type { Catalog } from '../context/catalog.ts';
import type { LlmRuntime } from '../llm/govern.ts';
import type { LoadedModel } from '../semantic/load.ts';
import type { Journal } from '../store/journal.ts';
import type { Scope, Warehouse } from '../warehouse/warehouse.ts';
import type { ConnectionConfig, ProjectConfig } from './config.ts';

/** A connection of `ktx.yaml`, and what of the warehouse it is about. */
export interface Connection {
  readonly name: string;
  readonly config: ConnectionConfig;
  readonly scope: Scope;
}

/** An open project: configuration, and the things that are opened once and shared by every command and tool. */
export interface Project {
  /** Absolute path of the folder that holds `ktx.yaml`. */
  readonly dir: string;
  readonly config: ProjectConfig;
  /** On everything that this run writes or sends. */
  readonly runId: string;
  /** The named connection, or the only one; else an error that lists the names. */
  connection(name?: string): Connection;
  /** Its name. */
  warehouseName(name?: string): string;
  /** Opens at first use; closed by `close`. */
  warehouse(name: string, signal: AbortSignal): Promise<Warehouse>;
  /** The catalog as the files in git have it; undefined where nothing was ingested yet. */
  catalog(name: string): Promise<Catalog | undefined>;
  /** Datasets of one connection, re-read when a file changed. */
  model(name: string): Promise<LoadedModel>;
  /** The model runtime; undefined where `llm.provider.backend` is `none`. Opens at first use and calls nothing by itself. */
  llm(): Promise<LlmRuntime | undefined>;
  /** What was paid for. */
  journal(): Journal;
  close(): Promise<void>;
}

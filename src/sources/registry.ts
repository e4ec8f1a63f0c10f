import { loadAnalyzer } from '../sql/analyzer.ts';
import type { SourceConfig } from './config.ts';
import type {
  ExtractContext,
  Extraction,
  FetchContext,
  FetchEvent,
  Item,
  Source,
  SourceSight,
  Transformation,
} from './source.ts';

/** A source with its configuration. */
export interface OpenSource {
  readonly extractor: string;
  /**
   * With what another thread opens the source, where it can: the configuration, undefined for
   * notes.
   */
  readonly inThread?: { readonly config: SourceConfig | undefined };
  fetch(context: Omit<FetchContext<unknown>, 'config'>): AsyncIterable<FetchEvent>;
  /** Absent for a source that is looked at by reading it. */
  readonly look?:
    | ((context: Omit<FetchContext<unknown>, 'config'>) => Promise<SourceSight>)
    | undefined;
  address?(key: string): string | undefined;
  /** Absent for a source that makes no tables. */
  readonly transformations?: ((items: readonly Item[]) => readonly Transformation[]) | undefined;
  covers(key: string): boolean;
  isConfiguration(key: string): boolean;
  /** Loads what `extract` needs; to be awaited before. Fetching needs none of it. */
  prepare(): Promise<void>;
  extract(
    items: readonly Item[],
    context: Omit<ExtractContext<unknown>, 'config'>,
  ): readonly Extraction[];
}

/** The list of sources; each is loaded when it is first used. */
export async function openSource(config: SourceConfig): Promise<OpenSource> {
  switch (config.driver) {
    case 'confluence':
      return bindConfig((await import('./confluence/source.ts')).confluence, config);
    case 'dbt':
      return bindConfig((await import('./dbt/source.ts')).dbt, config);
    case 'docs':
      return bindConfig((await import('./docs/source.ts')).docs, config);
    case 'looker':
      return bindConfig((await import('./looker/source.ts')).looker, config);
    case 'lookml':
      return bindConfig((await import('./lookml/source.ts')).lookml, config);
    case 'metabase':
      return bindConfig((await import('./metabase/source.ts')).metabase, config);
    case 'metricflow':
      return bindConfig((await import('./metricflow/source.ts')).metricflow, config);
    case 'notion':
      return bindConfig((await import('./notion/source.ts')).notion, config);
  }
  return config satisfies never;
}

/** The address of what an item is about, in the tool that it comes from. */
export async function itemAddress(config: SourceConfig, key: string): Promise<string | undefined> {
  return (await openSource(config)).address?.(key);
}

/** Every project has notes, without any configuration. */
export async function openNotes(): Promise<OpenSource> {
  return bindConfig((await import('./notes/source.ts')).notesSource, undefined);
}

function bindConfig<Config extends SourceConfig | undefined>(
  source: Source<Config>,
  config: Config,
): OpenSource {
  const look = source.look?.bind(source);
  const transformations = source.transformations?.bind(source);
  return {
    inThread: { config },
    extractor: source.extractor,
    fetch: (context) => source.fetch({ ...context, config }),
    look: look && ((context) => look({ ...context, config })),
    address: (key) => source.address?.(key, config),
    transformations: transformations && ((items) => transformations(items, config)),
    covers: (key) => source.covers?.(key, config) ?? true,
    isConfiguration: (key) => source.isConfiguration?.(key) ?? false,
    prepare: async () => (source.parsesSql === true ? loadAnalyzer() : undefined),
    extract: (items, context) => source.extract(items, { ...context, config }),
  };
}

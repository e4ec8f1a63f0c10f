import type { SourceConfig } from './config.ts';
import type { ExtractContext, Extraction, FetchContext, Fetched, Item, Source } from './source.ts';

/** A source with its configuration. */
export interface OpenSource {
  readonly extractor: string;
  fetch(context: Omit<FetchContext<unknown>, 'config'>): AsyncIterable<Fetched>;
  covers(key: string): boolean;
  isFrame(key: string): boolean;
  extract(
    items: readonly Item[],
    context: Omit<ExtractContext<unknown>, 'config'>,
  ): readonly Extraction[];
}

/** The visible list of sources; each loads when it is used. */
export async function openSource(config: SourceConfig): Promise<OpenSource> {
  switch (config.driver) {
    case 'dbt':
      return bound((await import('./dbt/source.ts')).dbt, config);
    case 'docs':
      return bound((await import('./docs/source.ts')).docs, config);
    case 'metricflow':
      return bound((await import('./metricflow/source.ts')).metricflow, config);
  }
  return config satisfies never;
}

/** Notes need no configuration: every project has them. */
export async function openNotes(): Promise<OpenSource> {
  return bound((await import('./notes/source.ts')).notes, undefined);
}

function bound<Config>(source: Source<Config>, config: Config): OpenSource {
  return {
    extractor: source.extractor,
    fetch: (context) => source.fetch({ ...context, config }),
    covers: (key) => source.covers?.(key, config) ?? true,
    isFrame: (key) => source.isFrame?.(key) ?? false,
    extract: (items, context) => source.extract(items, { ...context, config }),
  };
}

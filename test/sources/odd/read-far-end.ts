import type { Catalog } from '../../../src/context/catalog/catalog.ts';
import { UserError } from '../../../src/lib/error.ts';
import { openSource } from '../../../src/sources/registry.ts';
import type { FetchEvent } from '../../../src/sources/source.ts';
import { loadAnalyzer } from '../../../src/sql/analyzer.ts';
import { apiSources, type FarEnd } from '../../contract/api-sources.ts';
import { summary } from '../dbt-fixture.ts';
import { fetchContext } from '../fetch-context.ts';

const column = (name: string, type: 'string' | 'integer' | 'decimal' | 'date') => ({
  name,
  type,
  nativeType: type,
  nullable: true,
});

/** The tables that the worlds of the recorded servers are about. */
export const shopCatalog: Catalog = {
  connection: 'shop',
  dialect: 'duckdb',
  firstSchema: 'main',
  tables: [
    {
      schema: 'main',
      table: 'orders',
      kind: 'table',
      columns: [
        column('id', 'integer'),
        column('amount', 'decimal'),
        column('status', 'string'),
        column('buyer_id', 'integer'),
        column('placed_at', 'date'),
      ],
    },
    {
      schema: 'main',
      table: 'customers',
      kind: 'table',
      columns: [column('id', 'integer'), column('cust_rgn', 'string')],
    },
  ] as unknown as Catalog['tables'],
};

export interface ReadResult {
  readonly keys: readonly string[];
  readonly bodies: ReadonlyMap<string, string>;
  readonly failed: ReadonlyMap<string, string>;
  readonly isComplete: boolean;
  /** Everything that a person is told: failures, gaps, problems, what is left out, an error. */
  readonly told: string;
  readonly claims: ReturnType<typeof summary>['claims'];
  readonly error: UserError | undefined;
}

/** The bodies of claims of a kind that has texts. */
export const textsOf = (claims: ReadResult['claims'], wanted: string) =>
  claims.flatMap(({ kind, body }) => (kind === wanted && typeof body === 'string' ? [body] : []));

/** Everything that a source reads from its recorded server after a change to it. */
export async function readFarEnd(
  name: keyof typeof apiSources,
  change: (far: FarEnd) => void,
  known: readonly string[] = [],
): Promise<ReadResult> {
  await loadAnalyzer();
  const far = await (apiSources[name] ?? (() => Promise.reject(new Error(name))))();
  try {
    change(far);
    return await read(far, known);
  } finally {
    await far.close();
  }
}

async function read(far: FarEnd, known: readonly string[]): Promise<ReadResult> {
  const source = await openSource(far.config);
  const events: FetchEvent[] = [];
  let error: UserError | undefined;
  try {
    for await (const event of source.fetch(fetchContext(far.token, known))) events.push(event);
  } catch (thrown) {
    // Anything else is a bug.
    if (!(thrown instanceof UserError)) throw thrown;
    error = thrown;
  }
  const items = events.flatMap((event) =>
    event.kind === 'item' ? [{ key: event.key, path: event.path, body: event.body }] : [],
  );
  const catalogs = new Map([['shop', shopCatalog]]);
  const found = summary(source.extract(items, { connection: 'far', catalogs }));
  const failed = new Map(
    events.flatMap((event) => (event.kind === 'failed' ? [[event.key, event.reason]] : [])),
  );
  const ends = events.flatMap((event) => (event.kind === 'end' ? [event] : []));
  const [end] = ends;
  const told = [
    ...[...failed].map(([key, reason]) => `${key}: ${reason}`),
    ...found.problems,
    ...found.leftOut,
    ...items.flatMap(({ body }) => body.match(/<!-- not read: .* -->/g) ?? []),
    end?.reason ?? '',
    error === undefined ? '' : `${error.code}: ${error.message} ${error.hint ?? ''}`,
  ].join('\n');
  return {
    keys: items.map(({ key }) => key).sort(),
    bodies: new Map(items.map(({ key, body }) => [key, body])),
    failed,
    isComplete: ends.length === 1 && end?.listingComplete === true,
    told,
    claims: found.claims,
    error,
  };
}

import { formatCount } from '../../../lib/format-count.ts';
import { knownEntries } from '../../http/known-entries.ts';
import type { FetchContext, SourceSight } from '../../source.ts';
import { collectionsSchema, databasesSchema, userSchema } from '../api-schemas.ts';
import type { MetabaseConfig } from '../config.ts';
import { openMetabase, wantedCollections } from '../fetch.ts';
import { matchWarehouses } from './match-databases.ts';

/** Who the key belongs to, the collections, and which databases are mapped. */
export async function lookAtMetabase(context: FetchContext<MetabaseConfig>): Promise<SourceSight> {
  const { config, warehouses = [] } = context;
  const http = openMetabase(context);
  const user = await http.read({ path: 'api/user/current' }, userSchema);
  const gaps: string[] = [];
  const read = await http.read({ path: 'api/database' }, databasesSchema);
  const databases = knownEntries(read, { what: 'the list of databases', gaps });
  const listed = await http.read({ path: 'api/collection' }, collectionsSchema);
  const collections = knownEntries(listed, { what: 'the list of collections', gaps });
  const wanted = wantedCollections(collections, config);
  const nameOf = ({ id, name, engine, details }: (typeof databases)[number]) => {
    // The name alone does not say which warehouse it is.
    const place = [details?.host, details?.dbname ?? details?.db].filter(Boolean).join('/');
    return `${id} ${name} (${engine}${place === '' ? '' : ` at ${place}`})`;
  };
  const mapped = databases.filter(({ id }) => config.databases?.[id] !== undefined);
  const matches = databases
    .filter((database) => !mapped.includes(database))
    .map((database) => ({ database, found: matchWarehouses(database, warehouses) }));
  const proposed = matches.flatMap(({ database, found: [connection, ...others] }) =>
    connection === undefined || others.length > 0
      ? []
      : [
          {
            setting: 'databases',
            key: String(database.id),
            connection,
            what: `database ${nameOf(database)}`,
          },
        ],
  );
  const isProposed = (id: number) => proposed.some(({ key }) => key === String(id));
  const arrows = mapped.map(
    (database) => `${nameOf(database)} → ${config.databases?.[database.id]}`,
  );
  return {
    login: `logged in as ${user.common_name ?? `user ${user.id}`}`,
    sees: [formatCount(wanted.length, 'collection'), ...arrows],
    misses: [
      ...gaps,
      ...matches
        .filter(({ database: { id } }) => !isProposed(id))
        .map(
          ({ database, found }) =>
            `database ${nameOf(database)} is not mapped: its questions lead to no tables. Write databases: {"${database.id}": ${found.join(' or ') || '<warehouse>'}} into ktx.yaml if it is one of yours`,
        ),
    ],
    proposed,
  };
}

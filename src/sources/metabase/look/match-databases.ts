import type { WarehousePlace } from '../../source.ts';

/** A database as Metabase connects to it. */
interface MetabaseDatabase {
  readonly engine: string;
  readonly details?:
    | {
        readonly host?: string | null;
        readonly port?: number | string | null;
        readonly dbname?: string | null;
        readonly db?: string | null;
      }
    | null
    | undefined;
}

/** The drivers of ktx for an engine that Metabase calls by another name. */
const driversOf: Readonly<Record<string, string>> = {
  'bigquery-cloud-sdk': 'bigquery',
  'presto-jdbc': 'trino',
  starburst: 'trino',
};

/** Such a name means the machine of Metabase, and here another one. */
const ownMachine = /^(?:localhost|127\.[\d.]+|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal)$/;

/**
 * The warehouses of the project that are the database: the same engine on the same host, and the
 * same database there. A name alone says nothing.
 */
export function matchWarehouses(
  { engine, details }: MetabaseDatabase,
  warehouses: readonly WarehousePlace[],
): readonly string[] {
  const host = hostName(details?.host);
  const database = details?.dbname ?? details?.db ?? undefined;
  if (host === undefined || database === undefined || ownMachine.test(host)) return [];
  const driver = driversOf[engine] ?? engine;
  return warehouses
    .filter(
      (place) => place.driver === driver || (driver === 'mysql' && place.driver === 'mariadb'),
    )
    .filter((place) => hostName(place.host) === host && place.database === database)
    .filter(({ port }) => isSamePort(port, details?.port))
    .map(({ connection }) => connection);
}

/** Several servers of one host have ports of their own; one that is not given is the usual. */
function isSamePort(ours: string | undefined, theirs: number | string | null | undefined): boolean {
  return ours === undefined || theirs === undefined || theirs === null || ours === String(theirs);
}

function hostName(host: string | null | undefined): string | undefined {
  const name = (host ?? '').trim().toLowerCase().replace(/\.$/, '');
  return name === '' ? undefined : name;
}

import type { WarehousePlace } from '../../sources/source.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { listWarehouses } from '../open/config.ts';
import type { Project } from '../open/open.ts';

/**
 * Where the warehouses of the project are, for sources that know their databases by host and name.
 * One that may not be used, or whose address cannot be read, is left out.
 */
export async function listWarehousePlaces({
  config,
  trust,
}: Pick<Project, 'config' | 'trust'>): Promise<readonly WarehousePlace[]> {
  const places = await Promise.all(
    listWarehouses(config).map(async (connection) => {
      try {
        const secrets = await trust.requireConnections([connection]);
        const settings = Object.entries(config.connections[connection] ?? {});
        return { connection, ...placeOf(new Map(settings), secrets) };
      } catch {
        return undefined;
      }
    }),
  );
  return places.filter((place) => place !== undefined);
}

function placeOf(settings: ReadonlyMap<string, unknown>, secrets: ReadSecret) {
  const textOf = (...keys: readonly string[]): string | undefined =>
    keys.map((key) => settings.get(key)).find((value) => typeof value === 'string');
  const driver = textOf('driver') ?? '';
  const url = textOf('url');
  if (url === undefined)
    return {
      driver,
      host: textOf('host', 'server', 'account'),
      port: settings.has('port') ? String(settings.get('port')) : undefined,
      database: textOf('database', 'catalog', 'project'),
    };
  const address = new URL(/^(?:env|file|keychain):/.test(url) ? secrets(url) : url);
  const [, database = ''] = address.pathname.split('/');
  const { hostname: host, port } = address;
  return { driver, host, port: port || undefined, database: decodeURIComponent(database) };
}

import { inject } from 'vitest';
import { redshiftCatalog } from '../engines/redshift/catalog.ts';
import { type RedshiftFront, startRedshiftFront } from '../engines/redshift/server.ts';
import { createDatabase, runPostgres } from './postgres.ts';

let started: Promise<RedshiftFront> | undefined;

/** The server of this process; it ends with the process. */
export function redshiftFront(): Promise<RedshiftFront> {
  const { hostname: host, port } = new URL(inject('postgresUrl'));
  started ??= startRedshiftFront({ host, port: Number(port) });
  return started;
}

/** Makes a database of its own, runs the script in it, and returns its URL for the superuser. */
export async function createRedshift(script: string): Promise<string> {
  const direct = await createDatabase('redshift');
  await runPostgres(direct, `${redshiftCatalog}; ${script}`);
  const url = new URL(direct);
  url.port = String((await redshiftFront()).port);
  return url.href;
}

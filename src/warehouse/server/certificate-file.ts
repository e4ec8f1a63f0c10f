import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readConfinedFileSync } from '../../store/confined-file.ts';
import type { OpenContext } from '../driver.ts';
import { warehouseError } from '../warehouse-error.ts';

/** In bytes. */
const largestCertificates = 10_000_000;

/**
 * The file that the setting `ca` of a connection names; undefined if it names none. Throws
 * `warehouse_not_found` for a file that cannot be read.
 */
export function readCertificateFile(
  ca: string | undefined,
  { connection, projectDir }: OpenContext,
): Buffer | undefined {
  if (ca === undefined) return undefined;
  try {
    const path = resolve(projectDir, ca);
    const within = dirname(realpathSync(path));
    const found = readConfinedFileSync(path, { within, maxBytes: largestCertificates });
    if (found.kind !== 'read') throw new Error(found.kind);
    return found.bytes;
  } catch {
    throw warehouseError(
      'warehouse_not_found',
      `The certificate file ${ca} of connection "${connection}" cannot be read.`,
      { hint: 'Check ca of the connection in ktx.yaml; relative paths start at its folder.' },
    );
  }
}

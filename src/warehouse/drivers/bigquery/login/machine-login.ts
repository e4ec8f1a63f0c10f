import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { readConfinedFileSync } from '../../../../store/confined-file.ts';
import { credentialsError, type GoogleCredentials, parseCredentials } from './credentials.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The login of this machine, in the order of Google's own libraries: the file that
 * GOOGLE_APPLICATION_CREDENTIALS names, the file of gcloud, or the metadata server of a machine in
 * Google's cloud.
 */
export function machineLogin(variables: Variables = process.env): GoogleCredentials {
  const named = variables['GOOGLE_APPLICATION_CREDENTIALS'];
  if (named !== undefined && named !== '') {
    const text = readText(named);
    if (text === undefined)
      throw credentialsError(
        `The file that GOOGLE_APPLICATION_CREDENTIALS names cannot be read: ${named}.`,
        'Correct the variable, or set credentials of the connection.',
      );
    return parseCredentials(text, `the file of GOOGLE_APPLICATION_CREDENTIALS`);
  }
  const path = join(gcloudFolder(variables), 'application_default_credentials.json');
  const text = readText(path);
  return text === undefined
    ? { source: { type: 'metadata_server' } }
    : parseCredentials(text, `the login of gcloud (${path})`);
}

/** Host and port of the metadata server. */
export function metadataHost(variables: Variables = process.env): string {
  return variables['GCE_METADATA_HOST'] || 'metadata.google.internal';
}

function gcloudFolder(variables: Variables): string {
  const { CLOUDSDK_CONFIG: configured, APPDATA: appData } = variables;
  if (configured !== undefined && configured !== '') return configured;
  return process.platform === 'win32' && appData !== undefined
    ? join(appData, 'gcloud')
    : join(variables['HOME'] ?? homedir(), '.config', 'gcloud');
}

/** In bytes. */
const largestFile = 1_000_000;

function readText(path: string): string | undefined {
  try {
    const within = dirname(realpathSync(path));
    const found = readConfinedFileSync(realpathSync(path), { within, maxBytes: largestFile });
    return found.kind === 'read' ? Buffer.from(found.bytes).toString('utf8') : undefined;
  } catch {
    return undefined;
  }
}

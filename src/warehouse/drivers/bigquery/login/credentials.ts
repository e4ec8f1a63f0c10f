import { z } from 'zod';
import { parseJson } from '../../../../lib/json.ts';
import { warehouseError } from '../../../warehouse-error.ts';

const serviceAccountSchema = z.looseObject({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.string().optional(),
});

const authorizedUserSchema = z.looseObject({
  type: z.literal('authorized_user'),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  refresh_token: z.string().min(1),
  token_uri: z.string().optional(),
});

const ownCredentialsSchema = z.discriminatedUnion('type', [
  serviceAccountSchema,
  authorizedUserSchema,
]);

/** What `gcloud auth application-default login --impersonate-service-account` writes. */
const impersonatedSchema = z.looseObject({
  type: z.literal('impersonated_service_account'),
  service_account_impersonation_url: z.string(),
  source_credentials: ownCredentialsSchema,
});

const credentialsSchema = z.discriminatedUnion('type', [
  ...ownCredentialsSchema.options,
  impersonatedSchema,
]);

export type ServiceAccount = z.infer<typeof serviceAccountSchema>;
export type AuthorizedUser = z.infer<typeof authorizedUserSchema>;
type OwnCredentials = ServiceAccount | AuthorizedUser;

/** Whose login it is, and in whose name it asks. */
export interface GoogleCredentials {
  readonly source: OwnCredentials | { readonly type: 'metadata_server' };
  /** Where a token in the name of another service account is created; undefined: in its own. */
  readonly impersonationUrl?: string | undefined;
}

/**
 * Reads the JSON text of a key or of a login by gcloud. `place` says where the text is from; an
 * error names it and never the text.
 */
export function parseCredentials(text: string, place: string): GoogleCredentials {
  const json = parseJson(text);
  const { type } = z.looseObject({ type: z.string().optional() }).safeParse(json).data ?? {};
  if (type === 'external_account' || type === 'external_account_authorized_user')
    throw credentialsError(
      `${place} is a workload identity (${type}), which ktx cannot use yet.`,
      'Use the key of a service account, a login by gcloud, or the metadata server.',
    );
  const parsed = credentialsSchema.safeParse(json);
  if (!parsed.success) {
    const isJson = json !== undefined;
    const keys = [...new Set(parsed.error.issues.map(({ path }) => path.join('.')))].join(', ');
    throw credentialsError(
      isJson
        ? `${place} is no Google credential: check ${keys || 'type'}.`
        : `${place} is not JSON.`,
      'Refer to the JSON key of a service account, or to the file that `gcloud auth application-default login` writes.',
    );
  }
  const { data } = parsed;
  if (data.type !== 'impersonated_service_account') return { source: data };
  const { source_credentials: source, service_account_impersonation_url: url } = data;
  return { source, impersonationUrl: url };
}

/**
 * Throws if the credentials of a connection ask for their tokens elsewhere than at Google or beside
 * the endpoint: a key in a cloned project may name any server, which nobody approved.
 */
export function requireKnownHosts(
  { source, impersonationUrl: tokenOfOther }: GoogleCredentials,
  endpoint: string,
): void {
  const asked = [source.type === 'metadata_server' ? undefined : source.token_uri, tokenOfOther];
  const { host, hostname } = new URL(endpoint);
  const around = hostname.replace(/^[^.]*/, '');
  const isKnown = (address: string): boolean => {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined || url.host === host || url.hostname.endsWith('.googleapis.com'))
      return true;
    // Of `bigquery.apis.example`: `oauth2.apis.example`.
    return /^\.[a-z][\w-]*\./i.test(around) && url.hostname.replace(/^[^.]*/, '') === around;
  };
  const other = asked.find((address) => address !== undefined && !isKnown(address));
  if (other === undefined) return;
  throw credentialsError(
    `The credentials of the connection ask ${new URL(other).host} for their tokens, which is not Google and not the endpoint.`,
    'Use the key file as Google wrote it. For another server, set GOOGLE_APPLICATION_CREDENTIALS and leave credentials out.',
  );
}

/** The address that creates tokens in the name of a service account. */
export function impersonationUrl(serviceAccount: string): string {
  const name = encodeURIComponent(serviceAccount);
  return `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${name}:generateAccessToken`;
}

export function credentialsError(message: string, hint: string) {
  return warehouseError('warehouse_auth', message, { hint });
}

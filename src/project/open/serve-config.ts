import { z } from 'zod';
import { secretSchema } from '../../store/secrets.ts';
import { gitHostConfigSchema } from '../propose/host/git-host-config.ts';

/** A URL that a token may be sent to: only this machine needs no TLS. */
const safeUrlSchema = z
  .url({ protocol: /^https?$/ })
  .refine(isSafeUrl, 'https:// is needed, except on this machine');

function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}

const brokerConfigSchema = z
  .strictObject({
    client_id: z.string().min(1).describe('As which client the provider knows this server.'),
    client_secret: secretSchema.optional().describe('Of that client. Without it: a public one.'),
    login_scopes: z
      .array(z.string().regex(/^\S+$/))
      .default(['openid', 'email', 'profile'])
      .describe('What is asked of the provider; some give groups only with a scope for them.'),
    clients: z
      .array(z.string().regex(/^[a-z0-9.-]+$/))
      .default(['claude.ai', 'chatgpt.com', 'vscode.dev', 'cursor.com'])
      .describe('Hosts of the clients that may ask people to log in, and of their redirects.'),
    legacy_registration: z
      .boolean()
      .default(false)
      .describe('Lets clients register themselves (RFC 7591), which the protocol gives up.'),
    session_hours: z
      .number()
      .int()
      .min(1)
      .max(24 * 90)
      .default(12)
      .describe('After that a person logs in again, and their groups are read anew.'),
  })
  .describe('With mode `broker`: how people log in at the provider, and with which clients.');
export type BrokerConfig = z.infer<typeof brokerConfigSchema>;

const authConfigSchema = z
  .strictObject({
    mode: z
      .enum(['oidc', 'broker'])
      .default('oidc')
      .describe(
        'Who gives the tokens: the provider (`oidc`), or ktx after a login there (`broker`), for clients that need an authorization server.',
      ),
    broker: brokerConfigSchema.optional(),
    issuer: safeUrlSchema.describe('The OpenID provider, exactly as its tokens name it in `iss`.'),
    resource: safeUrlSchema.describe(
      'The URL of this server as clients know it, with /mcp. Clients ask for tokens for it.',
    ),
    audience: z
      .string()
      .min(1)
      .optional()
      .describe('What `aud` of a token has to name. Default: the resource.'),
    scopes: z
      .strictObject({
        read: z.string().regex(/^\S+$/).default('ktx.read'),
        query: z.string().regex(/^\S+$/).default('ktx.query'),
        write: z.string().regex(/^\S+$/).default('ktx.write'),
      })
      .prefault({})
      .describe('What the provider calls the scopes to search and read, to query, and to write.'),
    claims: z
      .strictObject({
        user: z.string().min(1).default('email').describe('The claim with the name of a person.'),
        groups: z.string().min(1).default('groups').describe('The claim with their groups.'),
      })
      .prefault({})
      .describe('Where a token says who somebody is.'),
  })
  .refine(({ mode, broker }) => (mode === 'broker') === (broker !== undefined), {
    path: ['broker'],
    message: 'mode: broker needs this section, and no other mode has it',
  })
  .describe('Lets people in with tokens of an OpenID provider.');
export type AuthConfig = z.infer<typeof authConfigSchema>;

/** The `serve` section of `ktx.yaml`. */
export const serveConfigSchema = z
  .strictObject({
    auth: authConfigSchema.optional(),
    state: secretSchema
      .optional()
      .describe(
        'Reference to the URL of a Postgres database that belongs to this project. Several servers share tokens, logins, limits and the audit there. Without it they are in a folder of the person who runs the server.',
      ),
    state_key: secretSchema
      .optional()
      .describe(
        'Reference to a key that encrypts the secrets which servers keep there, such as env:KTX_STATE_KEY or keychain:ktx/state. Without it they are plain, in a file that only its owner reads or in the database.',
      ),
    roles: z
      .array(z.strictObject({ group: z.string().min(1), role: z.string().min(1) }))
      .default([])
      .describe('The role of people by their group; the first that fits counts.'),
    default_role: z
      .string()
      .min(1)
      .optional()
      .describe('The role of people in none of these groups. Without it they may not come in.'),
    changes: z
      .enum(['commit', 'pull_request'])
      .default('commit')
      .describe(
        'What becomes of notes, decisions and ingests that come through the server. `commit`: they change the project’s folder. `pull_request`: each is proposed on a branch of its own, and the folder stays as it is.',
      ),
    git: gitHostConfigSchema.optional(),
    audit: z
      .strictObject({
        arguments: z
          .enum(['hash', 'redacted'])
          .default('hash')
          .describe(
            'What the audit keeps of the arguments of a call. `hash`: a keyed hash, to compare calls. `redacted`: names and SQL, with a mark in place of each value.',
          ),
      })
      .prefault({})
      .describe('The record of every call, in .ktx/audit.'),
  })
  .refine(({ changes, git }) => changes !== 'pull_request' || git !== undefined, {
    path: ['git'],
    message: 'changes: pull_request needs this section',
  })
  .describe('The MCP server over HTTP: `ktx mcp serve --http`.');
export type ServeConfig = z.infer<typeof serveConfigSchema>;

import { z } from 'zod';
import { isLoopback } from '../../http/private-address.ts';
import { secretSchema } from '../../store/secrets.ts';

/** Words that stand for something else than a role of that name, in one engine or another. */
const reserved = /^(?:none|default|all|public)$/i;

const roleNameSchema = z
  .string()
  .min(1)
  .max(128)
  .refine((name) => !reserved.test(name), 'it means something else to the warehouse')
  // Quotes and control characters have no business in it, whatever the engine makes of them.
  .refine((name) => !/[\p{Cc}"'`\\]/u.test(name), 'a role has no quotes, backslashes or controls');

const sharedSchema = z.strictObject({ mode: z.literal('shared') });

const roleSchema = z.strictObject({
  mode: z.literal('role'),
  roles: z
    .record(z.string().min(1), roleNameSchema)
    .describe(
      'The role of the warehouse for each role of ktx. The login has to be a member of it. A caller of another role, or of none, is refused.',
    ),
});

const about =
  'As whom a caller’s statements run. `shared` (default): as the login. `role`: as a role of the warehouse.';

/** For engines where one login can take several roles. */
export const roleIdentitySchema = z
  .discriminatedUnion('mode', [sharedSchema, roleSchema])
  .optional()
  .describe(about);

/** For engines with row security that reads a setting. */
export const settingIdentitySchema = z
  .discriminatedUnion('mode', [
    sharedSchema,
    roleSchema,
    z.strictObject({
      mode: z.literal('session'),
      setting: z
        .string()
        // The dot keeps it apart from the settings of the server, such as `role`.
        .regex(/^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)+$/, 'a name with a dot, such as ktx.user')
        .default('ktx.user')
        .describe('The setting in which row security finds the name of the person.'),
    }),
  ])
  .optional()
  .describe(`${about} \`session\`: as the login, and row security knows the person.`);

/** For engines where one login can speak for others. */
export const userIdentitySchema = z
  .discriminatedUnion('mode', [
    sharedSchema,
    roleSchema,
    z.strictObject({ mode: z.literal('session') }),
  ])
  .optional()
  .describe(`${about} \`session\`: as the person, for whom the login has to be allowed to speak.`);

const scopeSchema = z
  .string()
  .min(1)
  .optional()
  .describe('Scopes to ask for, with spaces between them.');

/** Only this machine needs no TLS. */
const baseUrlSchema = z.url({ protocol: /^https?$/ }).refine((text) => {
  const { protocol, hostname, username, search, hash } = new URL(text);
  const isPlain = username === '' && search === '' && hash === '';
  return isPlain && (protocol === 'https:' || isLoopback(hostname));
}, 'an https address without a login');

/** For engines that take access tokens of the company's provider, or of their own. */
export const exchangeIdentitySchema = z
  .discriminatedUnion('mode', [
    sharedSchema,
    roleSchema,
    z.strictObject({
      mode: z.literal('exchange'),
      client_id: z
        .string()
        .min(1)
        .describe('The client of ktx at the provider of serve.auth, which may exchange tokens.'),
      client_secret: secretSchema.describe('Reference to the secret of that client.'),
      audience: z.string().min(1).optional().describe('What the warehouse expects in `aud`.'),
      scope: scopeSchema,
    }),
    z.strictObject({
      mode: z.literal('login'),
      url: baseUrlSchema.describe('Where people sign in: the address of the warehouse.'),
      client_id: z.string().min(1).describe('The client of ktx at the warehouse.'),
      client_secret: secretSchema.optional().describe('Reference to the secret of that client.'),
      scope: scopeSchema,
    }),
  ])
  .optional()
  .describe(
    `${about} \`exchange\`: as the person, with a token that the provider of serve.auth gives for the warehouse in exchange for theirs. \`login\`: as the person, who signs in at the warehouse once.`,
  );

/** As whom the statements of a caller run; undefined is `shared`. */
export type IdentityConfig =
  | { readonly mode: 'shared' }
  | { readonly mode: 'role'; readonly roles: Readonly<Record<string, string>> }
  | { readonly mode: 'session'; readonly setting?: string }
  | ExchangeConfig
  | LoginConfig;

export interface LoginConfig extends Pick<ExchangeConfig, 'client_id' | 'scope'> {
  readonly mode: 'login';
  readonly url: string;
  readonly client_secret?: string | undefined;
}

interface ExchangeConfig {
  readonly mode: 'exchange';
  readonly client_id: string;
  readonly client_secret: string;
  readonly audience?: string | undefined;
  readonly scope?: string | undefined;
}

/** Undefined for a connection without `identity`, which not every driver has. */
export function identityConfigOf(config: object): IdentityConfig | undefined {
  const { identity }: { identity?: IdentityConfig } = config;
  return identity;
}

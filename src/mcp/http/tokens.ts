import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { parseJson } from '../../lib/json.ts';
import { configHome } from '../../project/trust/config-home.ts';
import { requireOwnFolder } from '../../project/trust/own-folder.ts';
import { readConfinedFileSync } from '../../store/confined-file.ts';
import { undefinedIfMissing, writeAtomically } from '../../store/files.ts';
import { keptForever, type SharedRecords } from '../../store/shared/shared-records.ts';
import { type HostEnvironment, isInside, realPath } from '../../store/secrets.ts';

/** What calls need: to search and read, to run queries, to write notes and start ingests. */
export const callScopes = ['read', 'query', 'write'] as const;
export type CallScope = (typeof callScopes)[number];

/** What a token may be for: calls, and what the server counts. */
const tokenScopes = [...callScopes, 'metrics'] as const;

const tokenFileSchema = z.strictObject({
  project: z.string(),
  name: z.string(),
  role: z.string().optional(),
  scopes: z.array(z.enum(tokenScopes)),
  /** SHA-256 of the token's text, which is nowhere. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  created: z.iso.datetime(),
  expires: z.iso.datetime().optional(),
  revoked: z.iso.datetime().optional(),
});

type TokenFile = z.infer<typeof tokenFileSchema>;

/** A token without its secret. */
export interface AccessToken extends Omit<TokenFile, 'hash' | 'project'> {
  readonly id: string;
  readonly state: 'valid' | 'expired' | 'revoked';
}

export type TokenStore = ReturnType<typeof openTokens>;

/** Where tokens are kept: by their id, without their secret. */
export interface TokenPlace {
  ids(): Promise<readonly string[]>;
  /** Undefined for one that is missing or damaged: nobody gets in with it. */
  read(id: string): Promise<unknown>;
  write(id: string, token: object): Promise<void>;
}

/** In bytes. */
const largestToken = 10_000;
const tokenText = /^ktx_([0-9a-f]{12})_[0-9a-f]{64}$/;

/** The folder for tokens of the project whose folder really is `dir`. Throws if it is inside. */
export function tokenFolder(dir: string, env: HostEnvironment): string {
  const project = realpathSync.native(dir);
  const folder = join(configHome(env), 'tokens', sha256(project).slice(0, 32));
  if (isInside(realPath(folder), project)) throw tokensInProject(folder);
  return folder;
}

/** Tokens as files of the person who runs the server. */
export function openTokenFolder(folder: string): TokenPlace {
  return {
    ids: async () => listIds(folder),
    read: async (id) => readTokenFile(folder, id),
    async write(id, token): Promise<void> {
      requireOwnFolder(folder);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const text = `${JSON.stringify(token, null, 2)}\n`;
      await writeAtomically(join(folder, `${id}.json`), text, { mode: 0o600 });
    },
  };
}

const kind = 'Token';

/** Tokens that several servers share. A revoked one is kept too. */
export function openSharedTokens(records: SharedRecords): TokenPlace {
  return {
    ids: async () => (await records.list(kind)).map(({ id }) => id),
    read: async (id) => (await records.find({ kind, id }))?.body,
    write: (id, body) => records.put({ kind, id, body, expires: keptForever }),
  };
}

/**
 * The tokens of a project. A revoked token stays, so that a server does not open up again when the
 * last one is revoked. Every call reads them anew, because another process may have changed them.
 */
export function openTokens(place: TokenPlace, project: string) {
  const read = async (id: string) => tokenFileSchema.safeParse(await place.read(id)).data;
  const list = async (): Promise<readonly AccessToken[]> => {
    const tokens: AccessToken[] = [];
    for (const id of await place.ids()) {
      const file = await read(id);
      if (file !== undefined) tokens.push(describeToken(id, file));
    }
    return tokens;
  };
  return {
    list,
    /** True if the project ever had a token. */
    hasAny: async (): Promise<boolean> => (await place.ids()).length > 0,
    /** The token of that text, in whatever state; undefined if there is none. */
    async find(text: string): Promise<AccessToken | undefined> {
      const id = tokenText.exec(text)?.[1] ?? '';
      const file = id === '' ? undefined : await read(id);
      const isSame = equalHashes(sha256(text), file?.hash ?? sha256(''));
      return isSame && file !== undefined ? describeToken(id, file) : undefined;
    },
    /** Makes a token. Only its hash is kept: `text` cannot be shown again. */
    async create(given: Pick<TokenFile, 'name' | 'role' | 'scopes' | 'expires'>) {
      const { name } = given;
      if ((await list()).some((token) => token.name === name && token.state === 'valid'))
        throw tokenExists(name);
      const id = randomBytes(6).toString('hex');
      const text = `ktx_${id}_${randomBytes(32).toString('hex')}`;
      const created = new Date().toISOString();
      const file = { project, ...given, hash: sha256(text), created };
      await place.write(id, file);
      return { token: describeToken(id, file), text };
    },
    /** Revokes the tokens of that name that are not revoked yet, or the one with that id. */
    async revoke(nameOrId: string): Promise<readonly AccessToken[]> {
      const found = (await list()).filter(
        ({ id, name, state }) => state !== 'revoked' && [id, name].includes(nameOrId),
      );
      if (found.length === 0) throw tokenUnknown(nameOrId);
      const revoked = new Date().toISOString();
      for (const { id } of found) {
        const file = await read(id);
        if (file !== undefined) await place.write(id, { ...file, revoked });
      }
      return (await list()).filter(({ id }) => found.some((token) => token.id === id));
    },
  };
}

function listIds(folder: string): readonly string[] {
  requireOwnFolder(folder);
  try {
    return readdirSync(folder)
      .filter((name) => /^[0-9a-f]{12}\.json$/.test(name))
      .map((name) => name.slice(0, -'.json'.length));
  } catch (error) {
    return undefinedIfMissing(error as NodeJS.ErrnoException) ?? [];
  }
}

function readTokenFile(folder: string, id: string): unknown {
  requireOwnFolder(folder);
  const limits = { within: folder, maxBytes: largestToken };
  const found = readConfinedFileSync(join(folder, `${id}.json`), limits);
  if (found.kind !== 'read') return undefined;
  return parseJson(found.bytes.toString('utf8'));
}

function describeToken(id: string, file: TokenFile): AccessToken {
  const { name, role, scopes, created, expires, revoked } = file;
  const isExpired = expires !== undefined && Date.parse(expires) <= Date.now();
  const state = revoked !== undefined ? 'revoked' : isExpired ? 'expired' : 'valid';
  return { id, name, role, scopes, created, expires, revoked, state };
}

/** In a time that does not depend on how much of them is equal. */
function equalHashes(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function tokenExists(name: string): UserError {
  return new UserError('token_exists', `There is a valid token of the name ${name}.`, {
    hint: `Choose another name, or revoke it first: ktx mcp token revoke ${name}`,
    exitCode: 2,
  });
}

function tokenUnknown(nameOrId: string): UserError {
  return new UserError('token_unknown', `There is no token ${nameOrId} to revoke.`, {
    hint: 'ktx mcp token list shows names and ids',
    exitCode: 2,
  });
}

function tokensInProject(folder: string): UserError {
  const message = `The tokens would be in ${folder}, inside of the project, where they are shared.`;
  return new UserError('tokens_in_project', message, {
    hint: 'Set XDG_CONFIG_HOME to a folder outside of the project.',
    exitCode: 4,
  });
}

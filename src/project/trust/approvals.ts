import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { parseJson } from '../../lib/json.ts';
import { readConfinedFileSync } from '../../store/confined-file.ts';
import { configHome } from './config-home.ts';
import { requireOwnFolder } from './own-folder.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { undefinedIfMissing, writeAtomically } from '../../store/files.ts';
import { isInside, realPath } from '../../store/secrets.ts';
import type { Grant } from './grant.ts';

const approvalSchema = z.object({
  project: z.string(),
  place: z.string(),
  effects: z.array(
    z.object({
      kind: z.enum(['host', 'program', 'path', 'secret', 'money', 'setting']),
      text: z.string(),
    }),
  ),
  approved: z.string(),
});

/** What a person approved, as it was then. */
export type Approval = Pick<Grant, 'id' | 'place' | 'effects'>;

/**
 * What a person approved of one project, on this machine: a folder outside of the project with one
 * file for each grant, named by its id. So two processes that approve at the same time lose
 * nothing, and a reader never sees half a list.
 */
export interface Approvals {
  readonly folder: string;
  ids(): ReadonlySet<string>;
  list(): readonly Approval[];
  add(grants: readonly Grant[]): Promise<void>;
  remove(ids: readonly string[]): void;
}

/** The approvals of the project whose folder really is `dir`. A project that was moved has none. */
export function openApprovals(dir: string, env: HostEnvironment): Approvals {
  const project = realpathSync.native(dir);
  const home = configHome(env);
  const folder = join(home, 'trust', sha256(project).slice(0, 32));
  if (isInside(realPath(folder), project)) throw approvalsInProject(folder);
  const names = (): readonly string[] => {
    requireOwnFolder(folder);
    try {
      return readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
    } catch (error) {
      return undefinedIfMissing(error as NodeJS.ErrnoException) ?? [];
    }
  };
  const idOf = (name: string): string => name.slice(0, -'.json'.length);
  return {
    folder,
    ids: () => new Set(names().map(idOf)),
    list: () =>
      names().flatMap((name) => {
        const { data } = approvalSchema.safeParse(readApproval(folder, name));
        return data === undefined ? [] : [{ id: idOf(name), ...data }];
      }),
    async add(grants) {
      requireOwnFolder(folder);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const { id, place, effects } of grants) {
        const approved = new Date().toISOString();
        const file = join(folder, `${id}.json`);
        await writeAtomically(
          file,
          `${JSON.stringify({ project, place, effects, approved }, null, 2)}\n`,
          { mode: 0o600 },
        );
      }
    },
    remove(ids) {
      for (const id of ids) rmSync(join(folder, `${id}.json`), { force: true });
    },
  };
}

/** In bytes. */
const largestApproval = 10_000_000;

/** Undefined if another process revoked it just now. */
function readApproval(folder: string, name: string): unknown {
  const limits = { within: folder, maxBytes: largestApproval };
  const read = readConfinedFileSync(join(folder, name), limits);
  return read.kind === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
}

function approvalsInProject(folder: string): UserError {
  return new UserError(
    'trust_folder_in_project',
    `The approvals would be in ${folder}, inside of the project, whose author could write them.`,
    {
      hint: 'Set XDG_CONFIG_HOME to a folder outside of the project, or set KTX_TRUST.',
      exitCode: 4,
    },
  );
}

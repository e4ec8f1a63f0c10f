import { UserError } from '../../lib/error.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { ReadSecret, SecretSources } from '../../store/secrets.ts';
import { openApprovals } from './approvals.ts';
import type { Grant } from './grant.ts';
import { openApprovedSecrets, openSources } from './trust.ts';
import { describeGrants } from './trust-required.ts';

/**
 * An entry of the configuration that a person has typed now: `ktx setup` and `ktx connection add`.
 */
interface TypedEntry {
  /** The project, which may not exist yet. */
  readonly dir: string;
  readonly env: HostEnvironment;
  /** What the entry does. */
  readonly grantOf: (sources: SecretSources) => Grant | undefined;
  /** What it does without the settings that were in `ktx.yaml` before. Default: the same. */
  readonly typedGrantOf?: (sources: SecretSources) => Grant | undefined;
}

export interface TypedApproval {
  readonly secrets: ReadSecret;
  /** Approves the entry on this machine. */
  remember(): Promise<void>;
}

/**
 * What a person has typed is approved by that, and nothing else: settings that a cloned `ktx.yaml`
 * adds to it, and an address that a cloned `.env` supplies for a secret of this machine, are not.
 */
export async function approveTyped(entry: TypedEntry): Promise<TypedApproval> {
  const { dir, env, grantOf, typedGrantOf = grantOf } = entry;
  const sources = await openSources(dir, env);
  const grant = grantOf(sources);
  const grants = grant === undefined ? [] : [grant];
  const isTyped =
    grant?.id === typedGrantOf(sources)?.id && grant?.sendsSecretToProjectAddress !== true;
  if (!isTyped && !isStored(entry, grants)) throw notTyped(grants);
  return {
    secrets: openApprovedSecrets(sources, grants),
    remember: async () => {
      if (grants.length > 0) await openApprovals(dir, env).add(grants);
    },
  };
}

function isStored({ dir, env }: TypedEntry, grants: readonly Grant[]): boolean {
  const approved = openApprovals(dir, env).ids();
  return grants.every(({ id }) => approved.has(id));
}

function notTyped(grants: readonly Grant[]): UserError {
  const lines = [
    'Files of this project add to what you typed, and nobody has approved that on this machine:',
    ...describeGrants(grants, 1),
  ];
  return new UserError('trust_required', lines.join('\n'), {
    hint: 'Give every setting as a flag, and set the variables that the flags name in your environment, not in .env.',
    exitCode: 4,
  });
}

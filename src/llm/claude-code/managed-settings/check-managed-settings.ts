import { UserError } from '../../../lib/error.ts';
import { managedEffects, type ManagedEffect } from './effects.ts';
import { readManagedSettings } from './read-managed-settings.ts';

export interface ManagedSettingsPolicy {
  /** The child's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** `llm.provider.allow_managed_settings`. */
  readonly isAllowed: boolean;
  readonly policyFolder?: string | undefined;
}

/** `reported`: the managed settings that a running child has. */
export type CheckManaged = (
  reported?: Readonly<Record<string, unknown>>,
) => Promise<readonly string[]>;

/**
 * Throws if managed settings would take part in a call and nobody allowed it, or if they keep
 * Claude Code from starting. Returns one line for each that takes part. A child reports what a
 * server has delivered to it, which stands in no file.
 */
export async function checkManagedSettings(
  { isAllowed, ...places }: ManagedSettingsPolicy,
  reported: Readonly<Record<string, unknown>> = {},
): Promise<readonly string[]> {
  const { blockers, effects: found } = await readManagedSettings(places);
  if (blockers.length > 0) throw blockedError(blockers);
  const foundKeys = new Set(found.map(({ key }) => key));
  const delivered = managedEffects('delivered by the organization of the account', reported);
  const effects = [...found, ...delivered.filter(({ key }) => !foundKeys.has(key))];
  if (effects.length > 0 && !isAllowed) throw refusedError(effects);
  return effects.map(describeEffect);
}

function blockedError(blockers: readonly ManagedEffect[]): UserError {
  const message = `Claude Code does not start on this machine: ${blockers.map(describeEffect).join('; ')}.`;
  return new UserError('llm_managed_settings', message, {
    hint: 'Ask whoever manages this machine, or choose a backend without Claude Code, such as anthropic: ktx setup --help',
    exitCode: 4,
  });
}

function refusedError(effects: readonly ManagedEffect[]): UserError {
  const message = `Managed settings of Claude Code on this machine would take part in every call: ${effects.map(describeEffect).join('; ')}. ktx sent nothing.`;
  return new UserError('llm_managed_settings', message, {
    hint: 'If you want that, set llm.provider.allow_managed_settings: true in ktx.yaml. Otherwise ask whoever manages this machine, or choose another backend with ktx setup.',
    exitCode: 4,
    details: { settings: effects },
  });
}

function describeEffect({ file, key, effect }: ManagedEffect): string {
  return key === '' ? `${file} ${effect}` : `${file}: ${key} ${effect}`;
}

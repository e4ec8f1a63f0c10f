import type { BackendName, LlmConfig } from './config.ts';

type Models = LlmConfig['models'];

/** Choices of models for all roles at once. */
export const presetNames = ['economical', 'balanced', 'thorough'] as const;
export type PresetName = (typeof presetNames)[number];

interface Family {
  readonly small: string;
  readonly medium: string;
  readonly large: string;
}

const aliases: Family = { small: 'haiku', medium: 'sonnet', large: 'opus' };

/** Backends without an entry have models that only their owner can name. */
const families: Readonly<Partial<Record<BackendName, Family>>> = {
  'claude-code': aliases,
  'claude-agent': aliases,
  anthropic: { small: 'claude-haiku-4-5', medium: 'claude-sonnet-4-6', large: 'claude-opus-4-7' },
  vertex: { small: 'claude-haiku-4-5', medium: 'claude-sonnet-4-6', large: 'claude-opus-4-7' },
  gateway: {
    small: 'anthropic/claude-haiku-4.5',
    medium: 'anthropic/claude-sonnet-4.6',
    large: 'anthropic/claude-opus-4.7',
  },
};

/** Models by role; undefined where the backend has no preset. */
export function preset(backend: BackendName, name: PresetName): Models | undefined {
  const family = families[backend];
  if (family === undefined) return undefined;
  const { small, medium, large } = family;
  const choices: Readonly<Record<PresetName, Models>> = {
    economical: { default: small, curator: medium, reconcile: medium },
    balanced: { default: medium, triage: small, repair: small },
    thorough: { default: medium, triage: small, curator: large, reconcile: large },
  };
  return choices[name];
}

/** The model where a person names none; undefined where the backend has no obvious one. */
export function defaultModel(backend: BackendName): string | undefined {
  return families[backend]?.medium;
}

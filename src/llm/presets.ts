import { backendProfiles, type BackendName, type ModelFamily } from './backends.ts';
import type { LlmConfig } from './config.ts';

type ModelsByRole = LlmConfig['models'];

/** Values of `--llm-preset`. A preset chooses a model for each role. */
export const presetNames = ['economical', 'balanced', 'thorough'] as const;
export type PresetName = (typeof presetNames)[number];

/**
 * The models that a preset chooses, by role. Roles without one use `default`. Undefined if the
 * backend has no presets.
 */
export function findPresetModels(backend: BackendName, name: PresetName): ModelsByRole | undefined {
  const family = modelFamily(backend);
  if (family === undefined) return undefined;
  const { small, medium, large } = family;
  const choices: Readonly<Record<PresetName, ModelsByRole>> = {
    economical: { default: small, curator: medium, reconcile: medium },
    balanced: { default: medium, triage: small, repair: small },
    thorough: { default: medium, triage: small, curator: large, reconcile: large },
  };
  return choices[name];
}

/** The model to use if a person names none; undefined if the backend has no obvious one. */
export function defaultModel(backend: BackendName): string | undefined {
  return modelFamily(backend)?.medium;
}

function modelFamily(backend: BackendName): ModelFamily | undefined {
  return backend === 'none' ? undefined : backendProfiles[backend].models;
}

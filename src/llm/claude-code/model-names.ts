import type { AuthMode } from '../backends.ts';

const claudeModel = /^(?:sonnet|opus|haiku|claude-[a-z0-9][a-z0-9.-]*)(?:\[1m\])?$/;

/** Clouds have model names of their own. */
const cloudModels: Readonly<Partial<Record<AuthMode, RegExp>>> = {
  bedrock: /^(?:[a-z]+\.)?anthropic\.claude-\S+$|^arn:aws\S+$/,
  vertex: /^claude-[a-z0-9.-]+@\d+$/,
  foundry: /^\S+$/,
};

/** True for an alias or a full model id; with `auth` also for the names of the cloud that pays. */
export function isClaudeModelName(name: string, auth: AuthMode | undefined): boolean {
  if (claudeModel.test(name)) return true;
  return auth !== undefined && cloudModels[auth]?.test(name) === true;
}

export const claudeModelForms =
  'write sonnet, opus or haiku, or a full id such as claude-sonnet-4-6 or claude-sonnet-4-6[1m]';

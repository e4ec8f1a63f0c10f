import { UserError } from '../lib/error.ts';
import { backends, type BackendName } from './config.ts';

/** What each backend needs beside its name to be set up. */
const flags: Readonly<Record<Exclude<BackendName, 'none'>, string>> = {
  'claude-code': '',
  'claude-agent': ' --llm-auth api_key',
  anthropic: ' --llm-api-key env:ANTHROPIC_API_KEY',
  vertex: ' --llm-project <project> --llm-location global',
  gateway: ' --llm-api-key env:AI_GATEWAY_API_KEY',
  openai: ' --llm-api-key env:OPENAI_API_KEY --llm-model <model>',
  bedrock: ' --llm-region <region> --llm-model <model>',
};

/** Something takes a model, and none is configured: every backend, with what to type for it. */
export function noBackend(what: string): UserError {
  const names = backends
    .filter((name) => name !== 'none')
    .toSorted((a, b) => Number(b === 'claude-code') - Number(a === 'claude-code'));
  const lines = names.map((name) => `ktx setup --llm-backend ${name}${flags[name]}`);
  return new UserError('llm_missing', `${what}, and ktx.yaml names none (llm.provider.backend).`, {
    hint: `one of\n${lines.join('\n')}`,
    exitCode: 2,
  });
}

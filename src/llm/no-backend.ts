import { UserError } from '../lib/error.ts';
import { backendProfiles, backends, suggestedBackend } from './backends.ts';

/**
 * The error of a command that needs a model when none is configured. It lists every backend with
 * its setup command.
 */
export function noBackendError(what: string): UserError {
  const names = backends.filter((name) => name !== 'none');
  const suggestedFirst = [suggestedBackend, ...names.filter((name) => name !== suggestedBackend)];
  const commands = suggestedFirst.map(
    (name) => `ktx setup --llm-backend ${name}${backendProfiles[name].setupFlags}`,
  );
  return new UserError(
    'llm_missing',
    `${what}, and ktx.yaml configures none (llm.provider.backend).`,
    {
      hint: `configure one of these\n${commands.map((command) => `    ${command}`).join('\n')}`,
      exitCode: 2,
    },
  );
}

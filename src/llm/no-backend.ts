import { UserError } from '../lib/error.ts';
import { backendProfiles, backends, suggestedBackend } from './backends.ts';

/** The error of a command that needs a model when none is configured. It lists every backend with its setup command. */
export function noBackendError(what: string): UserError {
  const names = backends.filter((name) => name !== 'none');
  const suggestedFirst = [suggestedBackend, ...names.filter((name) => name !== suggestedBackend)];
  const commands = suggestedFirst.map(
    (name) => `ktx setup --llm-backend ${name}${backendProfiles[name].setupFlags}`,
  );
  return new UserError('llm_missing', `${what}, and ktx.yaml names none (llm.provider.backend).`, {
    hint: `one of\n${commands.join('\n')}`,
    exitCode: 2,
  });
}

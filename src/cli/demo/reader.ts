import { UserError } from '../../lib/error.ts';
import { usesLocalSession, type BackendName } from '../../llm/backends.ts';
import { presetModels } from '../../llm/presets.ts';
import { readConfig } from '../../project/open/config-file.ts';
import { probeLlm, writeLlm } from '../../project/setup/llm-setup.ts';
import type { CommandContext } from '../command.ts';
import { invocation, shortPath } from '../terminal/output.ts';

/** Writes the backend into the demo's `ktx.yaml` once it has answered; one that stands there is left as it is. */
export async function prepareReader(
  { dir, backend }: { dir: string; backend: BackendName },
  context: CommandContext,
): Promise<void> {
  if ((await readConfig(dir)).llm.provider.backend === backend) return;
  const models = presetModels(backend, 'balanced');
  const { surroundings, runId, signal, progress } = context;
  if (!usesLocalSession(backend) || models === undefined) {
    const ktx = invocation(surroundings, shortPath(surroundings.cwd, dir));
    const hint = `${ktx} setup --llm-backend ${backend} --help says what it needs; then this again`;
    throw new UserError('llm_not_configured', `The demo has no ${backend} in its ktx.yaml yet.`, {
      hint,
      exitCode: 2,
    });
  }
  progress.update(`asking ${backend}`);
  const llm = { backend, models, settings: {} };
  await writeLlm(
    dir,
    await probeLlm(
      { dir, runId, env: surroundings.env, llm, warn: (text) => context.say(text) },
      signal,
    ),
  );
}

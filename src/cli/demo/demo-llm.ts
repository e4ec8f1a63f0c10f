import { UserError } from '../../lib/error.ts';
import { usesLocalSession, type BackendName } from '../../llm/backends.ts';
import { findPresetModels } from '../../llm/presets.ts';
import { readConfig } from '../../project/open/config-file.ts';
import { probeLlm, writeLlm } from '../../project/setup/llm-setup.ts';
import type { CommandContext } from '../command.ts';
import { ktxInvocation, shortPath } from '../terminal/invocation.ts';

/** Tests the backend and writes it into the demo's `ktx.yaml`, unless it is there already. */
export async function configureDemoLlm(
  { dir, backend }: { dir: string; backend: BackendName },
  context: CommandContext,
): Promise<void> {
  if ((await readConfig(dir)).llm.provider.backend === backend) return;
  const models = findPresetModels(backend, 'balanced');
  const { host, runId, signal, progress } = context;
  if (!usesLocalSession(backend) || models === undefined) {
    const ktx = ktxInvocation(host, shortPath(host.cwd, dir));
    const hint = `${ktx} setup --llm-backend ${backend} --help shows the flags; then run the demo again`;
    throw new UserError(
      'llm_not_configured',
      `The demo's ktx.yaml does not configure ${backend}.`,
      {
        hint,
        exitCode: 2,
      },
    );
  }
  progress.update(`testing ${backend}`);
  const llm = { backend, models, settings: {} };
  const warn = (text: string) => context.printNote(text);
  const { env } = host;
  await writeLlm({ dir, env, llm: await probeLlm({ dir, runId, env, llm, warn }, signal) });
}

import { existsSync } from 'node:fs';
import type { EmbeddingsConfig } from '../../llm/ai-sdk/embedding-providers.ts';
import { projectPaths } from '../../store/directories.ts';
import { readText } from '../../store/files.ts';
import { withProjectLock } from '../../store/lock.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { projectConfigSchema, type ProjectConfig } from '../open/config.ts';
import { editConfig, readConfig } from '../open/config-file.ts';
import { embeddingsGrant } from '../trust/entry-grants.ts';
import { approveTyped } from '../trust/typed-approval.ts';

export interface NewEmbeddings {
  /** Where the project is, or will be. */
  readonly dir: string;
  readonly env: HostEnvironment;
  /** Secrets are references. */
  readonly embeddings: EmbeddingsConfig;
}

/**
 * Embeds one word, as it would be configured. Returns the length of the vectors. Throws if the
 * provider or the model cannot be used. Writes nothing.
 */
export async function probeNewEmbeddings(
  entry: NewEmbeddings & { readonly runId: string; readonly warn: (message: string) => void },
  signal: AbortSignal,
): Promise<number> {
  const { dir, env, embeddings: config, runId, warn } = entry;
  const project = existsSync(projectPaths(dir).config)
    ? await readConfig(dir)
    : projectConfigSchema.parse({});
  const { secrets: secret } = await approveTypedEmbeddings(entry, project);
  const { openEmbeddings } = await import('../../llm/embeddings/open.ts');
  const projectDir = existsSync(dir) ? dir : process.cwd();
  const quiet = { record: () => undefined, onPause: () => undefined, warn };
  // A limit of the runs is for their money, and this is one word.
  const llm = { ...project.llm, max_usd_per_run: undefined };
  const about = { config, llm, projectDir, env, run: runId, secret };
  const opened = await openEmbeddings({ ...about, ...quiet });
  try {
    return await opened.probe(signal);
  } finally {
    opened.close();
  }
}

/**
 * Writes what a person has chosen into `ktx.yaml`, in place of what was there, and approves it.
 * Returns the files that changed.
 */
export async function writeEmbeddings(entry: NewEmbeddings): Promise<readonly string[]> {
  const { dir, embeddings } = entry;
  const before = await readText(projectPaths(dir).config);
  await withProjectLock(dir, () =>
    editConfig(dir, (document) => {
      document.setIn(['ingest', 'embeddings'], document.createNode(embeddings));
    }),
  );
  await (await approveTypedEmbeddings(entry, await readConfig(dir))).remember();
  return before === (await readText(projectPaths(dir).config)) ? [] : ['ktx.yaml'];
}

function approveTypedEmbeddings({ dir, env, embeddings }: NewEmbeddings, { scan }: ProjectConfig) {
  const grantOf = embeddingsGrant.bind(undefined, embeddings, scan);
  return approveTyped({ dir, env, grantOf });
}

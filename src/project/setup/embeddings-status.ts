import { UserError } from '../../lib/error.ts';
import type { BackendName } from '../../llm/backends.ts';
import type { Project } from '../open/open.ts';

/** The state of the project's embeddings. */
export interface EmbeddingsStatus {
  /**
   * `unverified`: configured, but not tried, because a request costs money. `unapproved`: nobody
   * approved it on this machine.
   */
  readonly state: 'none' | 'ready' | 'unverified' | 'unapproved' | 'broken';
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Length of the vectors; undefined until the provider was asked. */
  readonly dimensions?: number | undefined;
  /** One line for a person whose project has a language model and no embeddings. */
  readonly warning?: string | undefined;
  readonly error?:
    | Pick<UserError, 'code' | 'message' | 'hint' | 'exitCode' | 'retryable'>
    | undefined;
}

/** Whether embeddings are ready. `fast` sends nothing. */
export async function readEmbeddingsStatus(
  { config, embeddings, trust }: Pick<Project, 'config' | 'embeddings' | 'trust'>,
  fast: boolean,
  signal: AbortSignal,
): Promise<EmbeddingsStatus> {
  const configured = config.ingest.embeddings;
  if (configured === undefined)
    return { state: 'none', warning: missingEmbeddings(config.llm.provider.backend) };
  const { provider, model, dimensions } = configured;
  const about = { provider, model, dimensions };
  if (!(await trust.isEmbeddingsApproved())) return { ...about, state: 'unapproved' };
  try {
    const opened = await embeddings();
    if (opened === undefined || fast) return { ...about, state: 'unverified' };
    return { ...about, state: 'ready', dimensions: await opened.probe(signal) };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    const { code, message, hint, exitCode, retryable } = error;
    return { ...about, state: 'broken', error: { code, message, hint, exitCode, retryable } };
  }
}

/** Undefined without a language model: whoever wants none is not told of another. */
function missingEmbeddings(backend: BackendName): string | undefined {
  if (backend === 'none') return undefined;
  return `no embeddings (ingest.embeddings), and ${backend} has none for ktx: search and names are lexical. docs/embeddings.md`;
}

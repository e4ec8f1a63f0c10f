import { UserError } from '../../lib/error.ts';
import { LlmError, type LlmErrorKind } from '../port/error.ts';

/** The hints of language models name `llm.provider` and `llm.models`. These are for embeddings. */
const hints: Readonly<Partial<Record<LlmErrorKind, string>>> = {
  auth: 'Check the credentials that ingest.embeddings in ktx.yaml names, then run: ktx status',
  permission:
    'This account may not use the model. Choose another one in ingest.embeddings, or ask the owner of the account.',
  model_unavailable:
    'In ingest.embeddings of ktx.yaml, choose an embedding model that this account has.',
  context_too_long: 'In ingest.embeddings of ktx.yaml, choose a model that takes longer texts.',
  network:
    'Check the network, the proxy and ingest.embeddings.base_url, then run the command again.',
  invalid_output: 'In ingest.embeddings of ktx.yaml, check that the model is one for embeddings.',
};

/** The failure of a request for vectors. It names the model, because a run may use others too. */
export function embeddingFailure(failure: UserError | undefined, model: string): UserError {
  if (!(failure instanceof LlmError))
    return failure ?? new LlmError('unknown', `${model} sent no vectors.`);
  const { kind, status, resetsAt, window, message, endsRun } = failure;
  if (kind === 'aborted') return failure;
  return new LlmError(kind, `Embeddings by ${model}: ${message}`, {
    hint: hints[kind] ?? failure.hint,
    status,
    resetsAt,
    window,
    endsRun,
    cause: failure,
  });
}

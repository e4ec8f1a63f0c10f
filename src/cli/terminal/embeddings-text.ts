import type { EmbeddingsStatus } from '../../project/setup/embeddings-status.ts';
import { escapeControls } from './text-width.ts';

/** The state of the embeddings, as lines for a person. */
export function describeEmbeddings({
  state,
  provider,
  model,
  dimensions,
  warning,
  error,
}: EmbeddingsStatus): readonly string[] {
  if (state === 'none') return warning === undefined ? [] : [`warning: ${warning}`];
  const stateText = {
    ready: 'reachable',
    unverified: 'configured, not verified',
    unapproved: 'not approved on this machine, so they are not used: ktx trust',
    broken: 'cannot be used',
  }[state];
  const length = dimensions === undefined ? '' : `, ${dimensions} dimensions`;
  return [
    `embeddings: ${provider} (${escapeControls(model ?? '')}${length}): ${stateText}`,
    ...(error === undefined ? [] : [`  ${escapeControls(error.message)}`]),
  ];
}

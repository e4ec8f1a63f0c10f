import { newId } from '../../lib/id.ts';
import { destinationHost } from '../egress/destination.ts';
import type { SentValues } from '../egress/sent-values.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../port/runtime.ts';
import type { CallContext } from './run-call.ts';

/**
 * Records values of one call before they are sent; with a tool, those of its answer. Throws if it
 * cannot.
 */
export type RecordValues = (values: readonly SentValues[] | undefined, tool?: string) => void;

interface RecordedCall {
  readonly stage: string | undefined;
  /** The model that gets the values now. */
  readonly model: () => string;
}

/** The recorder of one call, or of one session. */
export function openCallRecord(
  { egress, config, run, env }: CallContext,
  { stage = 'other', model }: RecordedCall,
): RecordValues {
  const call = newId('call');
  const { backend } = config.provider;
  return (values = [], tool = '') => {
    if (values.length === 0) return;
    const host = destinationHost(config.provider, env ?? {});
    egress?.({ run, call, stage, tool, backend, host, model: model(), values });
  };
}

/** The tools with the values of each answer recorded before the model gets it. */
export function recordAnswers(tools: KtxToolSet, record: RecordValues): KtxToolSet {
  const recorded = (tool: KtxRuntimeToolDescriptor): KtxRuntimeToolDescriptor => ({
    ...tool,
    async execute(input, call) {
      const output = await tool.execute(input, call);
      // Tools of other origin may return nothing.
      record(output?.values, tool.name);
      return output;
    },
  });
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, recorded(tool)]));
}

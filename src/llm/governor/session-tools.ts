import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../port/runtime.ts';
import type { ToolCall } from '../port/tool-call.ts';
import type { ActiveCall } from './active-call.ts';
import type { TurnRecorder } from './turn-recorder.ts';

/** The turn that is running now. */
export interface ActiveTurn {
  readonly recorder: TurnRecorder;
  readonly call: ActiveCall;
}

/**
 * The tools as the backend gets them, once for the whole session. Each call goes to the turn that
 * is running at that time, which records it, stops its clocks and can ask a person.
 */
export function bindTools(tools: KtxToolSet, activeTurn: () => ActiveTurn | undefined): KtxToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, bindTool(tool, activeTurn)]),
  );
}

function bindTool(
  tool: KtxRuntimeToolDescriptor,
  activeTurn: () => ActiveTurn | undefined,
): KtxRuntimeToolDescriptor {
  return {
    ...tool,
    execute(input, toolCall) {
      const turn = activeTurn();
      if (turn === undefined || toolCall === undefined) throw new Error('no turn is running');
      const { recorder, call } = turn;
      const { id } = toolCall;
      const ask: NonNullable<ToolCall['ask']> = (request, answer) => {
        recorder.emit({ type: 'permission_request', id, ...request });
        return call.askPerson(answer);
      };
      const { signal } = call;
      return call.runTool(() => recorder.runTool(tool, input, { id, signal, ask }));
    },
  };
}

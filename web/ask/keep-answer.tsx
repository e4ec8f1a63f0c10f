import { useState } from 'preact/hooks';
import type { AddedCase, AskEvent, Kept } from '../answers.ts';
import { type Envelope, send } from '../api.ts';
import { Said } from '../parts/basics.tsx';

interface KeepAnswerProps {
  readonly turn: NonNullable<AskEvent['data']>;
  /** Which answer of the conversation it is, from 1. */
  readonly number: number;
}

/** An answer can be remembered, and can become a case that agents are tested with. */
export function KeepAnswer({ turn, number }: KeepAnswerProps) {
  const [isRight, setRight] = useState(false);
  const { text, conversation } = turn;
  return (
    <div class="keep">
      <KeepButton
        title="Remember this"
        keep={() => send<Kept>('remember', { note: text })}
        describe={() => 'Kept: the next ingest reads it.'}
      />
      <KeepButton
        title="Make it an eval case"
        keep={() => send<AddedCase>('eval/add', { conversation, turn: number, right: isRight })}
        describe={({ id, file, confirmed_by: person }) =>
          `Case ${id} in ${file}, ${person === undefined ? 'a draft' : `confirmed by ${person}`}.`
        }
      >
        <label class="check">
          <input
            type="checkbox"
            checked={isRight}
            onChange={({ currentTarget }) => setRight(currentTarget.checked)}
          />
          I checked it: the answer is right
        </label>
      </KeepButton>
    </div>
  );
}

interface KeepButtonProps<Data> {
  readonly title: string;
  readonly keep: () => Promise<Envelope<Data>>;
  readonly describe: (data: Data) => string;
  readonly children?: preact.ComponentChildren;
}

/** Works once; what failed can be tried again. */
function KeepButton<Data>({ title, keep, describe, children }: KeepButtonProps<Data>) {
  const [state, setState] = useState<'open' | 'running' | 'done'>('open');
  const [said, say] = useState('');
  const press = async (): Promise<void> => {
    setState('running');
    const { data, error } = await keep();
    setState(data === undefined ? 'open' : 'done');
    say(data === undefined ? (error?.message ?? '') : describe(data));
  };
  return (
    <p class="actions">
      <button type="button" class="button" onClick={press} disabled={state !== 'open'}>
        {title}
      </button>
      {state === 'done' ? null : children}
      <span class="soft" role="status">
        <Said>{said}</Said>
      </span>
    </p>
  );
}

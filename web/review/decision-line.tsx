import { Key, Said } from '../parts/basics.tsx';
import { decisionName } from './questions.ts';
import { type Decisions, isUndoable, type SentDecision } from './use-decisions.ts';

/** What became of the last decision, and how to take it back. */
export function DecisionLine({ decisions }: { readonly decisions: Decisions | undefined }) {
  const last = decisions?.sent.at(-1);
  const made = decisions?.sent.filter(({ state }) => state === 'made').length ?? 0;
  return (
    <div class="decided" role="status" aria-live="polite" data-made={made}>
      {last === undefined ? null : (
        <p class={`decision decision-${last.state}`}>
          <DecisionText sent={last} />
          {last.state === 'made' && isUndoable(last.decision) ? (
            <button type="button" class="link" onClick={decisions?.undo}>
              Undo <Key>z</Key>
            </button>
          ) : null}
          {made > 1 ? <span class="soft">{made} decided</span> : null}
        </p>
      )}
    </div>
  );
}

function DecisionText({
  sent: { decision, state, commit, error },
}: {
  readonly sent: SentDecision;
}) {
  const name = <Said>{decisionName(decision)}</Said>;
  if (state === 'waiting')
    return (
      <span>
        {name}: {decision.says}, writing the commit …
      </span>
    );
  if (state === 'undoing') return <span>{name}: taking it back …</span>;
  if (state === 'undone') return <span>{name}: taken back, the question is open again</span>;
  if (error !== undefined)
    return (
      <span>
        {name}: <Said>{error.message}</Said> <Said>{error.hint ?? ''}</Said>
      </span>
    );
  return (
    <span>
      {name}: {decision.says}
      {commit === undefined ? null : (
        <>
          {' '}
          in commit <code>{commit.slice(0, 7)}</code>
        </>
      )}
    </span>
  );
}

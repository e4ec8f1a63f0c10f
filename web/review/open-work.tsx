import type { Waiting } from '../answers.ts';
import { Said, Section, Subject } from '../parts/basics.tsx';

/** What waits, but not for a decision here: with what to do about it. */
export function OpenWork({ waiting }: { readonly waiting: Waiting }) {
  const { left_out: leftOut, stale, pending, deferred } = waiting;
  return (
    <>
      {deferred.length === 0 ? null : (
        <Section title="Put off">
          <ul class="lines">
            {deferred.map(({ subject, kind, until, why, by }) => (
              <li key={`${subject} ${kind}`}>
                <Subject of={subject} />{' '}
                <span class="soft">
                  {until === undefined ? '' : `until ${until} `}
                  <Said>{[by && `by ${by}`, why].filter(Boolean).join(', ')}</Said>
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {stale.length === 0 ? null : (
        <Section title="Stale" note="ktx ingest reads them again">
          <ul class="lines">
            {stale.map(({ subject, why }) => (
              <li key={subject}>
                <Subject of={subject} />{' '}
                <span class="soft">
                  <Said>{why}</Said>
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {leftOut.length === 0 ? null : (
        <Section title="Left out" note="correct them where they stand, then ktx ingest">
          <ul class="lines">
            {leftOut.map(({ subject, kind, reason }) => (
              <li key={`${subject} ${kind} ${reason}`}>
                <Said>{subject}</Said>{' '}
                <span class="soft">
                  <Said>{`${kind}: ${reason}`}</Said>
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {pending.length === 0 ? null : (
        <Section title="Pending" note="wait for a model to read them: ktx setup --llm-backend">
          <ul class="lines">
            {pending.map((path) => (
              <li key={path}>
                <Said>{path}</Said>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

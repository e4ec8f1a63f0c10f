import type { AskEvent } from '../answers.ts';
import { visible } from '../parts/text.ts';

type GroundedClaim = NonNullable<NonNullable<AskEvent['data']>['grounding']>[number];

interface GroundedProps {
  readonly text: string;
  readonly claims: readonly GroundedClaim[];
}

/** The answer; a number that no query gives is marked. */
export function Grounded({ text, claims }: GroundedProps) {
  const doubtful = claims
    .filter(({ kind, status }) => kind === 'number' && status === 'ungrounded')
    .toSorted((a, b) => a.span[0] - b.span[0]);
  let at = 0;
  const parts = doubtful.flatMap(({ span: [start, end], reason }, index) => {
    const before = text.slice(at, start);
    at = end;
    return [
      visible(before),
      <mark key={index} title={visible(reason ?? 'no query gives it')}>
        {visible(text.slice(start, end))}
        <span class="visually-hidden"> (no query gives it)</span>
      </mark>,
    ];
  });
  return (
    <bdi>
      {parts}
      {visible(text.slice(at))}
    </bdi>
  );
}

import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { GroundedClaim } from './ground-answer.ts';

/** The citations of queries that were never run. */
export function missingQueries(
  text: string,
  evidence: readonly QueryEvidence[],
): readonly GroundedClaim[] {
  const known = new Set(evidence.map(({ id }) => id));
  return [...text.matchAll(/\[(q\d+(?:\s*,\s*q\d+)*)\]/gi)].flatMap((match) =>
    citedIds(match[0])
      .filter((id) => !known.has(id))
      .map((id): GroundedClaim => ({
        kind: 'citation',
        text: `[${id}]`,
        span: [match.index, match.index + match[0].length],
        status: 'ungrounded',
        evidence: [],
        reason: `there is no query ${id}`,
      })),
  );
}

function citedIds(text: string): readonly string[] {
  return [...text.matchAll(/\[(q\d+(?:\s*,\s*q\d+)*)\]/gi)].flatMap(([, ids = '']) =>
    ids.toLowerCase().split(/\s*,\s*/),
  );
}

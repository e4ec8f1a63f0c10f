import { expect } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import type { QueryEvidence } from '../../../../src/llm/port/tool-call.ts';

interface TwinAnswer {
  readonly evidence: QueryEvidence;
  readonly text: string;
  readonly question?: string;
  /** The number of the text that the rows explain. */
  readonly right: string;
  /** What stands in its place in a twin that nothing explains. */
  readonly wrong: string;
}

/** The right number is explained, and the wrong one in its place is marked. */
export function expectTwin({ evidence, text, question = '', right, wrong }: TwinAnswer): void {
  const claimOf = (said: string, number: string) =>
    groundAnswer({ text: said, question, evidence: [evidence] }).find(
      (claim) => claim.text.trim() === number,
    );
  const bound = claimOf(text, right);
  expect(bound?.status, JSON.stringify(bound)).toMatch(/cell|derived/);
  const faulty = claimOf(text.replace(right, wrong), wrong);
  expect(faulty?.status, JSON.stringify(faulty)).toBe('ungrounded');
}

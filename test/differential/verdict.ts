import { missing } from '../support/llm-runtimes.ts';
import { isNamed, viewOfClaudeCode } from './named-differences.ts';
import { type Compared, compared, type Difference, differencesOf, type Played } from './outcome.ts';
import type { Player } from './player.ts';
import { leftOutOnOpenai, type OpenaiGap, type ResponseScript } from './response-script.ts';

export interface Verdict {
  readonly script: ResponseScript;
  readonly played: ReadonlyMap<Compared, Played>;
  /** Why it was not played over an OpenAI-compatible endpoint. */
  readonly leftOut: OpenaiGap | undefined;
  /** Differences that nothing allows. */
  readonly unnamed: readonly Difference[];
  readonly named: readonly Difference[];
}

/** Plays a script on every backend that has an equivalent, and compares. */
export async function judge(
  player: Player,
  script: ResponseScript,
  subjects: readonly Compared[] = compared,
): Promise<Verdict> {
  const leftOut = leftOutOnOpenai(script);
  const able = subjects.filter(
    (subject) => missing(subject) === undefined && !(subject === 'openai' && leftOut !== undefined),
  );
  const seen = viewOfClaudeCode(script);
  const isSeenAlike = seen === script || !able.includes('claude-code');
  const [outcomes, ofView] = await Promise.all([
    Promise.all(able.map((subject) => player.play(script, subject))),
    isSeenAlike ? undefined : player.play(seen, 'anthropic'),
  ]);
  const played = new Map(
    able.map((subject, index): [Compared, Played] => [subject, outcomes[index] as Played]),
  );
  const api = played.get('anthropic');
  const claudeCode = played.get('claude-code');
  if (api === undefined || claudeCode === undefined) {
    const unnamed = differencesOf(played);
    return { script, played, leftOut, unnamed, named: [] };
  }
  const pair = { api: ofView ?? api, claudeCode };
  const differences = [
    ...differencesOf(new Map([...played].filter(([subject]) => subject !== 'claude-code'))),
    ...differencesOf(
      new Map([
        ['anthropic', pair.api],
        ['claude-code', claudeCode],
      ]),
    ).filter(({ subject }) => subject === 'claude-code'),
  ];
  const isAllowed = (difference: Difference): boolean =>
    difference.subject === 'claude-code' && isNamed(difference, pair);
  return {
    script,
    played,
    leftOut,
    unnamed: differences.filter((difference) => !isAllowed(difference)),
    named: differences.filter(isAllowed),
  };
}

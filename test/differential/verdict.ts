import { missing } from '../support/llm-runtimes.ts';
import { isNamed } from './named-differences.ts';
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
  const outcomes = await Promise.all(able.map((subject) => player.play(script, subject)));
  const played = new Map(
    able.map((subject, index): [Compared, Played] => [subject, outcomes[index] as Played]),
  );
  const differences = differencesOf(played);
  return {
    script,
    played,
    leftOut,
    unnamed: differences.filter((difference) => !isNamed(script, difference)),
    named: differences.filter((difference) => isNamed(script, difference)),
  };
}
